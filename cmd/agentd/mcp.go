package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"agentd/actors"
	"agentd/messages"
	"agentd/presets"
	"agentd/presets/mcp"
)

const mcpHelp = `Serve the tools of a session to other agents over the Model Context Protocol. On standard input and output the other agent's program starts this
command, and it ends when that closes its standard input. With --http it listens for any number of clients, and ends with Ctrl-C or a signal to end.

A session of the agent "mcp" is opened: the latest one, the one of --session, or a new one. While clients are served one turn runs in it,
and every call, approval and result is an item of that turn, durable before the client hears of it. "agentd sessions show" shows them.

Tools come from the presets ("agentd presets"). Those that need an approval are not shown, unless --yes-risk allows their risk. With
--exposure gated they are shown, and each call of one is put to the person at the client, if the client can ask; else it answers that an
approval is required, and does not run.

Over HTTP one line on standard error says the URL when clients can connect: /mcp for the streamable transport in both of its lifecycles, and /sse for
the older one. Clients send "Authorization: Bearer TOKEN", and the token is the one of --token-file, else of $` + envMCPToken + `, else one that agentd makes
once and keeps in its data directory; the line says where it is. Only this machine can connect, and no web page. An address that other machines can reach
needs --allow-host with the name by which they reach it; there is no encryption, so put a proxy in front. When it is told to end, calls that run
have two seconds more and are interrupted then, and the exit code is 0.

The data directory is this process's own while it runs.`

const mcpExamples = `  agentd mcp --workspace /home/me/code/web-app
  agentd mcp --new --exposure gated
  claude mcp add agentd -- agentd mcp --yes-risk filesystem-read
  agentd mcp --http 127.0.0.1:8765`

// mcpAgent is the agent that turns of connections belong to. It is there in this command only.
const mcpAgent messages.AgentID = "mcp"

const (
	mcpInput = "Serve the tools of this session to a client over MCP."
	// maxMCPLine is the longest message of a client: arguments may be as long as any tool takes, and are escaped once.
	maxMCPLine = 2*messages.MaxArgumentBytes + 64<<10
	// mcpDrain is how long calls may go on after the client has closed its end, or the process was told to end.
	mcpDrain = 2 * time.Second
)

type mcpFlags struct {
	talk     talkFlags
	exposure string
	http     mcpHTTPFlags
}

func newMCP(a *app) *cobra.Command {
	var flags mcpFlags
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve a session's tools to other agents, over stdio or HTTP", Long: mcpHelp, Example: mcpExamples,
		Args: cobra.NoArgs, ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serveMCP(cmd.Context(), flags) },
	}
	flags.talk.addSession(a, cmd)
	cmd.Flags().StringVar(&flags.exposure, "exposure", string(presets.Hidden), "`what` happens to tools that need an approval: hidden or gated")
	complete(cmd, "exposure", completeWords(string(presets.Hidden), string(presets.Gated)))
	flags.http.add(cmd)
	return cmd
}

// mcpFront is a way by which clients reach the tools of a turn.
type mcpFront interface {
	// serve shows the tools to clients and lets their calls in, until no client is left or the process is told to end. The context is the turn's.
	serve(ctx context.Context, h *host, turn mcp.Turn) error
	// close ends what serve has left open, when the turn has ended.
	close()
}

// serveMCP runs one turn that lasts as long as clients are served.
func (a *app) serveMCP(ctx context.Context, flags mcpFlags) error {
	exposure := presets.Exposure(flags.exposure)
	if exposure != presets.Hidden && exposure != presets.Gated {
		return misuse("--exposure %q: use %q or %q", flags.exposure, presets.Hidden, presets.Gated)
	}
	opts, err := flags.talk.options(a)
	if err != nil {
		return err
	}
	httpOpts, tokenAt, err := flags.http.options(a)
	if err != nil {
		return err
	}
	// Nobody else can decide while this process owns the data directory, so nothing waits for that.
	opts.exposure, opts.requestWait = exposure, -1
	h, err := a.host(ctx, opts)
	if err != nil {
		return err
	}
	var front mcpFront = stdioFront{}
	if flags.http.wanted() {
		if front, err = h.listen(ctx, httpOpts, tokenAt); err != nil {
			return errors.Join(err, h.stop())
		}
	}
	turn, err := h.connection(ctx, flags, front)
	front.close()
	if err = errors.Join(err, h.stop()); err != nil {
		return err
	}
	if code := exitCodeOfTurn(turn.Status); code != exitOK {
		a.complain("agentd: the connection %s: %s", turn.Status, turn.Error)
		return &toldError{code: code}
	}
	return nil
}

