package space

import (
	"context"
	"encoding/json"
	"strings"

	"agentd/presets"
)

// play is what OpenCode does in one turn, step by step. It tells the events and stores the messages.
type play struct {
	f       *fake
	session string
	prompt  string // the user message
	message string // the assistant message of the present step
}

// user stores and tells the prompt.
func (p *play) user() {
	p.prompt = p.f.id("msg_")
	p.ask(p.prompt)
}

func (p *play) ask(id string) {
	p.store(doc{"info": doc{"id": id, "sessionID": p.session, "role": "user"}, "parts": []doc{}})
	p.f.emit("message.updated", doc{"info": doc{"id": id, "sessionID": p.session, "role": "user"}})
	p.part(doc{"id": p.f.id("prt_"), "messageID": id, "type": "text", "text": "the prompt"})
}

// step begins an assistant message.
func (p *play) step(extra ...doc) {
	p.message = p.f.id("msg_")
	info := p.info()
	for _, e := range extra {
		for k, v := range e {
			info[k] = v
		}
	}
	p.store(doc{"info": info, "parts": []doc{}})
	p.f.emit("message.updated", doc{"info": info})
}

func (p *play) info() doc {
	return doc{
		"id": p.message, "sessionID": p.session, "role": "assistant", "parentID": p.prompt, "providerID": "fake", "modelID": "fake-1",
	}
}

func (p *play) store(message doc) {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	p.f.sessions[p.session] = append(p.f.sessions[p.session], message)
}

// change changes a stored message. It must not be in the middle of being sent.
func (p *play) change(id string, how func(message doc)) {
	p.f.mu.Lock()
	defer p.f.mu.Unlock()
	for _, m := range p.f.sessions[p.session] {
		if m["info"].(doc)["id"] == id {
			how(m)
		}
	}
}

// part tells a part and, once it is whole, stores it.
func (p *play) part(part doc) {
	part["sessionID"] = p.session
	if part["messageID"] == nil {
		part["messageID"] = p.message
	}
	p.f.emit("message.part.updated", doc{"part": part})
}

func (p *play) keep(part doc) {
	p.part(part)
	p.change(part["messageID"].(string), func(m doc) {
		parts := m["parts"].([]doc)
		for i := range parts {
			if parts[i]["id"] == part["id"] {
				parts[i] = part
				return
			}
		}
		m["parts"] = append(parts, part)
	})
}

func (p *play) delta(part, text string) {
	p.f.emit("message.part.delta", doc{"sessionID": p.session, "messageID": p.message, "partID": part, "field": "text", "delta": text})
}

// says streams text, or reasoning, word by word.
func (p *play) says(kind, text string) {
	id := p.f.id("prt_")
	p.part(doc{"id": id, "type": kind, "text": ""})
	for word := range strings.SplitAfterSeq(text, " ") {
		p.delta(id, word)
	}
	p.keep(doc{"id": id, "type": kind, "text": text, "time": doc{"start": 1, "end": 2}})
}

// call begins a tool part.
func (p *play) call(id, call, tool, input string) doc {
	p.part(doc{"id": id, "type": "tool", "tool": tool, "callID": call, "state": doc{"status": "pending", "input": doc{}}})
	return p.state(id, call, tool, doc{"status": "running", "input": json.RawMessage(input)})
}

func (p *play) state(id, call, tool string, state doc) doc {
	part := doc{"id": id, "type": "tool", "tool": tool, "callID": call, "state": state, "messageID": p.message}
	p.keep(part)
	return part
}

// ends gives a tool part its result.
func (p *play) ends(part doc, status, text string) {
	state := doc{"status": status, "input": part["state"].(doc)["input"], "output": text}
	if status == "error" {
		state = doc{"status": status, "input": part["state"].(doc)["input"], "error": text}
	}
	p.state(part["id"].(string), part["callID"].(string), part["tool"].(string), state)
}

// reach makes a call of ours reach the server, as over MCP.
func (p *play) reach(name, arguments string) (presets.Result, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p.f.mu.Lock()
	turn := p.f.bound
	p.f.cancelCalls = cancel
	p.f.mu.Unlock()
	return turn.Call(ctx, presets.Call{Caller: turn.Caller, Name: name, Arguments: json.RawMessage(arguments)})
}

// echo is a whole call of the tool space_echo.
func (p *play) echo(id, call, input string) {
	part := p.call(id, call, "space_space_echo", input)
	result, err := p.reach("space_echo", input)
	if err != nil {
		p.ends(part, "error", err.Error())
		return
	}
	p.ends(part, "completed", result.Text)
}

// done ends the step.
func (p *play) done(finish string, extra doc) {
	info := p.info()
	info["finish"], info["time"] = finish, doc{"created": 1, "completed": 2}
	info["tokens"] = doc{"input": 100, "output": 10, "reasoning": 5, "cache": doc{"read": 50, "write": 0}}
	for k, v := range extra {
		info[k] = v
	}
	p.change(p.message, func(m doc) { m["info"] = info })
	p.f.emit("message.updated", doc{"info": info})
}

// idle ends the turn.
func (p *play) idle() {
	p.f.setBusy(p.session, false)
	p.f.emit("session.status", doc{"sessionID": p.session, "status": doc{"type": "idle"}})
	p.f.emit("session.idle", doc{"sessionID": p.session})
}

// answers is a whole turn of one text.
func answers(text string) func(*play) {
	return func(p *play) {
		p.step()
		p.says("text", text)
		p.done("stop", nil)
		p.idle()
	}
}
