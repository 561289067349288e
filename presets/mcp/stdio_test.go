package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// padded returns a ping of exactly n bytes.
func padded(n int) string {
	line := request("1", "ping", `"pad":""`)
	return strings.Replace(line, `"pad":""`, `"pad":"`+strings.Repeat("x", n-len(line))+`"`, 1)
}

func TestRunStdioLineLimit(t *testing.T) {
	t.Parallel()
	ping := request("0", "ping", "") + "\n"
	tests := []struct {
		name    string
		input   string
		tooLong bool
		want    []string
	}{
		{"as long as may be", padded(65_536) + "\n", false, []string{"1 ok"}},
		{"one more", padded(65_537) + "\n", true, nil},
		{"with carriage return", padded(65_535) + "\r\n", false, []string{"1 ok"}},
		{"with carriage return, one more", padded(65_536) + "\r\n", true, nil},
		{"two in one write", padded(65_536) + "\n" + strings.Replace(padded(65_536), `"id":1`, `"id":2`, 1) + "\n", false, []string{"1 ok", "2 ok"}},
		{"behind another in one write", ping + padded(65_537) + "\n", true, []string{"0 ok"}},
		{"without line feed", strings.Repeat("x", 65_537), true, nil},
		{"spaces count", strings.Repeat(" ", 65_537) + "\n", true, nil},
		{"last line without line feed", padded(65_536), false, []string{"1 ok"}},
		{"last line cut off", ping + `{"jsonrpc":`, false, []string{"0 ok", "null -32700"}},
		{"nothing", "", false, nil},
		{"only line feeds", "\n\n\n", false, nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			run := runStdio(t, newTestTools().server(), nil)
			go func() {
				_, _ = io.WriteString(run.in, tc.input) // The server may close it in the middle.
				_ = run.in.Close()
			}()
			if err := run.wait(); errors.Is(err, ErrLineTooLong) != tc.tooLong || (err != nil && !tc.tooLong) {
				t.Errorf("RunStdio() = %v, want ErrLineTooLong: %t", err, tc.tooLong)
			}
			// What was answered before the line that is too long may or may not have been written yet.
			var got []string
			for line := range run.lines {
				got = append(got, parseReply(t, line).summary())
			}
			slices.Sort(got) // Answers may overtake each other.
			if diff := cmp.Diff(tc.want, got); diff != "" && !tc.tooLong {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunStdioHandshakeTimeout(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		lines []string
		want  error
	}{
		{"nothing", nil, ErrHandshakeTimeout},
		{"only pings", []string{request("1", "ping", "")}, ErrHandshakeTimeout},
		{"a bad first request", []string{request("1", "tools/list", "")}, ErrHandshakeTimeout},
		{"an initialize that is refused", []string{request("1", "initialize", "")}, ErrHandshakeTimeout},
		{"initialize", []string{legacyHello}, nil},
		{"discover", []string{modernHello}, nil},
		{"a first request of the newer lifecycle", []string{request("1", "tools/list", modernMeta)}, nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				run := runStdio(t, newTestTools().server(), nil)
				run.send(tc.lines...)
				<-time.After(DefaultHandshakeTimeout + time.Second)
				synctest.Wait()
				select {
				case err := <-run.result:
					if !errors.Is(err, tc.want) || tc.want == nil {
						t.Errorf("RunStdio() = %v, want %v", err, tc.want)
					}
				default:
					if tc.want != nil {
						t.Errorf("RunStdio() goes on, want %v", tc.want)
					}
				}
			})
		})
	}
}

func TestRunStdioCancelledRequestGetsNoAnswer(t *testing.T) {
	t.Parallel()
	tools := newTestTools()
	run := runStdio(t, tools.server(), nil)
	run.send(legacyHello)
	run.next()
	run.send(callTool("7", "wait", "{}"))
	<-tools.started
	run.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	if err := <-tools.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the handler's context ended with %v, want cancelled", err)
	}
	run.probe(legacyHello) // The next answer is that of the probe.
}

func TestRunStdioRefusesAnIDInFlight(t *testing.T) {
	t.Parallel()
	tools := newTestTools()
	run := runStdio(t, tools.server(), nil)
	run.send(legacyHello)
	run.next()
	run.send(callTool("7", "stubborn", "{}"))
	<-tools.started
	run.send(request("7", "ping", ""), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, request("7", "ping", ""))
	for range 2 { // It is in flight as long as its handler runs, cancelled or not.
		if got := run.next().summary(); got != "null -32600" {
			t.Errorf("second request of the id got %s, want null -32600", got)
		}
	}
	close(tools.release)
	<-tools.ended
	run.probe(legacyHello)
}