// connection opens the session and serves until the front has nobody to serve any more.
func (h *host) connection(ctx context.Context, flags mcpFlags, front mcpFront) (messages.Turn, error) {
	err := h.runtime.Agents().Register(mcpAgent, func() (actors.Agent, error) {
		return actors.AgentFunc(func(ctx context.Context, tc *actors.TurnContext) error { return h.serveTools(ctx, tc, front) }), nil
	})
	if err != nil {
		return messages.Turn{}, err
	}
	if flags.talk.session == "" {
		flags.talk.agent = string(mcpAgent)
	}
	head, _, err := flags.talk.open(ctx, h, h.app)
	if err != nil {
		return messages.Turn{}, err
	}
	if head.AgentID != mcpAgent {
		return messages.Turn{}, misuse("session %q belongs to agent %q: name one of agent %q, or begin one with --new", head.ID, head.AgentID, mcpAgent)
	}
	handle, err := h.runtime.RunTurn(ctx, head.ID, mcpInput, actors.RunOptions{OnBusy: messages.OnBusyReject})
	if err != nil {
		return messages.Turn{}, err
	}
	if !flags.http.wanted() { // There a signal is the way to end; here the client's end is.
		ended := context.AfterFunc(ctx, func() {
			stopping, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelWait)
			defer stop()
			_ = handle.Cancel(stopping) // How the turn ended is told below.
		})
		defer ended()
	}
	return handle.Wait(context.WithoutCancel(ctx))
}

// serveTools is the turn: it shows the session's tools to the front's clients, and makes their calls calls of the turn.
func (h *host) serveTools(ctx context.Context, tc *actors.TurnContext, front mcpFront) error {
	var calls atomic.Int64
	err := front.serve(ctx, h, mcp.Turn{Caller: tc.Tools.Caller(), Call: func(ctx context.Context, call presets.Call) (presets.Result, error) {
		calls.Add(1)
		return tc.Tools.Call(ctx, actors.ToolCall{
			ID: call.CallID, Name: call.Name, Arguments: call.Arguments, Reason: call.Reason, NoWait: call.NoWait, Recorder: call.Recorder, Provider: "mcp",
		})
	}})
	if err != nil {
		return err
	}
	return tc.Turn.Finish(count(int(calls.Load()), "call"))
}

func (h *host) toolServerOptions() mcp.ToolServerOptions {
	return mcp.ToolServerOptions{
		Version: version, Instructions: mcpInstructions, NoWait: true, Elicit: h.runtime.Approvals(), Logger: h.app.logger(),
	}
}

// stdioFront serves one client on the process's own input and output, until that goes.
type stdioFront struct{}

var _ mcpFront = stdioFront{}

// serve implements [mcpFront].
func (stdioFront) serve(ctx context.Context, h *host, turn mcp.Turn) error {
	opts := h.toolServerOptions()
	server, err := mcp.NewToolServer(h.runtime.Tools(), presets.Caller{SessionID: turn.Caller.SessionID, AgentID: turn.Caller.AgentID}, &opts)
	if err != nil {
		return err
	}
	if err := server.Start(ctx); err != nil {
		return err
	}
	defer server.Stop()
	defer h.runtime.SyncTools(toolSync{server: server, session: turn.Caller.SessionID})()
	binding, err := server.Bind(turn)
	if err != nil {
		return err
	}
	if _, isTerminal := terminal(h.app.stdin); isTerminal {
		h.app.complain("agentd: waiting for a client of MCP on standard input. The program of the other agent starts this command, see \"agentd mcp --help\"; with --http it listens instead.")
	}
	defer context.AfterFunc(ctx, binding.Release)() // A cancel does not wait for calls.
	err = server.RunStdio(ctx, h.app.stdin, h.app.stdout, &mcp.StdioOptions{MaxLineBytes: maxMCPLine, DrainTimeout: mcpDrain, Logger: opts.Logger})
	// What still runs has nobody who would hear of it; it is interrupted, and that is recorded.
	binding.Release()
	awaitCalls(binding)
	return err
}

// awaitCalls gives calls that are interrupted the time to record that.
func awaitCalls(binding *mcp.Binding) {
	select {
	case <-binding.Done():
	case <-time.After(mcpDrain):
	}
}

// close implements [mcpFront].
func (stdioFront) close() {}

const mcpInstructions = "Tools of agentd. Each call is recorded in a durable session. A result whose status is approval_required means that a person has to allow the call first; it did not run."

// toolSync is a tool server as the runtime's toolsync actor knows one.
type toolSync struct {
	server  *mcp.ToolServer
	session messages.SessionID
}

// Sync implements [actors.ToolSyncer].
func (s toolSync) Sync(ctx context.Context, change presets.Change) error {
	if !change.Touches(s.session) {
		return nil
	}
	if err := s.server.Sync(ctx); err != nil && !errors.Is(err, mcp.ErrNotStarted) {
		return fmt.Errorf("tools of session %q: %w", s.session, err)
	}
	return nil
}
