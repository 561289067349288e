package readers

import (
	"agentd/providers/catalog"
	"agentd/providers/catalog/agentd"
	"agentd/providers/catalog/antigravity"
	"agentd/providers/catalog/claude"
	"agentd/providers/catalog/codex"
	"agentd/providers/catalog/cursor"
	"agentd/providers/catalog/gemini"
	"agentd/providers/catalog/grok"
	"agentd/providers/catalog/hermes"
	"agentd/providers/catalog/kimi"
	"agentd/providers/catalog/kiro"
	"agentd/providers/catalog/muse"
	"agentd/providers/catalog/ohmypi"
	"agentd/providers/catalog/opencode"
	"agentd/providers/catalog/pi"
	"agentd/providers/catalog/prime"
	"agentd/providers/catalog/qwen"
	"agentd/providers/catalog/yolop"
)

// All returns one reader for each agent. The catalog orders them; here they stand in alphabetical order, one a
// line.
func All() []catalog.Reader {
	return []catalog.Reader{
		agentd.New(),
		antigravity.New(),
		claude.New(),
		codex.New(),
		cursor.New(),
		gemini.New(),
		grok.New(),
		hermes.New(),
		kimi.New(),
		kiro.New(),
		muse.New(),
		ohmypi.New(),
		opencode.New(),
		pi.New(),
		prime.New(),
		qwen.New(),
		yolop.New(),
	}
}
