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
	// Chats that were moved leave the transcripts of others behind.
	elsewhere := a.Env.Var(configVar) != "" && a.Env.Var(dataVar) == ""
	for _, t := range a.All(kindText) {
		if i, ok := chats[t.ID]; ok {
			complete(&out[i], t)
			continue
		}
		if elsewhere {
			a.Skip(t.StoreFile, catalog.Unresumable)
			continue
		}
		t.ProjectPath = slugs[projectOf(t.StoreFile)]
		out = append(out, t)
	}
	for _, t := range a.All(kindSubAgent) {
		i, ok := chats[t.Parent]
		switch {
		case ok:
			t.ProjectPath = out[i].ProjectPath
		case elsewhere:
			a.Skip(t.StoreFile, catalog.Unresumable)
			continue
		default:
			t.ProjectPath = slugs[projectOf(t.StoreFile)]
		}
		out = append(out, t)
	}
	for i := range out {
		out[i].Ref = ""
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
