package catalog

import "strings"

// Agent is the canonical name (slug) of a coding agent whose store can be read, such as "claude". It is what stands in
// keys, arguments and answers.
type Agent string

// The agents, in their order in listings; it also breaks ties between sessions of the same time.
const (
	Claude      Agent = "claude"
	Codex       Agent = "codex"
	Grok        Agent = "grok"
	Kimi        Agent = "kimi"
	Qwen        Agent = "qwen"
	OpenCode    Agent = "opencode"
	Pi          Agent = "pi"
	OhMyPi      Agent = "oh-my-pi"
	Kiro        Agent = "kiro"
	Cursor      Agent = "cursor"
	Gemini      Agent = "gemini"
	Hermes      Agent = "hermes"
	Yolop       Agent = "yolop"
	PrimeAgent  Agent = "prime-agent"
	Antigravity Agent = "antigravity"
	Muse        Agent = "muse"
	Agentd      Agent = "agentd"
)

// AgentInfo is what is known of an agent without looking at its store.
type AgentInfo struct {
	// ID is the canonical name.
	ID Agent
	// Name is for people.
	Name string
	// Command is the name of the agent's program as it is usually installed.
	Command string
	// Aliases are other spellings that [ParseAgent] takes.
	Aliases []string
}

// Agents returns all known agents in order. The caller owns the slice.
func Agents() []AgentInfo {
	return []AgentInfo{
		{ID: Claude, Name: "Claude Code", Command: "claude", Aliases: []string{"claude-code"}},
		{ID: Codex, Name: "Codex", Command: "codex", Aliases: []string{"codex-cli"}},
		{ID: Grok, Name: "Grok Build", Command: "grok", Aliases: []string{"grok-build", "xai", "xai-grok"}},
		{ID: Kimi, Name: "Kimi Code", Command: "kimi", Aliases: []string{"kimi-code", "kimi-cli"}},
		{ID: Qwen, Name: "Qwen Code", Command: "qwen", Aliases: []string{"qwen-code"}},
		{ID: OpenCode, Name: "OpenCode", Command: "opencode", Aliases: []string{"open-code"}},
		{ID: Pi, Name: "pi", Command: "pi"},
		{ID: OhMyPi, Name: "Oh My Pi", Command: "omp", Aliases: []string{"omp", "ohmypi"}},
		{ID: Kiro, Name: "Kiro", Command: "kiro-cli", Aliases: []string{"kiro-cli"}},
		{ID: Cursor, Name: "Cursor CLI", Command: "cursor-agent", Aliases: []string{"cursor-cli", "cursor-agent"}},
		{ID: Gemini, Name: "Gemini", Command: "gemini", Aliases: []string{"gemini-cli"}},
		{ID: Hermes, Name: "Hermes", Command: "hermes", Aliases: []string{"hermes-agent"}},
		{ID: Yolop, Name: "Yolop", Command: "yolop"},
		{ID: PrimeAgent, Name: "Prime Agent", Command: "prime-agent", Aliases: []string{"prime", "prime-intellect"}},
		{ID: Antigravity, Name: "Antigravity CLI", Command: "agy", Aliases: []string{"agy", "antigravity-cli"}},
		{ID: Muse, Name: "Muse Code", Command: "muse", Aliases: []string{"muse-code"}},
		{ID: Agentd, Name: "agentd", Command: "agentd"},
	}
}

// ParseAgent finds an agent by its name or an alias. Case, surrounding blanks, and the difference between a blank, an
// underscore and a hyphen do not matter.
func ParseAgent(name string) (Agent, bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	name = strings.NewReplacer(" ", "-", "_", "-").Replace(name)
	for _, info := range Agents() {
		if string(info.ID) == name {
			return info.ID, true
		}
		for _, alias := range info.Aliases {
			if alias == name {
				return info.ID, true
			}
		}
	}
	return "", false
}

// Info returns what is known of the agent; for one that is not known, its name alone.
func (a Agent) Info() AgentInfo {
	for _, info := range Agents() {
		if info.ID == a {
			return info
		}
	}
	return AgentInfo{ID: a, Name: string(a), Command: string(a)}
}

// order is the agent's place in [Agents].
func (a Agent) order() int {
	agents := Agents()
	for i, info := range agents {
		if info.ID == a {
			return i
		}
	}
	return len(agents)
}
