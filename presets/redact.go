package presets

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

const (
	// maxReasonRunes is how much of a reason a person is shown.
	maxReasonRunes = 500
	// masked stands for a secret.
	masked = "[masked]"
)

var (
	// secretKey matches names of arguments that hold secrets.
	secretKey = regexp.MustCompile(`(?i)(passw(or)?d|passphrase|secret|token|api[-_]?key|private[-_]?key|access[-_]?key|authorization|credential|cookie)`)
	// secretValue matches texts that are secrets wherever they stand.
	secretValue = regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(-----END [A-Z ]*PRIVATE KEY-----|$)` +
		`|\bsk-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}` +
		`|\b(AKIA|ASIA)[0-9A-Z]{16}\b|\bxox[a-z]-[A-Za-z0-9-]{10,}|\bAIza[0-9A-Za-z_-]{30,}|\bnpm_[A-Za-z0-9]{30,}` +
		`|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`)
	// secretPart matches a secret behind a word that tells of it; the word is kept.
	secretPart = regexp.MustCompile(`(?i)(\bbearer\s+|\bbasic\s+|(?:passw(?:or)?d|secret|token|api[-_]?key|access[-_]?key)["']?\s*[=:]\s*["']?|://[^/\s:@]+:)([^\s"'@&;|]{4,})`)
)

// cleanReason makes a text from a model fit for a person's screen: one line, cut, nothing that a terminal obeys.
func cleanReason(reason string) string {
	return cutRunes(visible(maskText(strings.Join(strings.Fields(reason), " "))), maxReasonRunes)
}

// mask returns the JSON value with its secrets masked. It changes the value in place.
func mask(value any) any {
	switch v := value.(type) {
	case string:
		return maskText(v)
	case []any:
		for i := range v {
			v[i] = mask(v[i])
		}
	case map[string]any:
		for key, member := range v {
			if text, ok := member.(string); ok && text != "" && secretKey.MatchString(key) {
				v[key] = masked
				continue
			}
			v[key] = mask(member)
		}
	}
	return value
}

func maskText(text string) string {
	return secretPart.ReplaceAllString(secretValue.ReplaceAllString(text, masked), "${1}"+masked)
}

// visible spells out every character that cannot be seen or that moves a cursor or the direction of writing, so that
// what a person reads is what is there.
func visible(text string) string {
	if strings.IndexFunc(text, unseen) < 0 {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if unseen(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

func unseen(r rune) bool {
	return r != ' ' && !unicode.IsGraphic(r) || unicode.Is(unicode.Zs, r) && r != ' '
}

func cutRunes(text string, limit int) string {
	count := 0
	for i := range text {
		if count == limit {
			return text[:i] + "…"
		}
		count++
	}
	return text
}
