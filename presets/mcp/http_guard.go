package mcp

import (
	"crypto/sha256"
	"crypto/subtle"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// httpGuard decides who may talk to the server at all, before anything of a request is read.
type httpGuard struct {
	options HTTPOptions
	token   [sha256.Size]byte // of the token, so that comparing takes the same time whatever the length
}

func newHTTPGuard(options HTTPOptions) httpGuard {
	return httpGuard{options: options, token: sha256.Sum256([]byte(options.Token))}
}

// admit reports whether the request may go on, and answers it if not.
func (g httpGuard) admit(w http.ResponseWriter, r *http.Request) bool {
	status, why := g.check(r)
	if status == 0 {
		return true
	}
	g.options.Logger.Debug("A request was refused.", slog.Int("status", status), slog.String("why", why))
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	http.Error(w, why, status)
	return false
}

// check returns the status with which to refuse the request and why, or 0.
func (g httpGuard) check(r *http.Request) (status int, why string) {
	switch {
	case !g.knownHost(r.Host):
		return http.StatusForbidden, "this server does not go by that name (Host header)"
	case !g.knownOrigin(r):
		return http.StatusForbidden, "web pages of other origins may not use this server (Origin header)"
	case !g.options.Anonymous && !g.knownToken(r):
		return http.StatusUnauthorized, "give the bearer token of this server"
	}
	return 0, ""
}

// knownHost keeps out web pages whose name was made to point to this machine.
func (g httpGuard) knownHost(hostport string) bool {
	host := hostOf(hostport)
	if slices.ContainsFunc(g.options.AllowedHosts, func(allowed string) bool { return strings.EqualFold(allowed, host) }) {
		return true
	}
	return !g.options.AllowRemote && isLoopbackHost(host)
}

// knownOrigin keeps out web pages. A GET counts as well: with the older transport it makes a session. A browser that leaves the Origin
// out of a GET says in another header where it comes from.
func (g httpGuard) knownOrigin(r *http.Request) bool {
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "none", "same-origin":
	default:
		if r.Header.Get("Origin") == "" {
			return false
		}
	}
	for _, origin := range r.Header.Values("Origin") {
		if slices.Contains(g.options.AllowedOrigins, origin) {
			continue
		}
		parsed, err := url.Parse(origin)
		if err != nil || parsed.Scheme != "http" || !strings.EqualFold(parsed.Host, r.Host) {
			return false
		}
	}
	return true
}

func (g httpGuard) knownToken(r *http.Request) bool {
	values := r.Header.Values(headerAuthorize)
	if len(values) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(sum[:], g.token[:]) == 1
}

// hostOf is the host of a host and an optional port.
func hostOf(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

// isLoopbackHost reports whether a host is this machine's loopback, by its address or its one reserved name.
func isLoopbackHost(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
