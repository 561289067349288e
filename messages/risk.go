package messages

import "fmt"

// Risk says what a tool may do to the person's machine. The zero value is no risk
// class and is refused by [Risk.Validate].
type Risk string

// The five risk classes, from the mildest to the strictest.
const (
	RiskNormal          Risk = "normal"
	RiskFilesystemRead  Risk = "filesystem-read"
	RiskFilesystemWrite Risk = "filesystem-write"
	RiskDestructive     Risk = "destructive"
	RiskShell           Risk = "shell"
)

// Risks returns all classes, the mildest first.
func Risks() []Risk {
	return []Risk{RiskNormal, RiskFilesystemRead, RiskFilesystemWrite, RiskDestructive, RiskShell}
}

// Level is the place of the risk in [Risks], from 0, or -1 for an unknown one.
func (r Risk) Level() int {
	switch r {
	case RiskNormal:
		return 0
	case RiskFilesystemRead:
		return 1
	case RiskFilesystemWrite:
		return 2
	case RiskDestructive:
		return 3
	case RiskShell:
		return 4
	default:
		return -1
	}
}

// Validate returns an error that names an unknown risk and lists the known ones.
func (r Risk) Validate() error {
	if r.Level() < 0 {
		return fmt.Errorf("unknown risk %q: use one of %v", string(r), Risks())
	}
	return nil
}

// Stricter returns the stricter of two risks. An unknown risk counts as stricter
// than every known one, so that a fault never loosens anything.
func Stricter(a, b Risk) Risk {
	switch {
	case a.Level() < 0:
		return a
	case b.Level() < 0 || b.Level() > a.Level():
		return b
	default:
		return a
	}
}
