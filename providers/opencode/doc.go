// Package opencode drives OpenCode.
package opencode
