package mcp

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// hostileCase is one row of what a client may send, and what comes of it. Every session is alive afterwards.
type hostileCase struct {
	name  string
	hello string // the handshake; "" means none
	lines []string
	want  []string // summaries of the answers, in order
}

func TestRunStdioHostileInput(t *testing.T) {
	t.Parallel()
	for _, tc := range append(append(malformedCases(), lifecycleCases()...), callCases()...) {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			run := runStdio(t, newTestTools().server(), nil)
			if tc.hello != "" {
				run.send(tc.hello)
				if got := run.next().summary(); got != `"hello" ok` {
					t.Fatalf("handshake answered %s, want ok", got)
				}
			}
			run.send(tc.lines...)
			var got []string
			for range tc.want {
				got = append(got, run.next().summary())
			}
			slices.Sort(got) // Answers may overtake each other.
			if diff := cmp.Diff(slices.Sorted(slices.Values(tc.want)), got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			run.probe(tc.hello)
		})
	}
}

// probe checks that the session lives, and that nothing was answered that the test did not expect.
func (r *stdioRun) probe(hello string) {
	r.tb.Helper()
	meta := ""
	if hello == modernHello {
		meta = modernMeta
	}
	method := "tools/list"
	if hello == "" {
		method = "ping"
	}
	r.send(request(`"probe"`, method, meta))
	if got := r.next(); got.summary() != `"probe" ok` {
		r.tb.Errorf("after it, the probe got %s, want ok", got.raw)
	}
	_ = r.in.Close()
	if err := r.wait(); err != nil {
		r.tb.Errorf("RunStdio at the end of the input = %v, want nil", err)
	}
}