func TestRunStdioBusy(t *testing.T) {
	t.Parallel()
	for name, hello := range map[string]string{"older": legacyHello, "newer": modernHello} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			meta := []string{}
			if hello == modernHello {
				meta = append(meta, modernMeta)
			}
			tools := newTestTools()
			run := runStdio(t, tools.server(), nil)
			run.send(hello)
			run.next()
			run.send(callTool("1", "stubborn", "{}", meta...), callTool("2", "stubborn", "{}", meta...))
			<-tools.started
			<-tools.started
			run.send(callTool("3", "echo", `{"text":"x"}`, meta...))
			if got := run.next().summary(); got != "3 busy" {
				t.Errorf("third call got %s, want busy", got)
			}
			// A cancelled call holds its permit as long as its handler runs.
			run.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, callTool("4", "echo", `{"text":"x"}`, meta...))
			if got := run.next().summary(); got != "4 busy" {
				t.Errorf("call after a cancellation got %s, want busy", got)
			}
			run.send(request("5", "tools/list", strings.Join(meta, "")))
			if got := run.next().summary(); got != "5 ok" {
				t.Errorf("a list meanwhile got %s, want ok", got)
			}
			close(tools.release)
			if got := run.next().summary(); got != "2 ok" {
				t.Errorf("second call got %s, want ok", got)
			}
			<-tools.ended
			<-tools.ended
			run.probe(hello)
		})
	}
}

func TestRunStdioTooManyRequests(t *testing.T) {
	t.Parallel()
	tools := newTestTools()
	run := runStdio(t, tools.server(), &StdioOptions{Guard: GuardOptions{MaxConcurrent: 1000}})
	run.send(legacyHello)
	run.next()
	for i := range maxInFlight {
		run.send(callTool(fmt.Sprint(i), "wait", "{}"))
		if i%100 == 99 { // The channel holds no more.
			for range 100 {
				<-tools.started
			}
		}
	}
	run.send(request(`"more"`, "ping", ""))
	if got := run.next().summary(); got != fmt.Sprintf(`"more" %d`, codeTooMany) {
		t.Errorf("request beyond the limit got %s", got)
	}
	for i := range maxInFlight {
		run.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
		<-tools.ended
	}
}

func TestRunStdioEndOfInput(t *testing.T) {
	t.Parallel()
	t.Run("waits for a call under way", func(t *testing.T) {
		t.Parallel()
		tools := newTestTools()
		run := runStdio(t, tools.server(), &StdioOptions{DrainTimeout: patience})
		run.send(legacyHello)
		run.next()
		run.send(callTool("1", "wait", "{}"))
		<-tools.started
		_ = run.in.Close()
		close(tools.release)
		if got := run.next().summary(); got != "1 ok" {
			t.Errorf("the call under way got %s, want ok", got)
		}
		if err := run.wait(); err != nil {
			t.Errorf("RunStdio() = %v, want nil", err)
		}
	})
	t.Run("no longer than the limit", func(t *testing.T) {
		t.Parallel()
		tools := newTestTools()
		run := runStdio(t, tools.server(), &StdioOptions{DrainTimeout: 10 * time.Millisecond})
		run.send(legacyHello)
		run.next()
		run.send(callTool("1", "wait", "{}"), callTool("2", "stubborn", "{}"))
		<-tools.started
		<-tools.started
		_ = run.in.Close()
		if err := run.wait(); err != nil {
			t.Errorf("RunStdio() = %v, want nil", err)
		}
		if err := <-tools.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the handler's context ended with %v, want cancelled", err)
		}
		close(tools.release)
		<-tools.ended
	})
	t.Run("does not wait for subscriptions", func(t *testing.T) {
		t.Parallel()
		run := runStdio(t, newTestTools().server(), &StdioOptions{DrainTimeout: time.Hour})
		run.send(modernHello)
		run.next()
		run.send(request("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true},`+modernMeta))
		if got := run.next().summary(); got != "method notifications/subscriptions/acknowledged" {
			t.Fatalf("listen got %s, want its acknowledgement", got)
		}
		_ = run.in.Close()
		if err := run.wait(); err != nil {
			t.Errorf("RunStdio() = %v, want nil", err)
		}
	})
}

func TestRunStdioEndOfContext(t *testing.T) {
	t.Parallel()
	t.Run("lets a call under way end", func(t *testing.T) {
		t.Parallel()
		tools := newTestTools()
		run := runStdio(t, tools.server(), &StdioOptions{DrainTimeout: patience})
		run.send(legacyHello)
		run.next()
		run.send(callTool("1", "wait", "{}"))
		<-tools.started
		run.cancel()
		close(tools.release)
		if got := run.next().summary(); got != "1 ok" {
			t.Errorf("the call under way got %s, want ok", got)
		}
		if err := run.wait(); err != nil {
			t.Errorf("RunStdio() = %v, want nil", err)
		}
	})
	t.Run("waits for nobody who does not listen", func(t *testing.T) {
		t.Parallel()
		tools := newTestTools()
		run := runStdio(t, tools.server(), &StdioOptions{DrainTimeout: 10 * time.Millisecond})
		run.send(legacyHello)
		run.next()
		run.send(callTool("1", "stubborn", "{}"))
		<-tools.started
		run.cancel()
		if err := run.wait(); err != nil {
			t.Errorf("RunStdio() = %v, want nil", err)
		}
		close(tools.release)
		<-tools.ended
	})
	t.Run("not even for a client that does not read", func(t *testing.T) {
		t.Parallel()
		in, inWriter := io.Pipe()
		outReader, out := io.Pipe() // Nobody reads it.
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() {
			result <- RunStdio(ctx, newTestTools().server(), in, out, &StdioOptions{DrainTimeout: 10 * time.Millisecond})
		}()
		if _, err := io.WriteString(inWriter, "{}\n"); err != nil {
			t.Fatal(err)
		}
		cancel()
		if err := <-result; err != nil {
			t.Errorf("RunStdio() = %v, want nil", err)
		}
		_ = outReader.Close()
	})
}

func TestRunStdioClientThatStopsReading(t *testing.T) {
	t.Parallel()
	in, inWriter := io.Pipe()
	outReader, out := io.Pipe()
	_ = outReader.Close()
	result := make(chan error, 1)
	go func() { result <- RunStdio(t.Context(), newTestTools().server(), in, out, nil) }()
	_, _ = io.WriteString(inWriter, legacyHello+"\n")
	if err := <-result; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("RunStdio() = %v, want the error of the pipe", err)
	}
}

