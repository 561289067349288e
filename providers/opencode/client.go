package opencode

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"
)

// Defaults of [ClientOptions].
const (
	// DefaultCallTimeout bounds every call but prompts and the event stream.
	DefaultCallTimeout = 30 * time.Second
	// DefaultMaxReplyBytes bounds an answer; a long session's messages are the largest.
	DefaultMaxReplyBytes = 64 << 20
	// DefaultUsername is what the server expects unless it was told otherwise.
	DefaultUsername = "opencode"
)

// exitGrace is how long a broken connection may wait for the news that the process has died, which is the better error.
const exitGrace = time.Second

// ClientOptions tune a [Client]. The zero value talks to a server without a password.
type ClientOptions struct {
	// Username goes with Password; empty means [DefaultUsername].
	Username string
	// Password is the server's OPENCODE_SERVER_PASSWORD; empty sends none.
	Password string
	// CallTimeout bounds every call but prompts and the event stream; zero means [DefaultCallTimeout].
	CallTimeout time.Duration
	// MaxReplyBytes bounds an answer and an event; zero means [DefaultMaxReplyBytes].
	MaxReplyBytes int64
	// Logger gets debug lines about reconnects; nil logs nothing.
	Logger *slog.Logger
}

func (o *ClientOptions) withDefaults() ClientOptions {
	var out ClientOptions
	if o != nil {
		out = *o
	}
	out.Username = cmp.Or(out.Username, DefaultUsername)
	out.CallTimeout = cmp.Or(out.CallTimeout, DefaultCallTimeout)
	out.MaxReplyBytes = cmp.Or(out.MaxReplyBytes, DefaultMaxReplyBytes)
	if out.Logger == nil {
		out.Logger = slog.New(slog.DiscardHandler)
	}
	return out
}

func (o ClientOptions) validate() error {
	switch {
	case o.CallTimeout < 0:
		return fmt.Errorf("%w: CallTimeout is %s: give zero or more", ErrInvalid, o.CallTimeout)
	case o.MaxReplyBytes < 0:
		return fmt.Errorf("%w: MaxReplyBytes is %d: give zero or more", ErrInvalid, o.MaxReplyBytes)
	}
	return nil
}

// Client talks to one OpenCode server about one directory. It may be used by several goroutines.
type Client struct {
	link *link
	dir  string
}

// link is the connection that the clients of all directories share.
type link struct {
	// Set at construction.
	base string
	opts ClientOptions
	http *http.Client
	dead <-chan struct{} // closed when the server's process has ended; nil if nobody watches it
	why  func() error    // the reason, once dead

	mu      sync.Mutex
	version version             // zero until it was asked
	dirs    map[string]struct{} // that were worked in, for the stop
}

// NewClient returns a client for the server at base, such as "http://127.0.0.1:4096". It does not connect yet. The caller
// closes it. Clients of a server that this program has started come from [Server.Client].
func NewClient(base string, opts *ClientOptions) (*Client, error) {
	o := opts.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("%w: base is %q: give http://HOST:PORT", ErrInvalid, base)
	}
	transport := &http.Transport{
		// No proxy: the server is on this machine, and the password is for it alone.
		MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, DisableCompression: true,
	}
	return &Client{link: &link{
		base: strings.TrimSuffix(base, "/"), opts: o, dirs: make(map[string]struct{}),
		http: &http.Client{
			Transport: transport,
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse
			},
		},
	}}, nil
}

// In returns a client for another directory: the project that sessions are created in, that MCP servers and pending requests
// are listed of, and that events come from. Empty means the server's own. It shares the connection, and Close closes both.
func (c *Client) In(dir string) *Client { return &Client{link: c.link, dir: dir} }

// Close closes idle connections. Streams and calls that are under way are ended by their contexts.
func (c *Client) Close() { c.link.http.CloseIdleConnections() }

// call is one request and what is expected of its answer.
type call struct {
	op     string // in words, for errors
	method string
	path   string
	query  url.Values
	body   any   // encoded as JSON; nil sends none
	absent error // the sentinel for 404
	long   bool  // no timeout but the context's
}

// do performs a call and returns the JSON of the answer; it may be empty. Errors are the sentinels, wrapped.
func (c *Client) do(ctx context.Context, k call) (string, error) {
	if !k.long {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.link.opts.CallTimeout,
			fmt.Errorf("%w: no answer within %s", ErrUnreachable, c.link.opts.CallTimeout))
		defer cancel()
	}
	response, err := c.send(ctx, k)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, c.link.opts.MaxReplyBytes+1))
	if err != nil {
		return "", c.broken(ctx, k.op, err)
	}
	if int64(len(body)) > c.link.opts.MaxReplyBytes {
		return "", fmt.Errorf("%s: %w: over %d bytes", k.op, ErrTooLarge, c.link.opts.MaxReplyBytes)
	}
	return check(k, response, body)
}

