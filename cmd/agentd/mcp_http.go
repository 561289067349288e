package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"agentd/messages"
	"agentd/presets"
	"agentd/presets/mcp"
)

// envMCPToken names the variable that holds what clients over HTTP prove themselves with.
const envMCPToken = "AGENTD_MCP_TOKEN"

// mcpHTTPFlags say how tools are served over HTTP.
type mcpHTTPFlags struct {
	// addr is where to listen. Empty means that they are served over stdio.
	addr      string
	anonymous bool
	tokenFile string
	hosts     []string
}

func (f *mcpHTTPFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "http", "", "serve over HTTP on this `address`, such as 127.0.0.1:8765, in place of stdio; port 0 is a free one")
	flags.BoolVar(&f.anonymous, "anonymous", false, "with --http: ask for no token; the URL is secret then, and another one at each start")
	flags.StringVar(&f.tokenFile, "token-file", "", "with --http: the `file` with the token that clients send (default $"+envMCPToken+", else one that agentd makes)")
	flags.StringArrayVar(&f.hosts, "allow-host", nil, "with --http: a `name` by which clients reach this machine; may be given more than once")
	cmd.MarkFlagsMutuallyExclusive("anonymous", "token-file")
	complete(cmd, "http", completeWords(mcp.DefaultHTTPAddr))
	complete(cmd, "allow-host", cobra.NoFileCompletions)
}

// wanted reports whether tools are to be served over HTTP.
func (f *mcpHTTPFlags) wanted() bool { return f.addr != "" }

// options checks the flags and returns what they ask of the server. Without a token in them it is the one of the data directory; see keptToken.
func (f *mcpHTTPFlags) options(a *app) (opts mcp.HTTPOptions, tokenAt string, err error) {
	if !f.wanted() {
		if f.anonymous || f.tokenFile != "" || len(f.hosts) > 0 {
			return opts, "", misuse("--anonymous, --token-file and --allow-host are for HTTP: give --http ADDRESS too, such as --http %s", mcp.DefaultHTTPAddr)
		}
		return opts, "", nil
	}
	_, port, err := net.SplitHostPort(f.addr)
	if err != nil {
		return opts, "", misuse("--http %q: give an address with its port, such as 127.0.0.1:8765", f.addr)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return opts, "", misuse("--http %q: its port has to be a number from 0 to 65535, and 0 is a free one", f.addr)
	}
	opts = mcp.HTTPOptions{Addr: f.addr, Anonymous: f.anonymous, AllowedHosts: f.hosts, Logger: a.logger()}
	if !f.anonymous {
		if opts.Token, tokenAt, err = f.givenToken(a); err != nil {
			return opts, "", err
		}
	}
	err = opts.Validate()
	if !errors.Is(err, mcp.ErrNotLoopback) {
		if err != nil {
			err = misuse("--http %q: %w", f.addr, err)
		}
		return opts, tokenAt, err
	}
	switch {
	case f.anonymous:
		return opts, "", misuse("--http %q: other machines can reach that address, so --anonymous cannot be: leave it out, or listen on 127.0.0.1", f.addr)
	case len(f.hosts) == 0:
		return opts, "", misuse("--http %q: other machines can reach that address: listen on 127.0.0.1, or name with --allow-host how they reach it, and put a proxy with TLS in front", f.addr)
	}
	opts.AllowRemote = true
	return opts, tokenAt, nil
}

// givenToken returns the token that the person gave, and where it is. It is empty if none was given.
func (f *mcpHTTPFlags) givenToken(a *app) (token, at string, err error) {
	token, at = a.getenv(envMCPToken), "$"+envMCPToken
	if f.tokenFile != "" {
		at = f.tokenFile
		if token, err = readToken(at); err != nil {
			return "", "", misuse("--token-file: %w", err)
		}
	}
	if token == "" {
		return "", "", nil
	}
	if err := checkToken(token, at); err != nil {
		return "", "", &usageError{err: err}
	}
	return token, at, nil
}

// httpFront serves the tools over HTTP until the process is told to end.
type httpFront struct {
	app     *app
	server  *mcp.HTTPServer
	process context.Context //nolint:containedctx // It ends when the process is told to end, which the turn outlives for a moment.
	options mcp.HTTPOptions
	// tokenAt is where the token is, for people.
	tokenAt string
}

var _ mcpFront = (*httpFront)(nil)

// listen makes the front. It has the port, and answers nobody yet.
func (h *host) listen(ctx context.Context, opts mcp.HTTPOptions, tokenAt string) (*httpFront, error) {
	if opts.Token == "" && !opts.Anonymous {
		tokenAt = h.dir.MCPToken()
		token, err := keptToken(tokenAt)
		if err != nil {
			return nil, err
		}
		opts.Token = token
	}
	opts.Tools = h.toolServerOptions()
	server, err := mcp.NewHTTPServer(h.runtime.Tools(), &opts)
	if err != nil {
		return nil, err
	}
	if err := server.Start(ctx); err != nil {
		return nil, fmt.Errorf("%w; with --http %s there is a free port", err, mcp.DefaultHTTPAddr)
	}
	return &httpFront{app: h.app, server: server, process: ctx, options: opts, tokenAt: tokenAt}, nil
}

// serve implements [mcpFront].
func (f *httpFront) serve(ctx context.Context, h *host, turn mcp.Turn) error {
	open := f.server.OpenRoot
	if f.options.Anonymous {
		open = f.server.Open
	}
	endpoint, err := open(ctx, presets.Caller{SessionID: turn.Caller.SessionID, AgentID: turn.Caller.AgentID})
	if err != nil {
		return err
	}
	defer h.runtime.SyncTools(f.server)()
	binding, err := endpoint.Bind(turn)
	if err != nil {
		return err
	}
	f.tellReady(endpoint, turn.Caller.SessionID)
	select {
	case <-f.process.Done():
	case <-ctx.Done():
	}
	// Calls under way may end and be answered. What runs then is interrupted, and that is recorded.
	drain, cancel := context.WithTimeout(ctx, mcpDrain)
	defer cancel()
	binding.Drain(drain)
	awaitCalls(binding)
	return nil
}

// tellReady says where clients find the tools, and where what they prove themselves with. It is one line, and the token is not in it.
func (f *httpFront) tellReady(endpoint *mcp.Endpoint, session messages.SessionID) {
	url := endpoint.URL()
	if f.options.AllowRemote { // The address may be that of every network.
		url = fmt.Sprintf("http://%s/mcp", net.JoinHostPort(f.options.AllowedHosts[0], strconv.Itoa(f.server.Status().Port)))
	}
	proof := "clients send the bearer token in " + f.tokenAt
	if f.options.Anonymous {
		proof = "who knows this URL may call them"
	}
	f.app.complain("agentd: serving the tools of session %s at %s (%s)", session, url, proof)
}

// close implements [mcpFront]. What it has to cut off was recorded before.
func (f *httpFront) close() {
	if err := f.server.Stop(context.Background()); err != nil {
		f.app.complain("agentd: %s", err)
	}
}
