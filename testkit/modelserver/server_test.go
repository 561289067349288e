package modelserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidwall/gjson"
)

const chatPath = "/v1/chat/completions"

// chatBody is a request with one user message.
func chatBody(stream bool, prompt string) string {
	return fmt.Sprintf(`{"model":"fake-1","stream":%t,"messages":[{"role":"user","content":%q}]}`, stream, prompt)
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestStepsWithoutConditionsAreToldInOrder(t *testing.T) {
	t.Parallel()
	s := New(t, &Options{Script: []Step{{Reply: Say("one"), Times: 2}, {Reply: Say("two")}}})
	if err := s.Add(Step{Reply: Say("more"), Times: Always}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"one", "one", "two", "more", "more"} {
		_, body := post(t, s, chatPath, chatBody(false, "x"))
		if got := gjson.GetBytes(body, "choices.0.message.content").String(); got != want {
			t.Errorf("answer %d = %q, want %q", i, got, want)
		}
	}
	if n := s.Unused(); n != 0 {
		t.Errorf("Unused() = %d, want 0", n)
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	r := Request{
		Model: "m", System: "you are kind",
		Messages: []Message{
			{Role: User, Text: "first"},
			{Role: Assistant, Text: "answer"},
			{Role: User, Text: "second question"},
			{Role: Assistant, Calls: []ToolCall{{Name: "a"}}},
			{Role: ToolRole, Text: "result"},
		},
		Tools: []Tool{{Name: "a"}, {Name: "b"}},
	}
	tests := []struct {
		name  string
		match Match
		want  bool
	}{
		{name: "anything", want: true},
		{name: "offered", match: Match{Offered: []string{"a", "b"}}, want: true},
		{name: "not all offered", match: Match{Offered: []string{"a", "c"}}},
		{name: "absent", match: Match{Absent: []string{"c"}}, want: true},
		{name: "not absent", match: Match{Absent: []string{"c", "b"}}},
		{name: "prompt", match: Match{Prompt: "question"}, want: true},
		{name: "old prompt", match: Match{Prompt: "first"}},
		{name: "last", match: Match{Last: "result"}, want: true},
		{name: "not last", match: Match{Last: "second"}},
		{name: "system", match: Match{System: "kind"}, want: true},
		{name: "other system", match: Match{System: "rude"}},
		{name: "turn step", match: Match{TurnStep: 2}, want: true},
		{name: "other turn step", match: Match{TurnStep: 1}},
		{name: "model", match: Match{Model: "m"}, want: true},
		{name: "other model", match: Match{Model: "n"}},
		{name: "func", match: Match{Func: func(r Request) bool { return len(r.Results()) == 1 }}, want: true},
		{name: "func says no", match: Match{Func: func(Request) bool { return false }}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.match.matches(r); got != tt.want {
				t.Errorf("matches() = %t, want %t", got, tt.want)
			}
		})
	}
}

func TestMakeSeesTheRequest(t *testing.T) {
	t.Parallel()
	s := New(t, &Options{Script: []Step{{Make: func(r Request) Reply { return Say("you said " + r.Prompt()) }}}})
	_, body := post(t, s, chatPath, chatBody(false, "hello"))
	if got, want := gjson.GetBytes(body, "choices.0.message.content").String(), "you said hello"; got != want {
		t.Errorf("answer = %q, want %q", got, want)
	}
}

func TestToolNamesAreResolved(t *testing.T) {
	t.Parallel()
	tools := []Tool{{Name: "space_echo"}, {Name: "xecho"}, {Namespace: "mcp__space", Name: "list"}}
	tests := []struct {
		name      string
		call      ToolCall
		want      string
		namespace string
	}{
		{name: "exact", call: ToolCall{Name: "xecho"}, want: "xecho"},
		{name: "not offered", call: ToolCall{Name: "echo"}, want: "echo"},
		{name: "loose", call: ToolCall{Name: "echo", Loose: true}, want: "space_echo"},
		{name: "loose and not offered", call: ToolCall{Name: "cho", Loose: true}, want: "cho"},
		{name: "namespace", call: ToolCall{Name: "list"}, want: "list", namespace: "mcp__space"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			resolve(&tt.call, tools)
			if tt.call.Name != tt.want || tt.call.Namespace != tt.namespace {
				t.Errorf("resolve() = %q in %q, want %q in %q", tt.call.Name, tt.call.Namespace, tt.want, tt.namespace)
			}
		})
	}
}

