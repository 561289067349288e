package bounded

import (
	"regexp"
	"strings"
	"sync"
)

// masked is what stands where a secret stood.
const masked = "[masked]"

// secretRules compiles the rules once. Each keeps its first group and masks the rest of the match.
var secretRules = sync.OnceValue(func() []*regexp.Regexp { //nolint:gochecknoglobals // A constant in all but name: compiled once, never changed.
	rules := []string{
		// Keys with a vendor's prefix.
		`()\b(?:sk|pk|rk)-(?:ant-|proj-|live-|test-|or-v1-)?[A-Za-z0-9_-]{16,}`,
		`()\b(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{16,}`,
		`()\bgh[pousr]_[A-Za-z0-9]{20,}`,
		`()\bgithub_pat_[A-Za-z0-9_]{20,}`,
		`()\bglpat-[A-Za-z0-9_-]{16,}`,
		`()\bxox[abeoprs]-[A-Za-z0-9-]{10,}`,
		`()\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`,
		`()\bAIza[A-Za-z0-9_-]{30,}`,
		`()\bya29\.[A-Za-z0-9_-]{20,}`,
		`()\bnpm_[A-Za-z0-9]{30,}`,
		`()\bpypi-[A-Za-z0-9_-]{30,}`,
		`()\bhf_[A-Za-z0-9]{20,}`,
		`()\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`,
		`()\bdop_v1_[a-f0-9]{40,}`,
		`()\bAGE-SECRET-KEY-1[A-Z0-9]{40,}`,
		// JSON web tokens and private keys.
		`()\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)?`,
		`(?s)(-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----).*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\z)`,
		// The end of a private key whose beginning is cut off.
		`()[A-Za-z0-9+/=\s\\]{16,}-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----`,
		// Whatever is sent as a credential, is part of an address, or is named as a secret.
		`(?i)(\b(?:authorization|proxy-authorization)["']?\s*[:=]\s*["']?(?:bearer|basic|token)?\s*)[A-Za-z0-9._~+/=-]{8,}`,
		`(?i)(\bbearer\s+)[A-Za-z0-9._~+/=-]{16,}`,
		`(\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@"']{0,200}:)[^\s/@"']{3,200}@`,
		`(?i)((?:[a-z0-9_-]{0,40}(?:api[_-]?key|secret|password|passwd|access[_-]?token|auth[_-]?token|refresh[_-]?token|client[_-]?token|private[_-]?key|credential)s?)["']?\s*[:=]\s*["']?)[^\s"',;}]{6,}`,
	}
	out := make([]*regexp.Regexp, len(rules))
	for i, rule := range rules {
		out[i] = regexp.MustCompile(rule)
	}
	return out
})

// Mask replaces what looks like a secret in a text: keys and tokens with a known prefix, private keys, web tokens,
// passwords in addresses, and values that are named as secrets. It is a net with holes, for text that is shown; it is
// no licence to publish. It may run for a time linear in the length of the text.
func Mask(text string) string {
	for _, rule := range secretRules() {
		text = rule.ReplaceAllString(text, "${1}"+masked)
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