// A client that goes closes both streams, in whatever order: that is no fault, even if something was just being written.
func TestRunStdioClientThatGoes(t *testing.T) {
	t.Parallel()
	in, inWriter := io.Pipe()
	outReader, out := io.Pipe()
	result := make(chan error, 1)
	go func() { result <- RunStdio(t.Context(), newTestTools().server(), in, out, nil) }()
	if _, err := io.WriteString(inWriter, legacyHello+"\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := outReader.Read(make([]byte, 1)); err != nil { // The answer is being written.
		t.Fatal(err)
	}
	_ = outReader.Close()
	_ = inWriter.Close()
	if err := <-result; err != nil {
		t.Errorf("RunStdio() = %v, want nil", err)
	}
}

func TestRunStdioAsksForANewerVersionInInitialize(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"2026-07-28": "2025-11-25", "2099-01-01": "2025-11-25", "2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18",
		"2025-03-26": "2025-03-26", "2024-11-05": "2024-11-05", "1999-01-01": "2025-11-25", "": "2025-11-25",
	} {
		t.Run("asked "+asked, func(t *testing.T) {
			t.Parallel()
			server := newTestTools().server()
			run := runStdio(t, server, nil)
			run.send(strings.ReplaceAll(legacyHello, "2025-11-25", asked))
			if got := run.next(); got.Result == nil || got.Result.ProtocolVersion != want {
				t.Fatalf("initialize = %.300s, want version %s", got.raw, want)
			}
			run.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, request("1", "ping", ""))
			run.next()
			server.RemoveTools("fails")
			if got := run.next().summary(); got != "method notifications/tools/list_changed" {
				t.Errorf("after a change came %s, want the notification", got)
			}
		})
	}
}

func TestRunStdioOptions(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]*StdioOptions{
		"MaxLineBytes": {MaxLineBytes: -1}, "HandshakeTimeout": {HandshakeTimeout: -1}, "DrainTimeout": {DrainTimeout: -1},
		"MaxConcurrent": {Guard: GuardOptions{MaxConcurrent: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := RunStdio(t.Context(), newTestTools().server(), strings.NewReader(""), io.Discard, opts)
			if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), name) {
				t.Errorf("RunStdio() = %v, want ErrInvalid that names %s", err, name)
			}
		})
	}
}

// The real client of the engine, in both eras.
func TestRunStdioWithTheSDKClient(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			tools := newTestTools()
			server := tools.server()
			in, clientOut := io.Pipe()
			clientIn, out := io.Pipe()
			result := make(chan error, 1)
			go func() { result <- RunStdio(t.Context(), server, in, out, nil) }()

			changed := make(chan struct{}, 10)
			client := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, &sdk.ClientOptions{
				ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} },
			})
			session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: clientIn, Writer: clientOut}, &sdk.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "x"}}); err != nil || got.IsError {
				t.Errorf("CallTool(echo) = %v, %v", got, err)
			}
			if got, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "panics"}); err != nil || !got.IsError {
				t.Errorf("CallTool(panics) = %v, %v, want an error result", got, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-tools.started; cancel() }()
			if _, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "wait"}); !errors.Is(err, context.Canceled) {
				t.Errorf("CallTool(wait) = %v, want cancelled", err)
			}
			if err := <-tools.ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the handler's context ended with %v, want cancelled", err)
			}
			server.RemoveTools("fails")
			select {
			case <-changed:
			case <-time.After(patience):
				t.Error("no notification of the change")
			}
			if err := session.Close(); err != nil {
				t.Errorf("closing the client: %v", err)
			}
			if err := <-result; err != nil {
				t.Errorf("RunStdio() = %v, want nil", err)
			}
		})
	}
}
