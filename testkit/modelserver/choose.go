package modelserver

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// choose finds the answer to a request that arrived and notes on it why; parseErr says that it could not be read. It is called with the record
// locked.
func (s *Server) choose(hr *http.Request, r *Request, parseErr error) Reply {
	refuse := func(status int, why string) Reply {
		r.Refused = why
		return Fail(status, why)
	}
	switch {
	case !s.allowed(hr):
		return refuse(http.StatusUnauthorized, "wrong API key")
	case parseErr != nil:
		return refuse(http.StatusBadRequest, parseErr.Error())
	case !slices.Contains(s.opts.Models, r.Model):
		return refuse(http.StatusNotFound, fmt.Sprintf("the model %q does not exist", r.Model))
	case s.opts.Side(*r):
		r.Side = true
		return s.opts.SideReply
	}
	step, reply := s.record.script.pick(*r)
	if step < 0 {
		// A status that no client repeats, so that a wrong script shows at once.
		return Fail(http.StatusBadRequest, fmt.Sprintf("modelserver: no step of the script is for request %d", r.Number))
	}
	r.Step = step
	return reply
}

// prepare fills in what the script left open.
func (s *Server) prepare(req Request, reply Reply) turn {
	reply.Calls = slices.Clone(reply.Calls)
	for i := range reply.Calls {
		call := &reply.Calls[i]
		if call.ID == "" {
			call.ID = fmt.Sprintf("call_%d_%d", req.Number, i)
		}
		if call.Arguments == "" {
			call.Arguments = "{}"
		}
		resolve(call, req.Tools)
	}
	if reply.Pause == 0 {
		reply.Pause = s.opts.Pause
	}
	t := turn{req: req, reply: reply, id: strconv.Itoa(req.Number), chunk: s.opts.ChunkBytes}
	if reply.Usage != nil {
		t.usage = *reply.Usage
		return t
	}
	t.usage = Usage{Input: tokens(len(req.Body)), Output: tokens(len(reply.Text)), Reasoning: tokens(len(reply.Reasoning))}
	for _, call := range reply.Calls {
		t.usage.Output += tokens(len(call.Name) + len(call.Arguments))
	}
	t.usage.Output += t.usage.Reasoning
	return t
}

// resolve finds the offered tool that a call means. A call that means none stays as it is: models do that too.
func resolve(call *ToolCall, tools []Tool) {
	for _, tool := range tools {
		if tool.Name == call.Name && (call.Namespace == "" || call.Namespace == tool.Namespace) {
			call.Namespace = tool.Namespace
			return
		}
	}
	if !call.Loose {
		return
	}
	for _, tool := range tools {
		if strings.HasSuffix(tool.Name, "_"+call.Name) {
			call.Name, call.Namespace = tool.Name, tool.Namespace
			return
		}
	}
}

// tokens estimates as the rule of thumb does: four bytes each.
func tokens(bytes int) int { return (bytes + 3) / 4 }
