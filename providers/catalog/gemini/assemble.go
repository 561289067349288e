package gemini

import (
	"cmp"
	"strings"

	"agentd/providers/catalog"
)

// placeOf notes, in Details.Ref of a session, what its project is found by.
func placeOf(folder, hash string) string { return hash + " " + folder }

// Assemble implements [catalog.Assembler]: it finds the projects of the sessions, and adds what a person typed.
func (Reader) Assemble(a *catalog.Assembly) []catalog.Session {
	folders, hashes := map[string]string{}, map[string]string{}
	learn := func(s catalog.Session) {
		if _, ok := folders[s.Ref]; !ok && s.ProjectPath != "" && s.Ref != "" {
			folders[s.Ref] = s.ProjectPath
		}
		hashes[hashOf(s.ProjectPath)] = s.ProjectPath
	}
	for _, s := range a.All(kindRoot) { // Those below tmp come first.
		learn(s)
	}
	for _, s := range a.All(kindProjects) {
		learn(s)
	}
	for _, s := range a.All(kindTrusted) {
		learn(s)
	}
	logs := map[string]catalog.Session{}
	for _, s := range a.All(kindLogs) {
		logs[s.ID] = s
	}
	var out []catalog.Session
	for _, part := range a.Parts {
		if part.Unit.Kind != kindLines && part.Unit.Kind != kindObject {
			continue
		}
		for _, s := range part.Sessions {
			hash, folder, _ := strings.Cut(s.Ref, " ")
			s.ProjectPath = cmp.Or(folders[folder], hashes[folder], hashes[hash], s.ProjectPath)
			s.Ref = ""
			if typed, ok := logs[s.ID]; ok && len(s.Prompts) == 0 && s.Relation != catalog.SubAgent {
				s.Prompts = typed.Prompts
			}
			out = append(out, s)
		}
	}
	return out
}
