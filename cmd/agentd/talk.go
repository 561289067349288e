package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"agentd/actors"
	"agentd/actors/agents/local"
	"agentd/messages"
)

// talkFlags are the flags of the commands that run turns.
type talkFlags struct {
	session string
	fresh   bool
	agent   string
	allow   []string
	full    bool
	space   spaceFlags
}

// add defines the flags.
func (f *talkFlags) add(a *app, cmd *cobra.Command) {
	f.addSession(a, cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.agent, "agent", "", fmt.Sprintf("talk to this `agent` (default %s)", local.ID))
	flags.BoolVar(&f.full, "full", false, "do not cut long results in a terminal")
	f.space.add(flags)
	complete(cmd, "agent", a.completeAgents)
}

// addSession defines the flags that say which session it is, and what may happen in it.
func (f *talkFlags) addSession(a *app, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.session, "session", "", "go on with this `session`; its id may be shortened")
	flags.BoolVar(&f.fresh, "new", false, "begin a new session")
	flags.StringArrayVar(&f.allow, "yes-risk", nil, "approve every call of this `risk` without asking; may be given more than once: "+riskNames())
	cmd.MarkFlagsMutuallyExclusive("session", "new")
	complete(cmd, "session", a.completeSessions)
	complete(cmd, "yes-risk", completeWords(risks()...))
}

func risks() []string {
	var names []string
	for _, risk := range messages.Risks() {
		if risk != messages.RiskNormal {
			names = append(names, string(risk))
		}
	}
	return names
}

func riskNames() string { return strings.Join(risks(), ", ") }

// options checks the flags and returns what they ask of the runtime.
func (f *talkFlags) options(a *app) (hostOptions, error) {
	opts := hostOptions{space: f.space}
	if a.interactive() {
		opts.requestWait = personWait
	}
	if f.agent != "" {
		if err := messages.AgentID(f.agent).Validate(); err != nil {
			return opts, fmt.Errorf("--agent: %w", err)
		}
	}
	for _, name := range f.allow {
		risk := messages.Risk(name)
		if err := risk.Validate(); err != nil {
			return opts, misuse("--yes-risk: %w", err)
		}
		opts.allow = append(opts.allow, risk)
	}
	return opts, nil
}

// open finds or makes the session that the flags name, and reports whether it is fresh.
func (f *talkFlags) open(ctx context.Context, h *host, a *app) (head messages.Head, fresh bool, err error) {
	agent := messages.AgentID(f.agent)
	if agent == "" {
		agent = local.ID
	}
	if f.session != "" {
		head, err := f.named(ctx, h)
		return head, false, err
	}
	if _, err := h.runtime.Agents().Get(agent); err != nil {
		return head, false, err
	}
	if !f.fresh {
		head, bad, found, err := h.dir.Latest(ctx, h.store, agent)
		if err != nil || found {
			return head, false, err
		}
		for _, b := range bad {
			a.complain("agentd: session %q was passed over: %s", b.ID, b.Err)
		}
	}
	head, err = h.runtime.CreateSession(ctx, agent, actors.CreateOptions{})
	return head, true, err
}

// named returns the session of --session, which has to be the agent's of --agent.
func (f *talkFlags) named(ctx context.Context, h *host) (messages.Head, error) {
	id, err := h.dir.Resolve(h.store, f.session)
	if err != nil {
		return messages.Head{}, err
	}
	head, err := h.store.Head(ctx, id)
	switch {
	case err != nil:
		return head, fmt.Errorf("reading session %q: %w", id, err)
	case f.agent != "" && messages.AgentID(f.agent) != head.AgentID:
		return head, misuse("session %q belongs to agent %q: leave --agent out, or begin a session of agent %q with --new", id, head.AgentID, f.agent)
	}
	return head, nil
}
