package bounded

import "net/url"

// FilePath returns the path that a file URI names, or nothing when it names none on this machine. A path of Windows has its
// drive in front.
func FilePath(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return ""
	}
	// A drive of Windows stands behind a slash.
	if p := u.Path; len(p) > 2 && p[2] == ':' {
		return p[1:]
	}
	return u.Path
}
