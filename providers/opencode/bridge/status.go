package bridge

import (
	"cmp"
	"slices"

	"agentd/messages"
)

// Status is the state of a [Bridge] at one moment.
type Status struct {
	Started bool
	// Host, Port and URL are where the tools are served; empty unless it is started.
	Host string
	Port int
	URL  string
	// ConfigRoot is the folder of the configuration and ConfigPath the file, which is there once the bridge was started.
	ConfigRoot string
	ConfigPath string
	OpenCode   ProcessStatus
	// Links are sorted by session.
	Links []LinkStatus
}

// ProcessStatus is the state of the OpenCode process.
type ProcessStatus struct {
	Running bool
	// PID and Version are empty unless it runs.
	PID     int
	Version string
	// Err is why the last process has ended; nil if it runs, or if none was started.
	Err error
}

// LinkStatus is the state of a session's link.
type LinkStatus struct {
	SessionID messages.SessionID
	Dir       string
	// Connected says that the OpenCode which runs now has a session of MCP with the endpoint. The next [Bridge.Open] makes one if not.
	Connected bool
}

// Status returns the present state.
func (b *Bridge) Status() Status {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := Status{ConfigRoot: b.paths.configRoot(), ConfigPath: b.paths.configPath()}
	if b.state == stateRunning {
		tools := b.http.Status()
		out.Started, out.Host, out.Port, out.URL = tools.Started, tools.Host, tools.Port, tools.URL
	}
	if b.server != nil {
		if out.OpenCode.Err = b.server.Err(); out.OpenCode.Err == nil {
			out.OpenCode = ProcessStatus{Running: true, PID: b.server.PID(), Version: b.server.Version()}
		}
	}
	for session, e := range b.links {
		if link := e.link; link != nil {
			out.Links = append(out.Links, LinkStatus{
				SessionID: session, Dir: link.dir,
				Connected: out.OpenCode.Running && link.stands(b.server),
			})
		}
	}
	slices.SortFunc(out.Links, func(a, b LinkStatus) int { return cmp.Compare(a.SessionID, b.SessionID) })
	return out
}
