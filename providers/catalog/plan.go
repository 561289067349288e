package catalog

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
)

// PlanRequest asks how a session would be resumed.
type PlanRequest struct {
	// Agent, SessionID and Project are as in [ShowRequest].
	Agent, SessionID string
	Project          *string
	// Mode is the exact name of a mode. Nil is [DefaultMode].
	Mode *string
	// IncludeNonInteractive and IncludeArchived are as in [SearchRequest].
	IncludeNonInteractive, IncludeArchived bool
}

// Plan is what a person would start. It is data; it was not run and is no permission to run it.
type Plan struct {
	// Agent is the agent's canonical name.
	Agent Agent `json:"agent"`
	// SessionID is the session.
	SessionID string `json:"session_id"`
	// Program is the absolute path of the agent's program, or its name when it was not found.
	Program string `json:"program"`
	// Args are literal arguments; they are never to be joined into a shell command.
	Args []string `json:"args"`
	// Env are the storage roots that the program needs.
	Env map[string]string `json:"env"`
	// Cwd is the directory to start in, null for any.
	Cwd *string `json:"cwd"`
	// ExecutableFound tells whether Program was found.
	ExecutableFound bool `json:"executable_found"`
	// WorkingDirectoryExists tells whether Cwd is a directory now.
	WorkingDirectoryExists bool `json:"working_directory_exists"`
}

// PlanResult is a plan and what a person must know of it.
type PlanResult struct {
	// Plan is it.
	Plan Plan `json:"plan"`
	// Executed is always false.
	Executed bool `json:"executed"`
	// RequiresUserAction is always true.
	RequiresUserAction bool `json:"requires_user_action"`
	// Warnings say what may be wrong; empty, never null.
	Warnings []Warning `json:"warnings"`
}

// ResumePlan tells how a session would be resumed. It starts nothing. Errors are as for [Catalog.Show], and
// [InvalidResumePlan] for an unknown mode.
func (c *Catalog) ResumePlan(ctx context.Context, req PlanRequest) (*PlanResult, error) {
	name := DefaultMode
	if req.Mode != nil {
		name = *req.Mode
	}
	if len(name) > MaxNameBytes {
		return nil, failf(InvalidRequest, "mode has more than %d bytes", MaxNameBytes)
	}
	e, warnings, err := c.find(ctx, ShowRequest{
		Agent: req.Agent, SessionID: req.SessionID, Project: req.Project,
		IncludeNonInteractive: req.IncludeNonInteractive, IncludeArchived: req.IncludeArchived,
	})
	if err != nil {
		return nil, err
	}
	r, _ := c.reader(e.agent.ID)
	modes := r.Modes()
	i := slices.IndexFunc(modes, func(m Mode) bool { return m.Name == name })
	if i < 0 {
		return nil, failf(InvalidResumePlan, "%s has no resume mode of that name; capabilities lists them", e.agent.Name)
	}
	plan := c.plan(r, e, modes[i])
	if plan.Cwd != nil && !plan.WorkingDirectoryExists {
		warnings = append(warnings, c.missingWarning(ctx, e))
	}
	return &PlanResult{Plan: plan, RequiresUserAction: true, Warnings: warnings}, nil
}

func (c *Catalog) plan(r Reader, e *entry, mode Mode) Plan {
	launch := r.Launch(c.env(), e.Session)
	p := Plan{Agent: e.agent.ID, SessionID: e.ID, Args: slices.Concat(launch.Args, mode.Args), Env: launch.Env}
	if p.Env == nil {
		p.Env = map[string]string{}
	}
	p.Program, p.ExecutableFound = c.env().program(cmp.Or(launch.Program, e.agent.Command))
	if e.ProjectPath != "" {
		p.Cwd = &e.ProjectPath
		p.WorkingDirectoryExists = isDir(e.ProjectPath)
	}
	return p
}

// missingWarning says that the project directory is gone, and where it probably is.
func (c *Catalog) missingWarning(ctx context.Context, e *entry) Warning {
	w := Warning{e.agent.ID, missingDirectory, "the project directory does not exist any more; start the program in the directory that took its place"}
	if place := c.neighbours(ctx, e).likely(e.Session); place != "" {
		w.Message = fmt.Sprintf("the project directory does not exist any more; it is probably %q now", place)
	}
	return w
}

const missingDirectory = "missing_directory"

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
