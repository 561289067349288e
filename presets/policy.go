package presets

import (
	"fmt"
	"maps"

	"agentd/messages"
)

// Rule is what a policy says about a risk.
type Rule string

// The rules.
const (
	// RuleAuto approves without asking.
	RuleAuto Rule = "auto"
	// RuleAsk asks a person, unless a grant covers the call.
	RuleAsk Rule = "ask"
	// RuleDeny denies, whatever grants there are.
	RuleDeny Rule = "deny"
)

// Policy gives each risk its rule. A risk that is not in it is asked for.
type Policy map[messages.Risk]Rule

// DefaultPolicy runs what is normal and asks for everything else.
func DefaultPolicy() Policy {
	return Policy{
		messages.RiskNormal:          RuleAuto,
		messages.RiskFilesystemRead:  RuleAsk,
		messages.RiskFilesystemWrite: RuleAsk,
		messages.RiskDestructive:     RuleAsk,
		messages.RiskShell:           RuleAsk,
	}
}

// Rule returns the rule for a risk. Normal is always approved; an unknown risk is always denied, so that a fault never
// loosens anything.
func (p Policy) Rule(risk messages.Risk) Rule {
	switch {
	case risk == messages.RiskNormal:
		return RuleAuto
	case risk.Level() < 0:
		return RuleDeny
	}
	if rule, set := p[risk]; set {
		return rule
	}
	return RuleAsk
}

// Validate returns an error that wraps [ErrInvalid] and names the unknown risk or rule.
func (p Policy) Validate() error {
	for risk, rule := range p {
		if err := risk.Validate(); err != nil {
			return fmt.Errorf("approval policy: %w: %w", ErrInvalid, err)
		}
		if rule != RuleAuto && rule != RuleAsk && rule != RuleDeny {
			return fmt.Errorf("approval policy: %w: the rule %.40q for %s: use %q, %q or %q", ErrInvalid, string(rule), risk, RuleAuto, RuleAsk, RuleDeny)
		}
	}
	return nil
}

// Clone returns a policy that shares nothing that can change.
func (p Policy) Clone() Policy { return maps.Clone(p) }
