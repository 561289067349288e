package modelserver

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"
)

// play writes the answer of a turn and notes how far it came.
func (s *Server) play(w http.ResponseWriter, hr *http.Request, f front, t turn) {
	p := &player{
		w: w, ctx: hr.Context(), out: http.NewResponseController(w), record: s.record, turn: t,
		array: t.req.Wire == GenerateContent && hr.URL.Query().Get("alt") != "sse",
	}
	outcome := p.perform(f)
	s.record.mark(t.req.Number, outcome)
	if outcome == CutOff || outcome == ClientGone {
		// The server's way to break a connection in the middle of an answer.
		panic(http.ErrAbortHandler)
	}
}

// player is one answer on its way out.
type player struct {
	w      http.ResponseWriter
	ctx    context.Context //nolint:containedctx // A player lives as long as its request.
	out    *http.ResponseController
	record *record
	turn   turn
	array  bool // frames are the elements of a JSON array, not server-sent events
	sent   int
}

func (p *player) perform(f front) Outcome {
	r := p.turn.reply
	if !p.pause(r.Delay) {
		return ClientGone
	}
	if outcome := p.point(AtOnce); outcome != "" {
		return outcome
	}
	switch {
	case r.failed():
		return p.fail(f)
	case r.RawBody != "":
		return p.raw(r.RawBody)
	case p.turn.req.Stream:
		return p.stream(f.stream(p.turn))
	default:
		return p.whole(encode(f.whole(p.turn)))
	}
}

// point does what the script wants at that point; an empty outcome means to go on.
func (p *player) point(at Point) Outcome {
	if p.turn.reply.Hang == at && !p.record.hang(p.ctx, p.turn.req.Number) {
		return ClientGone
	}
	if p.turn.reply.Cut == at {
		return CutOff
	}
	return ""
}

func (p *player) fail(f front) Outcome {
	r := p.turn.reply
	if r.RetryAfter > 0 {
		seconds := (r.RetryAfter + time.Second - 1) / time.Second
		p.w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
		if r.RetryAfter%time.Second != 0 {
			p.w.Header().Set("Retry-After-Ms", strconv.FormatInt(r.RetryAfter.Milliseconds(), 10))
		}
	}
	message := r.Message
	if message == "" {
		message = fmt.Sprintf("scripted failure %d", r.Status)
	}
	body := encode(f.fail(r.Status, message))
	switch {
	case r.RawBody != "":
		body = []byte(r.RawBody)
	case r.Malformed:
		body = body[:len(body)/2]
	}
	p.w.Header().Set("Content-Type", "application/json")
	p.w.WriteHeader(r.Status)
	_, _ = p.w.Write(body)
	return Failed
}

func (p *player) raw(body string) Outcome {
	kind := "application/json"
	if p.turn.req.Stream {
		kind = "text/event-stream"
	}
	p.w.Header().Set("Content-Type", kind)
	if _, err := io.WriteString(p.w, body); err != nil {
		return ClientGone
	}
	return Completed
}

// whole writes a document. In the middle of it means after one half of its bytes.
func (p *player) whole(body []byte) Outcome {
	if p.turn.reply.Malformed {
		body = append(body[:len(body)/2:len(body)/2], "<broken>"...)
	}
	p.w.Header().Set("Content-Type", "application/json")
	p.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	half := len(body) / 2
	if _, err := p.w.Write(body[:half]); err != nil {
		return ClientGone
	}
	if p.out.Flush() != nil {
		return ClientGone
	}
	if outcome := p.point(InMid); outcome != "" {
		return outcome
	}
	if _, err := p.w.Write(body[half:]); err != nil {
		return ClientGone
	}
	return Completed
}

func (p *player) stream(fs frames) Outcome {
	kind := "text/event-stream"
	if p.array {
		kind = "application/json"
	}
	p.w.Header().Set("Content-Type", kind)
	p.w.Header().Set("Cache-Control", "no-cache")
	if !p.send(fs.open, 0) || !p.send(fs.body, p.turn.reply.Pause) {
		return ClientGone
	}
	if outcome := p.point(InMid); outcome != "" {
		return outcome
	}
	if p.turn.reply.Malformed {
		fs.end = []frame{{data: `{"broken":`}}
	}
	if !p.send(fs.end, 0) {
		return ClientGone
	}
	if p.array && p.write("]\n") != nil {
		return ClientGone
	}
	return Completed
}

// send writes frames one by one with a pause after each, and reports whether the client is still there.
func (p *player) send(fs []frame, pause time.Duration) bool {
	for _, f := range fs {
		if p.write(p.format(f)) != nil {
			return false
		}
		p.sent++
		if pause > 0 && (p.out.Flush() != nil || !p.pause(pause)) {
			return false
		}
	}
	return p.out.Flush() == nil && p.ctx.Err() == nil
}

func (p *player) write(text string) error {
	_, err := io.WriteString(p.w, text)
	return err
}

func (p *player) format(f frame) string {
	switch {
	case p.array && p.sent == 0:
		return "[" + f.data
	case p.array:
		return "\n," + f.data
	case f.event != "":
		return "event: " + f.event + "\ndata: " + f.data + "\n\n"
	default:
		return "data: " + f.data + "\n\n"
	}
}

// pause waits, and reports whether the client is still there.
func (p *player) pause(d time.Duration) bool {
	if d <= 0 {
		return p.ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// pieces cuts text into parts of about size bytes, between characters. A long text gets larger pieces, so that it does
// not become tens of thousands of events.
func pieces(text string, size int) []string {
	const most = 2000
	size = max(size, len(text)/most)
	var out []string
	for len(text) > size {
		cut := size
		for cut < len(text) && !utf8.RuneStart(text[cut]) {
			cut++
		}
		out = append(out, text[:cut])
		text = text[cut:]
	}
	if text != "" {
		out = append(out, text)
	}
	return out
}
