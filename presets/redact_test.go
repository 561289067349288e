package presets

import (
	"encoding/json"
	"strings"
	"testing"
)

// W22: what a person is shown and what is kept with a grant holds no secret, and nothing that fools the eye.
func TestPreview(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, arguments, want string }{
		{"plain", `{"command":"ls && cat <a >b", "n":1e3}`, `{"command":"ls && cat <a >b","n":1000}`},
		{"a secret key", `{"password":"hunter2","user":"ann"}`, `{"password":"[masked]","user":"ann"}`},
		{"a secret key inside", `{"a":[{"api_key":"x1"},{"apiKey":"x2"},{"API-KEY":"x3"}]}`, `{"a":[{"api_key":"[masked]"},{"apiKey":"[masked]"},{"API-KEY":"[masked]"}]}`},
		{"a number under a secret name", `{"max_tokens":5}`, `{"max_tokens":5}`},
		{"an OpenAI key", `{"c":"run sk-proj-abcdefghijklmnop1234 now"}`, `{"c":"run [masked] now"}`},
		{"a GitHub token", `{"c":"ghp_abcdefghijklmnopqrstuvwxyz0123456789"}`, `{"c":"[masked]"}`},
		{"an AWS key", `{"c":"AKIAABCDEFGHIJKLMNOP"}`, `{"c":"[masked]"}`},
		{"a bearer token", `{"c":"curl -H 'Authorization: Bearer abc.def.ghi'"}`, `{"c":"curl -H 'Authorization: Bearer [masked]'"}`},
		{"a password in a command", `{"c":"mysql --password=hunter2 db"}`, `{"c":"mysql --password=[masked] db"}`},
		{"a password in a URL", `{"c":"git clone https://ann:hunter2@host/x"}`, `{"c":"git clone https://ann:[masked]@host/x"}`},
		{"a private key", `{"c":"-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----"}`, `{"c":"[masked]"}`},
		{"a terminal escape", `{"c":"\u001b[2Jhello"}`, `{"c":"\u001b[2Jhello"}`},
		{"a turn of direction", "{\"c\":\"a\u202etxt.exe\"}", `{"c":"a\u202etxt.exe"}`},
		{"a character of no width", "{\"c\":\"r\u200bm\"}", `{"c":"r\u200bm"}`},
		{"a control character of the second block", "{\"c\":\"\u009b2J\"}", `{"c":"\u009b2J"}`},
		{"a space that is none", "{\"c\":\"a\u00a0b\"}", `{"c":"a\u00a0b"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			args, err := readArguments(json.RawMessage(test.arguments))
			must(t, err)
			if got := args.preview(); got != test.want {
				t.Errorf("preview = %s, want %s", got, test.want)
			}
		})
	}
	long, err := readArguments(json.RawMessage(`{"c":"` + strings.Repeat("x", 10_000) + `"}`))
	must(t, err)
	if got := long.preview(); len(got) > 300 || !strings.HasSuffix(got, "…") {
		t.Errorf("a long preview has %d bytes", len(got))
	}
}

func TestCleanReason(t *testing.T) {
	t.Parallel()
	for reason, want := range map[string]string{
		"":                               "",
		"  to\n look\tat it ":            "to look at it",
		"\x1b[31mred":                    `\u001b[31mred`,
		"with sk-abcdefghijklmnopqrstuv": "with [masked]",
		strings.Repeat("x", 600):         strings.Repeat("x", 500) + "…",
	} {
		if got := cleanReason(reason); got != want {
			t.Errorf("cleanReason(%q) = %q, want %q", reason, got, want)
		}
	}
}

// FuzzArguments: any text is refused or becomes arguments that say the same in every form.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":1e2,"b":[1.50,-0,{"c":"\u00e9"}]}`, `{"password":"x"}`, `{"n":123456789012345678901234567890}`, `{"n":1e-999}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		args, err := readArguments(json.RawMessage(text))
		if err != nil {
			return
		}
		again, err := readArguments(args.plain)
		if err != nil {
			t.Fatalf("the plain form %s of %s is refused: %v", args.plain, text, err)
		}
		if string(again.canonical) != string(args.canonical) {
			t.Fatalf("%s: the plain form %s means %s, not %s", text, args.plain, again.canonical, args.canonical)
		}
		if preview := args.preview(); strings.ContainsFunc(preview, unseen) || len([]rune(preview)) > 6*300 {
			t.Fatalf("%s: the preview %q is not fit for a screen", text, preview)
		}
	})
}
