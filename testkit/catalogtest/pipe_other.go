//go:build !unix

package catalogtest

import "errors"

func makePipe(string) error { return errors.ErrUnsupported }
