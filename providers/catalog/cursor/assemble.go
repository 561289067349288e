package cursor

import (
	"crypto/md5" //nolint:gosec // It is how the program names folders, and protects nothing.
	"encoding/hex"
	"path/filepath"
	"strings"

	"agentd/providers/catalog"
)

// Assemble implements [catalog.Assembler]: it completes chats from transcripts, and finds directories by the names that were
// made of them.
func (Reader) Assemble(a *catalog.Assembly) []catalog.Session {
	out := a.All(kindChat)
	hashes, slugs, chats := map[string]string{}, map[string]string{}, map[string]int{}
	for i, s := range out {
		chats[s.ID] = i
		if s.ProjectPath != "" {
			hashes[folderOf(s.ProjectPath)] = s.ProjectPath
			slugs[slugOf(s.ProjectPath)] = s.ProjectPath
		}
	}
	for i := range out {
		if s := &out[i]; s.ProjectPath == "" {
			s.ProjectPath = hashes[filepath.Base(filepath.Dir(filepath.Dir(s.StoreFile)))]
		}
	}
	for _, t := range a.All(kindTranscript) {
		i, ok := chats[t.ID]
		if !ok {
			a.Skip(t.StoreFile, catalog.Unresumable)
			continue
		}
		complete(&out[i], t)
	}
	out = addTexts(a, out, chats, slugs)
	out = addSubAgents(a, out, chats, slugs)
	for i := range out {
		out[i].Ref = ""
	}
	return out
}

// addTexts completes chats from transcripts in plain text, and adds those that have no chat.
func addTexts(a *catalog.Assembly, out []catalog.Session, chats map[string]int, slugs map[string]string) []catalog.Session {
	for _, kind := range []string{kindText, kindLeftText} {
		for _, t := range a.All(kind) {
			i, ok := chats[t.ID]
			switch {
			case ok:
				complete(&out[i], t)
			case kind == kindLeftText:
				a.Skip(t.StoreFile, catalog.Unresumable)
			default:
				t.ProjectPath = slugs[projectOf(t.StoreFile)]
				out = append(out, t)
			}
		}
	}
	return out
}

// addSubAgents adds the sessions of sub-agents.
func addSubAgents(a *catalog.Assembly, out []catalog.Session, chats map[string]int, slugs map[string]string) []catalog.Session {
	for _, kind := range []string{kindSubAgent, kindLeftSubAgent} {
		for _, t := range a.All(kind) {
			i, ok := chats[t.Parent]
			switch {
			case ok:
				t.ProjectPath = out[i].ProjectPath
			case kind == kindLeftSubAgent:
				a.Skip(t.StoreFile, catalog.Unresumable)
				continue
			default:
				t.ProjectPath = slugs[projectOf(t.StoreFile)]
			}
			out = append(out, t)
		}
	}
	return out
}

// complete adds to a chat what a transcript of it tells.
func complete(s *catalog.Session, t catalog.Session) {
	if s.Ref == weakTime && t.TimeMS > 0 {
		s.TimeMS = t.TimeMS
	}
	if len(s.Prompts) == 0 {
		s.Prompts = t.Prompts
	}
}

// folderOf is how the program names the folder of a directory's chats.
func folderOf(path string) string {
	sum := md5.Sum([]byte(path)) //nolint:gosec // See the import.
	return hex.EncodeToString(sum[:])
}

// slugOf is how the program names the folder of a directory's transcripts.
func slugOf(path string) string {
	return strings.Join(strings.FieldsFunc(path, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}), "-")
}