func TestHangUntilReleased(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		for _, reply := range []Reply{HangAfter(""), HangAfter("some text")} {
			t.Run(fmt.Sprintf("stream %t, %q", stream, reply.Text), func(t *testing.T) {
				t.Parallel()
				s := New(t, &Options{Script: []Step{{Reply: reply}}})
				var group sync.WaitGroup
				group.Go(func() {
					if response, body := post(t, s, chatPath, chatBody(stream, "x")); response.StatusCode != http.StatusOK || !strings.Contains(string(body), "stop") {
						t.Errorf("after Release: %d %s", response.StatusCode, body)
					}
				})
				if err := s.AwaitOutcome(bounded(t), Hanging, 1); err != nil {
					t.Fatal(err)
				}
				s.Release()
				if err := s.AwaitOutcome(bounded(t), Completed, 1); err != nil {
					t.Fatal(err)
				}
				group.Wait()
			})
		}
	}
}

func TestClientThatGoesIsNoticed(t *testing.T) {
	t.Parallel()
	for _, reply := range []Reply{HangAfter(""), HangAfter("text"), {Delay: time.Hour}, {Text: "0123456789", Pause: time.Hour}} {
		s := New(t, &Options{ChunkBytes: 2, Script: []Step{{Reply: reply}}})
		ctx, cancel := context.WithCancel(t.Context())
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+chatPath, strings.NewReader(chatBody(true, "x")))
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		group.Go(func() {
			if response, err := http.DefaultTransport.RoundTrip(request); err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
		})
		if err := s.Await(bounded(t), func(rs []Request) bool { return len(rs) == 1 }); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := s.AwaitOutcome(bounded(t), ClientGone, 1); err != nil {
			t.Errorf("%+v: %v", reply, err)
		}
		group.Wait()
	}
}

func TestCutAndMalformed(t *testing.T) {
	t.Parallel()
	t.Run("cut at once", func(t *testing.T) {
		t.Parallel()
		s := New(t, &Options{Script: []Step{{Reply: CutAfter("")}}})
		if response, err := send(t, s, chatPath, chatBody(true, "x")); err == nil {
			_ = response.Body.Close()
			t.Errorf("answer = %d, want a broken connection", response.StatusCode)
		}
	})
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("cut in mid, stream %t", stream), func(t *testing.T) {
			t.Parallel()
			s := New(t, &Options{Script: []Step{{Reply: CutAfter("some text")}}})
			response, err := send(t, s, chatPath, chatBody(stream, "x"))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err == nil || len(body) == 0 || strings.Contains(string(body), "[DONE]") {
				t.Errorf("body = %s, %v, want a part and an error", body, err)
			}
			if err := s.AwaitOutcome(bounded(t), CutOff, 1); err != nil {
				t.Error(err)
			}
		})
		t.Run(fmt.Sprintf("malformed, stream %t", stream), func(t *testing.T) {
			t.Parallel()
			s := New(t, &Options{Script: []Step{{Reply: Reply{Text: "x", Malformed: true}}}})
			_, body := post(t, s, chatPath, chatBody(stream, "x"))
			if strings.Contains(string(body), "[DONE]") || gjson.ValidBytes(body) {
				t.Errorf("body = %s, want it broken", body)
			}
		})
	}
	t.Run("raw", func(t *testing.T) {
		t.Parallel()
		s := New(t, &Options{Script: []Step{{Reply: Reply{RawBody: "data: hello\n\n"}}}})
		if _, body := post(t, s, chatPath, chatBody(true, "x")); string(body) != "data: hello\n\n" {
			t.Errorf("body = %q", body)
		}
	})
}