// send sends the request and returns the answer's head.
func (c *Client) send(ctx context.Context, k call) (*http.Response, error) {
	var body io.Reader = http.NoBody
	if k.body != nil {
		encoded, err := json.Marshal(k.body)
		if err != nil {
			return nil, fmt.Errorf("%s: encoding the request: %w", k.op, err)
		}
		body = bytes.NewReader(encoded)
	}
	target := c.link.base + k.path
	query := k.query
	if c.dir != "" {
		if query == nil {
			query = url.Values{}
		}
		query.Set("directory", c.dir)
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, k.method, target, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", k.op, ErrInvalid, err)
	}
	if k.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.link.opts.Password != "" {
		request.SetBasicAuth(c.link.opts.Username, c.link.opts.Password)
	}
	response, err := c.link.http.Do(request)
	if err != nil {
		return nil, c.broken(ctx, k.op, err)
	}
	return response, nil
}

// broken finds the best error for a connection that failed: the caller's own end, the death of the server, or what the
// connection says.
func (c *Client) broken(ctx context.Context, op string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	if c.link.dead != nil {
		timer := time.NewTimer(exitGrace)
		defer timer.Stop()
		select {
		case <-c.link.dead:
			return fmt.Errorf("%s: %w", op, c.link.why())
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	// The address is in every error of the HTTP client already; the password never is.
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("%s: %w: %w", op, ErrUnreachable, err)
}

// check sorts an answer by status, type and content.
func check(k call, response *http.Response, body []byte) (string, error) {
	status := response.StatusCode
	if status < 200 || status > 299 {
		return "", apiError(k, status, body)
	}
	text := strings.TrimSpace(string(body))
	if text == "" {
		return "", nil
	}
	// An unknown route answers with the web page and status 200.
	if kind := response.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/json") {
		return "", fmt.Errorf("%s: %w: content type %.60q: this version of OpenCode may lack the call", k.op, ErrUnexpectedReply, kind)
	}
	if !gjson.Valid(text) {
		return "", fmt.Errorf("%s: %w: not JSON: %.80q", k.op, ErrUnexpectedReply, text)
	}
	return text, nil
}

// maxMessageBytes bounds what an error quotes.
const maxMessageBytes = 1000

// apiError reads the three forms of error bodies that the versions have.
func apiError(k call, status int, body []byte) error {
	e := &APIError{Op: k.op, Status: status}
	if gjson.ValidBytes(body) {
		doc := gjson.ParseBytes(body)
		e.Name = cmp.Or(doc.Get("name").String(), doc.Get("_tag").String())
		e.Message = cmp.Or(doc.Get("data.message").String(), doc.Get("message").String(), doc.Get("error.0.message").String())
		e.Ref = doc.Get("data.ref").String()
	} else {
		e.Message = strings.ToValidUTF8(strings.TrimSpace(string(body[:min(len(body), maxMessageBytes)])), "\uFFFD")
	}
	e.Message = clip(e.Message)
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		e.kind = ErrUnauthorized
	case status == http.StatusNotFound && k.absent != nil:
		e.kind = k.absent
	case status >= 500:
		e.kind = ErrServer
	case status >= 400:
		e.kind = ErrBadRequest
	default:
		e.kind = ErrUnexpectedReply
	}
	return e
}

func clip(text string) string {
	if len(text) <= maxMessageBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxMessageBytes], "") + "..."
}

// object performs a call that answers an object.
func (c *Client) object(ctx context.Context, k call) (gjson.Result, error) {
	return c.shaped(ctx, k, gjson.Result.IsObject, "an object")
}

// list performs a call that answers an array.
func (c *Client) list(ctx context.Context, k call) ([]gjson.Result, error) {
	doc, err := c.shaped(ctx, k, gjson.Result.IsArray, "an array")
	if err != nil {
		return nil, err
	}
	return doc.Array(), nil
}

func (c *Client) shaped(ctx context.Context, k call, ok func(gjson.Result) bool, want string) (gjson.Result, error) {
	text, err := c.do(ctx, k)
	if err != nil {
		return gjson.Result{}, err
	}
	doc := gjson.Parse(text)
	if !ok(doc) {
		return gjson.Result{}, fmt.Errorf("%s: %w: want %s, got %.80q", k.op, ErrUnexpectedReply, want, text)
	}
	return doc, nil
}
