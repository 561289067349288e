package mcp

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"
)

// Defaults of [HTTPOptions].
const (
	// DefaultHTTPAddr is a free port on this machine's loopback.
	DefaultHTTPAddr = "127.0.0.1:0"
	// DefaultMaxBodyBytes is the longest body of a request. Arguments of a call are at most 1 MiB.
	DefaultMaxBodyBytes = 4 << 20
	// DefaultSessionTimeout is how long a client's session lives without an open request.
	DefaultSessionTimeout = 30 * time.Minute
	// DefaultMaxSessions is how many sessions of clients one endpoint has.
	DefaultMaxSessions = 64
	// DefaultStopTimeout is how long stopping may take.
	DefaultStopTimeout = 5 * time.Second
	// MinTokenBytes is the length of the shortest token.
	MinTokenBytes = 16

	headerTimeout   = 10 * time.Second
	bodyTimeout     = 30 * time.Second
	writeTimeout    = 30 * time.Second
	idleTimeout     = 2 * time.Minute
	maxHeaderBytes  = 64 << 10
	pathStreamable  = "/mcp/"
	pathSSE         = "/sse/"
	rootName        = "" // of the endpoint on these paths themselves
	schemeHTTP      = "http://"
	headerSession   = "Mcp-Session-Id"
	headerVersion   = "Mcp-Protocol-Version"
	headerAuthorize = "Authorization"
)

// HTTPOptions tune an [HTTPServer]. The zero value is good.
type HTTPOptions struct {
	// Addr is where to listen, as host and port. Port 0 is a free one. Empty means [DefaultHTTPAddr].
	Addr string
	// AllowRemote allows an address that other machines can reach. Then AllowedHosts must name those by which they know us. There is no
	// encryption: put a proxy in front.
	AllowRemote bool
	// AllowedHosts are names in the Host header that are served, beside the loopback names if the address is one.
	AllowedHosts []string
	// AllowedOrigins are the web pages that may send requests, as scheme, host and port. Pages of this server itself may. Empty means no others.
	AllowedOrigins []string
	// Token is what clients prove themselves with, at least 16 bytes. Empty means a random one; see [HTTPServer.Token].
	Token string
	// Anonymous serves clients without a token, for tests with tools that cannot send one. It cannot be combined with AllowRemote.
	Anonymous bool
	// MaxBodyBytes bounds the body of a request. Zero means [DefaultMaxBodyBytes].
	MaxBodyBytes int64
	// SessionTimeout is how long a client's session lives after its last request has ended. A standing stream is a request. Zero means
	// [DefaultSessionTimeout].
	SessionTimeout time.Duration
	// MaxSessions is how many sessions of clients one endpoint has at one time. Zero means [DefaultMaxSessions].
	MaxSessions int
	// StopTimeout bounds [HTTPServer.Stop] and [HTTPServer.Close], whatever their context says. Zero means [DefaultStopTimeout].
	StopTimeout time.Duration
	// Tools are the options of the endpoints' tool servers.
	Tools ToolServerOptions
	// Logger is told of requests that are refused, and of faults. Nil discards.
	Logger *slog.Logger
}

func (o *HTTPOptions) withDefaults() HTTPOptions {
	var out HTTPOptions
	if o != nil {
		out = *o
	}
	if out.Addr == "" {
		out.Addr = DefaultHTTPAddr
	}
	if out.Token == "" {
		out.Token = rand.Text()
	}
	if out.MaxBodyBytes == 0 {
		out.MaxBodyBytes = DefaultMaxBodyBytes
	}
	if out.SessionTimeout == 0 {
		out.SessionTimeout = DefaultSessionTimeout
	}
	if out.MaxSessions == 0 {
		out.MaxSessions = DefaultMaxSessions
	}
	if out.StopTimeout == 0 {
		out.StopTimeout = DefaultStopTimeout
	}
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	if out.Tools.Logger == nil {
		out.Tools.Logger = out.Logger
	}
	out.AllowedHosts = slices.Clone(out.AllowedHosts)
	out.AllowedOrigins = slices.Clone(out.AllowedOrigins)
	return out
}

// GoodToken reports whether clients can prove themselves with a token: it is [MinTokenBytes] or more visible ASCII characters.
func GoodToken(token string) bool {
	return len(token) >= MinTokenBytes && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}

// Validate returns what [NewHTTPServer] would find wrong with the options, for a host that takes them from a person. Nil is good.
func (o *HTTPOptions) Validate() error { return o.withDefaults().validate() }

func (o HTTPOptions) validate() error {
	host, _, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return fmt.Errorf("%w: Addr is %q: give host and port, such as %q", ErrInvalid, o.Addr, DefaultHTTPAddr)
	}
	if !o.AllowRemote && !isLoopbackHost(host) {
		return fmt.Errorf("%w: host %q of Addr: listen on 127.0.0.1, or set AllowRemote", ErrNotLoopback, host)
	}
	switch {
	case o.AllowRemote && o.Anonymous:
		return fmt.Errorf("%w: Anonymous together with AllowRemote would let anybody call tools", ErrInvalid)
	case o.AllowRemote && len(o.AllowedHosts) == 0:
		return fmt.Errorf("%w: AllowedHosts is empty: name the hosts by which this server is reached", ErrInvalid)
	case !GoodToken(o.Token):
		return fmt.Errorf("%w: Token must be %d or more visible ASCII characters", ErrInvalid, MinTokenBytes)
	case o.MaxBodyBytes < 0:
		return fmt.Errorf("%w: MaxBodyBytes is %d: give more than zero", ErrInvalid, o.MaxBodyBytes)
	case o.SessionTimeout < 0:
		return fmt.Errorf("%w: SessionTimeout is %s: give more than zero", ErrInvalid, o.SessionTimeout)
	case o.MaxSessions < 0:
		return fmt.Errorf("%w: MaxSessions is %d: give more than zero", ErrInvalid, o.MaxSessions)
	case o.StopTimeout < 0:
		return fmt.Errorf("%w: StopTimeout is %s: give more than zero", ErrInvalid, o.StopTimeout)
	}
	return o.Tools.validate()
}