func TestLongOutput(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789é", 1<<17)
	s := New(t, &Options{Script: []Step{{Reply: Say(text)}}})
	response, err := send(t, s, chatPath, chatBody(true, "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := lines(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, d := range data {
		got.WriteString(gjson.Get(d, "choices.0.delta.content").String())
	}
	if got.String() != text {
		t.Errorf("streamed %d bytes, want the %d of the script", got.Len(), len(text))
	}
	if len(data) > 2100 {
		t.Errorf("%d events, want at most some 2000", len(data))
	}
}

func TestSideRequestsUseNoStep(t *testing.T) {
	t.Parallel()
	s := New(t, &Options{Script: []Step{{Reply: Say("the turn")}}})
	title := `{"model":"fake-1","messages":[{"role":"system","content":"You are a title generator. You output ONLY a thread title."},{"role":"user","content":"x"}]}`
	if _, body := post(t, s, chatPath, title); !strings.Contains(string(body), "Scripted session") {
		t.Errorf("title = %s", body)
	}
	if _, body := post(t, s, chatPath, chatBody(false, "x")); !strings.Contains(string(body), "the turn") {
		t.Errorf("turn = %s", body)
	}
	if all, turns := len(s.Requests()), len(s.Turns()); all != 2 || turns != 1 {
		t.Errorf("%d requests, %d turns, want 2 and 1", all, turns)
	}
}

func TestUnscriptedRequests(t *testing.T) {
	t.Parallel()
	s, err := Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if response, body := post(t, s, chatPath, chatBody(false, "x")); response.StatusCode != http.StatusBadRequest {
		t.Errorf("answer = %d %s, want 400", response.StatusCode, body)
	}
	if n := len(s.Unscripted()); n != 1 {
		t.Errorf("Unscripted() has %d, want 1", n)
	}
}

func TestOnlySomeRequestsAreKept(t *testing.T) {
	t.Parallel()
	s := New(t, &Options{KeepRequests: 3, Script: []Step{{Reply: Say("x"), Times: Always}}})
	for range 5 {
		post(t, s, chatPath, chatBody(false, "x"))
	}
	requests := s.Requests()
	if len(requests) != 3 || requests[0].Number != 3 || requests[2].Number != 5 {
		t.Errorf("%d requests from %d on, want the newest three", len(requests), requests[0].Number)
	}
}

func TestAwaitEnds(t *testing.T) {
	t.Parallel()
	s, err := Start(nil)
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	never := func([]Request) bool { return false }
	if err := s.Await(ctx, never); !errors.Is(err, cause) {
		t.Errorf("Await() = %v, want %v", err, cause)
	}
	var group sync.WaitGroup
	group.Go(func() {
		if err := s.Await(t.Context(), never); !errors.Is(err, ErrClosed) {
			t.Errorf("Await() over Close = %v, want ErrClosed", err)
		}
	})
	s.Close()
	s.Close()
	group.Wait()
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		opts Options
		text string
	}{
		{name: "not loopback", opts: Options{Addr: "0.0.0.0:0"}, text: "loopback"},
		{name: "no port", opts: Options{Addr: "127.0.0.1"}, text: "Addr"},
		{name: "negative chunk", opts: Options{ChunkBytes: -1}, text: "ChunkBytes"},
		{name: "negative body", opts: Options{MaxBodyBytes: -1}, text: "MaxBodyBytes"},
		{name: "negative keep", opts: Options{KeepRequests: -1}, text: "KeepRequests"},
		{name: "negative pause", opts: Options{Pause: -1}, text: "Pause"},
		{name: "bad times", opts: Options{Script: []Step{{}, {Times: -2}}}, text: "step 1"},
		{name: "bad status", opts: Options{Script: []Step{{Reply: Fail(7, "")}}}, text: "Status"},
		{name: "bad delay", opts: Options{Script: []Step{{Reply: Reply{Delay: -1}}}}, text: "Delay"},
		{name: "bad hang", opts: Options{Script: []Step{{Reply: Reply{Hang: 9}}}}, text: "Hang"},
		{name: "bad cut", opts: Options{Script: []Step{{Reply: Reply{Cut: 9}}}}, text: "Cut"},
		{name: "call without a name", opts: Options{Script: []Step{{Reply: Call("", nil)}}}, text: "Name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := Start(&tt.opts)
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("Start() = %v, want ErrInvalid naming %s", err, tt.text)
			}
			if s != nil {
				s.Close()
			}
		})
	}
}

func TestCloseEndsWhatHangs(t *testing.T) {
	t.Parallel()
	s, err := Start(&Options{Script: []Step{{Reply: HangAfter("x"), Times: Always}}})
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if response, err := send(t, s, chatPath, chatBody(true, "x")); err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
		})
	}
	if err := s.AwaitOutcome(bounded(t), Hanging, 8); err != nil {
		t.Fatal(err)
	}
	s.Close()
	group.Wait()
}