func malformedCases() []hostileCase {
	return []hostileCase{
		{"malformed", legacyHello, []string{`{"jsonrpc":`}, []string{"null -32700"}},
		{"not JSON at all", legacyHello, []string{"GET / HTTP/1.1"}, []string{"null -32700"}},
		{"not UTF-8", legacyHello, []string{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"}, []string{"null -32700"}},
		{"two values on one line", legacyHello, []string{request("1", "ping", "") + request("2", "ping", "")}, []string{"null -32700"}},
		{"nested beyond reason", legacyHello, []string{strings.Repeat("[", 60_000)}, []string{"null -32700"}},
		{"nested deeply but well", legacyHello, []string{callTool("1", "echo", `{"text":`+strings.Repeat("[", 900)+strings.Repeat("]", 900)+`}`)}, []string{"1 isError"}},
		{"nested deeper than the engine reads", legacyHello, []string{callTool("1", "echo", `{"text":`+strings.Repeat("[", 9_000)+strings.Repeat("]", 9_000)+`}`)}, []string{"1 -32602"}},
		{"a value over several lines", legacyHello, []string{"{", `"jsonrpc":"2.0"`, "}"}, []string{"null -32700", "null -32700", "null -32700"}},
		{"malformed before the handshake", "", []string{"{"}, []string{"null -32700"}},
		{"empty object", legacyHello, []string{"{}"}, []string{"null -32600"}},
		{"number", legacyHello, []string{"42"}, []string{"null -32600"}},
		{"string", legacyHello, []string{`"x"`}, []string{"null -32600"}},
		{"null", legacyHello, []string{"null"}, []string{"null -32600"}},
		{"true", legacyHello, []string{"true"}, []string{"null -32600"}},
		{"empty batch", legacyHello, []string{"[]"}, []string{"null -32600"}},
		{"batch", legacyHello, []string{"[" + request("1", "ping", "") + "]"}, []string{"null -32600"}},
		{"batch before the handshake", "", []string{"[" + legacyHello + "]"}, []string{"null -32600"}},
		{"batch in the newer lifecycle", modernHello, []string{"[" + request("1", "tools/list", modernMeta) + "]"}, []string{"null -32600"}},
		{"no version", legacyHello, []string{`{"id":1,"method":"ping"}`}, []string{"1 -32600"}},
		{"version 1.0", legacyHello, []string{`{"jsonrpc":"1.0","id":1,"method":"ping"}`}, []string{"1 -32600"}},
		{"version is a number", legacyHello, []string{`{"jsonrpc":2.0,"id":1,"method":"ping"}`}, []string{"1 -32600"}},
		{"version in capitals", legacyHello, []string{`{"JSONRPC":"2.0","id":1,"method":"ping"}`}, []string{"1 -32600"}},
		{"method is a number", legacyHello, []string{`{"jsonrpc":"2.0","id":1,"method":5}`}, []string{"1 -32600"}},
		{"method is empty", legacyHello, []string{`{"jsonrpc":"2.0","id":1,"method":""}`}, []string{"1 -32600"}},
		{"method is null", legacyHello, []string{`{"jsonrpc":"2.0","id":1,"method":null}`}, []string{"1 -32600"}},
		{"id is null", legacyHello, []string{request("null", "ping", "")}, []string{"null -32600"}},
		{"id is a fraction", legacyHello, []string{request("1.5", "ping", "")}, []string{"null -32600"}},
		{"id is an object", legacyHello, []string{request("{}", "ping", "")}, []string{"null -32600"}},
		{"id is an array", legacyHello, []string{request("[]", "ping", "")}, []string{"null -32600"}},
		{"id is true", legacyHello, []string{request("true", "ping", "")}, []string{"null -32600"}},
		{"id is too large for a float", legacyHello, []string{request("9007199254740993", "ping", "")}, []string{"null -32600"}},
		{"id is beyond 64 bits", legacyHello, []string{request("99999999999999999999", "ping", "")}, []string{"null -32600"}},
		{"id has an exponent", legacyHello, []string{request("1e300", "ping", "")}, []string{"null -32600"}},
		{"id is the largest that is exact", legacyHello, []string{request("9007199254740992", "ping", "")}, []string{"9007199254740992 ok"}},
		{"id is negative", legacyHello, []string{request("-7", "ping", "")}, []string{"-7 ok"}},
		{"id is an empty string", legacyHello, []string{request(`""`, "ping", "")}, []string{`"" ok`}},
		{"neither method nor result", legacyHello, []string{`{"jsonrpc":"2.0","id":2}`}, []string{"null -32600"}},
		{"result and error", legacyHello, []string{`{"jsonrpc":"2.0","id":2,"result":{},"error":{"code":1,"message":"x"}}`}, []string{"null -32600"}},
		{"method and result", legacyHello, []string{`{"jsonrpc":"2.0","id":2,"method":"ping","result":{}}`}, []string{"2 -32600"}},
		{"response without id", legacyHello, []string{`{"jsonrpc":"2.0","result":{}}`}, []string{"null -32600"}},
		{"error of the wrong shape", legacyHello, []string{`{"jsonrpc":"2.0","id":2,"error":"x"}`, `{"jsonrpc":"2.0","id":2,"error":{"code":"x"}}`}, []string{"null -32600", "null -32600"}},
		{"response to nothing", legacyHello, []string{`{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","id":98,"error":{"code":-1,"message":"x"}}`}, nil},
		{"params are an array", legacyHello, []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[1]}`}, []string{"1 -32602"}},
		{"params are a string", legacyHello, []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"x"}`}, []string{"1 -32602"}},
		{"params are null", legacyHello, []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}`}, []string{"1 ok"}},
		{"blank lines and carriage returns", legacyHello, []string{"", "\r", "   \r", request("1", "ping", "") + "\r"}, []string{"1 ok"}},
		{"white space around", legacyHello, []string{"  " + request("1", "ping", "") + "  "}, []string{"1 ok"}},
	}
}

func lifecycleCases() []hostileCase {
	bare := request("1", "tools/list", "")
	return []hostileCase{
		{"first request without handshake", "", []string{bare}, []string{"1 -32600"}},
		{"first call without handshake", "", []string{callTool("1", "echo", `{"text":"x"}`)}, []string{"1 -32600"}},
		{"discover without metadata", "", []string{request("1", "server/discover", "")}, []string{"1 -32601"}},
		{"discover with an old version", "", []string{request("1", "server/discover", strings.ReplaceAll(modernMeta, "2026-07-28", "2025-11-25"))}, []string{"1 -32601"}},
		{"after discover without metadata", modernHello, []string{bare}, []string{"1 -32602"}},
		{"after discover a call without metadata", modernHello, []string{callTool("1", "echo", `{"text":"x"}`)}, []string{"1 -32602"}},
		{"after discover ping without metadata", modernHello, []string{request("1", "ping", "")}, []string{"1 -32602"}},
		{"after discover an initialize", modernHello, []string{strings.Replace(legacyHello, `"hello"`, "1", 1)}, []string{"1 -32602"}},
		{"metadata without version", modernHello, []string{request("1", "tools/list", `"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}`)}, []string{"1 -32602"}},
		{"metadata with an old version", modernHello, []string{request("1", "tools/list", strings.ReplaceAll(modernMeta, "2026-07-28", "2025-11-25"))}, []string{"1 -32602"}},
		{"metadata in other letters", modernHello, []string{request("1", "tools/list", strings.ReplaceAll(modernMeta, "_meta", "_META"))}, []string{"1 -32602"}},
		{"metadata is not an object", modernHello, []string{request("1", "tools/list", `"_meta":7`)}, []string{"1 -32602"}},
		{"metadata without capabilities", modernHello, []string{request("1", "tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`)}, []string{"1 -32602"}},
		{"metadata without client", modernHello, []string{request("1", "tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`)}, []string{"1 ok"}},
		{"version of the future", modernHello, []string{request("1", "tools/list", strings.ReplaceAll(modernMeta, "2026-07-28", "2027-01-01"))}, []string{"1 -32022"}},
		{
			"version of the future, then the older lifecycle", "",
			[]string{request("1", "server/discover", strings.ReplaceAll(modernMeta, "2026-07-28", "2027-01-01")), legacyHello, request("2", "ping", "")},
			[]string{"1 -32022", `"hello" ok`, "2 ok"},
		},
		{"initialize with modern metadata", modernHello, []string{request("1", "initialize", `"protocolVersion":"2025-11-25",`+modernMeta)}, []string{"1 -32601"}},
		{"ping with modern metadata", modernHello, []string{request("1", "ping", modernMeta)}, []string{"1 -32601"}},
		{"setLevel with modern metadata", modernHello, []string{request("1", "logging/setLevel", `"level":"debug",`+modernMeta)}, []string{"1 -32601"}},
		{"ping before the handshake", "", []string{request("1", "ping", "")}, []string{"1 ok"}},
		{"requests before initialized", legacyHello, []string{bare}, []string{"1 ok"}},
		{"second initialize", legacyHello, []string{strings.Replace(legacyHello, `"hello"`, "1", 1)}, []string{"1 -32600"}},
		{"initialize without params", "", []string{`{"jsonrpc":"2.0","id":1,"method":"initialize"}`}, []string{"1 -32602"}},
		{"initialize with array params", "", []string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}`}, []string{"1 -32602"}},
		{"initialize with wrong types", "", []string{strings.Replace(strings.Replace(legacyHello, `"2025-11-25"`, "5", 1), `"hello"`, "1", 1)}, []string{"1 -32602"}},
		{"initialize without client", "", []string{request("1", "initialize", `"protocolVersion":"2025-11-25","capabilities":{}`)}, []string{"1 -32602"}},
		{"initialize once more after a refusal", "", []string{request("1", "initialize", ""), legacyHello}, []string{"1 -32602", `"hello" ok`}},
		{"prompts on a server of tools", legacyHello, []string{request("1", "prompts/list", ""), request("2", "resources/list", ""), request("3", "logging/setLevel", `"level":"debug"`)}, []string{"1 -32601", "2 -32601", "3 -32601"}},
		{"prompts in the newer lifecycle", modernHello, []string{request("1", "prompts/list", modernMeta)}, []string{"1 -32601"}},
		{"unknown method", legacyHello, []string{request("1", "no/such", "")}, []string{"1 -32601"}},
		{"unknown notification", legacyHello, []string{`{"jsonrpc":"2.0","method":"notifications/no-such"}`}, nil},
		{"notification without metadata", modernHello, []string{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`}, nil},
		{"cancelled without, unknown and odd ids", legacyHello, []string{
			`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1.5}}`,
		}, nil},
	}
}

func callCases() []hostileCase {
	return []hostileCase{
		{"good call", legacyHello, []string{callTool("1", "echo", `{"text":"x"}`)}, []string{"1 ok"}},
		{"good call in the newer lifecycle", modernHello, []string{callTool("1", "echo", `{"text":"x"}`, modernMeta)}, []string{"1 ok"}},
		{"unknown tool", legacyHello, []string{callTool("1", "no-such", `{}`)}, []string{"1 -32602"}},
		{"unknown argument", legacyHello, []string{callTool("1", "echo", `{"text":"x","more":1}`)}, []string{"1 isError"}},
		{"missing argument", legacyHello, []string{callTool("1", "echo", `{}`)}, []string{"1 isError"}},
		{"argument of the wrong type", legacyHello, []string{callTool("1", "echo", `{"text":5}`)}, []string{"1 isError"}},
		{"argument in other letters", legacyHello, []string{callTool("1", "echo", `{"TEXT":"x"}`)}, []string{"1 isError"}},
		{"arguments are an array", legacyHello, []string{callTool("1", "echo", `[]`)}, []string{"1 isError"}},
		{"arguments are null", legacyHello, []string{callTool("1", "panics", `null`)}, []string{"1 internal_error"}},
		{"tool name is a number", legacyHello, []string{request("1", "tools/call", `"name":5`)}, []string{"1 -32602"}},
		{"call without params", legacyHello, []string{`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`}, []string{"1 -32600"}},
		{"call as a notification", legacyHello, []string{`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"panics"}}`}, nil},
		{"panic", legacyHello, []string{callTool("1", "panics", `{}`)}, []string{"1 internal_error"}},
		{"panic in the newer lifecycle", modernHello, []string{callTool("1", "panics", `{}`, modernMeta)}, []string{"1 internal_error"}},
		{"error that is not of the protocol", legacyHello, []string{callTool("1", "fails", `{}`)}, []string{"1 -32603"}},
		{"cursor of the wrong kind", legacyHello, []string{request("1", "tools/list", `"cursor":5`), request("2", "tools/list", `"cursor":"no-such"`)}, []string{"1 -32602", "2 -32602"}},
	}
}

func TestRunStdioServesTheNewerLifecycleWithoutDiscover(t *testing.T) {
	t.Parallel()
	run := runStdio(t, newTestTools().server(), nil)
	run.send(request("1", "tools/list", modernMeta))
	if got := run.next(); got.summary() != "1 ok" {
		t.Fatalf("first request = %.300s, want ok", got.raw)
	}
	run.probe(modernHello)
}

func TestRunStdioAnswersTellNothingOfTheEngine(t *testing.T) {
	t.Parallel()
	for _, tc := range append(append(malformedCases(), lifecycleCases()...), callCases()...) {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			run := runStdio(t, newTestTools().server(), nil)
			if tc.hello != "" {
				run.send(tc.hello)
				run.next()
			}
			run.send(tc.lines...)
			for range tc.want {
				got := run.next()
				for _, leak := range []string{"mcp.", "V2", "Go struct", "secret", `"code":0`} {
					if strings.Contains(got.raw, leak) {
						t.Errorf("the answer %.300s holds %q", got.raw, leak)
					}
				}
			}
		})
	}
}
