package screen_test

import (
	"testing"

	"agentd/cmd/internal/screen"
)

func TestEncodeJSONEscapesControls(t *testing.T) {
	t.Parallel()
	line, err := screen.EncodeJSON(map[string]string{"text": "a\x1b\x7f\u009b<é"})
	if want := `{"text":"a\u001b\u007f\u009b<é"}` + "\n"; err != nil || string(line) != want {
		t.Errorf("encodeJSON = %q, %v, want %q", line, err, want)
	}
}
