package catalog

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The scoring of fuzzy matches, in the numbers of the original's matcher, so that results rank alike.
const (
	scoreMatch       = 16
	gapStart         = 3
	gapExtension     = 1
	bonusBoundary    = scoreMatch / 2
	bonusWhite       = bonusBoundary + 2
	bonusDelimiter   = bonusBoundary + 1
	bonusCamel       = bonusBoundary - gapStart
	bonusConsecutive = gapStart + gapExtension
	firstFactor      = 2
)

// maxHaystack bounds the characters that a word is matched against, and with it the work for one session.
const maxHaystack = 8192

type charClass uint8

const (
	classWhite charClass = iota
	classNonWord
	classDelimiter
	classLower
	classUpper
	classLetter
	classNumber
)

// pattern is one word, folded for comparison.
type pattern struct {
	runes []rune
	// ascii is the word again, when it is of ASCII alone.
	ascii []byte
	// accents is true when the word has accents: then they matter.
	accents bool
}

func newPattern(word string) pattern {
	p := pattern{}
	for _, r := range word {
		if plain(r) != r {
			p.accents = true
		}
		p.runes = append(p.runes, unicode.ToLower(r))
	}
	for _, r := range p.runes {
		if r >= 0x80 {
			return p
		}
	}
	p.ascii = []byte(string(p.runes))
	return p
}

// plain returns a Latin letter without its accents, and every other character as it is.
func plain(r rune) rune {
	if r < 0xC0 || (r > 0x24F && (r < 0x1E00 || r > 0x1EFF)) {
		return r
	}
	d := norm.NFD.AppendString(nil, string(r))
	if d[0] < 0x80 {
		return rune(d[0])
	}
	return r
}

func classOf(r rune) charClass {
	switch {
	case r >= 'a' && r <= 'z':
		return classLower
	case r >= 'A' && r <= 'Z':
		return classUpper
	case r >= '0' && r <= '9':
		return classNumber
	case r == '/' || r == ',' || r == ':' || r == ';' || r == '|':
		return classDelimiter
	case r == ' ' || unicode.IsSpace(r):
		return classWhite
	case r < 0x80:
		return classNonWord
	case unicode.IsLower(r):
		return classLower
	case unicode.IsUpper(r):
		return classUpper
	case unicode.IsNumber(r):
		return classNumber
	case unicode.IsLetter(r):
		return classLetter
	default:
		return classNonWord
	}
}

// bonus is what a match at a place is worth because of the character before it.
func bonus(prev, class charClass) int {
	if class > classDelimiter {
		switch prev {
		case classWhite:
			return bonusWhite
		case classDelimiter:
			return bonusDelimiter
		case classNonWord:
			return bonusBoundary
		default:
		}
	}
	switch {
	case prev == classLower && class == classUpper, prev != classNumber && class == classNumber:
		return bonusCamel
	case class == classWhite:
		return bonusWhite
	case class == classNonWord:
		return bonusBoundary
	default:
		return 0
	}
}

// matcher scores words against one haystack after the other, reusing its memory. It is not safe for concurrent use.
type matcher struct {
	parts                      []string // the haystack
	spread                     bool     // whether the runes below are those of parts; most haystacks never need them
	original, folded, accented []rune
	bonuses                    []int // empty until a word matches; most never do
	row                        []cell
}

// cell is the best way to have matched a prefix of the word with its last character at one place.
type cell struct {
	score, run int // run is the bonus that goes on while characters follow one another
	ok         bool
}

// setHaystack sets the texts to match against, as if they were one with blanks between them.
func (m *matcher) setHaystack(parts []string) { m.parts, m.spread = parts, false }

// lacks reports whether the characters of an ASCII word do not occur in order. It looks at the bytes, and says nothing, which is false, when
// the texts are not ASCII.
func (m *matcher) lacks(word []byte) bool {
	at, n := 0, 0
	for i, part := range m.parts {
		if i > 0 && word[at] == ' ' {
			if at++; at == len(word) {
				return false
			}
		}
		if n += len(part) + 1; n > maxHaystack {
			return false
		}
		for j := range len(part) {
			b := part[j]
			if b >= 'A' && b <= 'Z' {
				b += 'a' - 'A'
			}
			if b >= 0x80 {
				return false
			}
			if b == word[at] {
				if at++; at == len(word) {
					return false
				}
			}
		}
	}
	return true
}

// spreadOut makes the runes of the haystack.
func (m *matcher) spreadOut() {
	if m.spread {
		return
	}
	m.spread = true
	m.original, m.folded, m.accented, m.bonuses = m.original[:0], m.folded[:0], m.accented[:0], m.bonuses[:0]
	for i, part := range m.parts {
		if i > 0 {
			m.add(' ')
		}
		for _, r := range part {
			m.add(r)
		}
	}
}

// add adds a character to the haystack, unless it is full.
func (m *matcher) add(r rune) {
	if len(m.original) == maxHaystack {
		return
	}
	lower, bare := r, r
	switch {
	case r >= 'A' && r <= 'Z':
		lower += 'a' - 'A'
		bare = lower
	case r >= 0x80:
		lower, bare = unicode.ToLower(r), unicode.ToLower(plain(r))
	}
	m.original, m.accented, m.folded = append(m.original, r), append(m.accented, lower), append(m.folded, bare)
}

// weigh finds the bonus of each place.
func (m *matcher) weigh() {
	if len(m.bonuses) > 0 {
		return
	}
	prev := classWhite
	for _, r := range m.original {
		class := classOf(r)
		m.bonuses = append(m.bonuses, bonus(prev, class))
		prev = class
	}
}

// score returns the score of the best match of the word's characters, in order and with gaps, and whether there is one.
func (m *matcher) score(p pattern) (int, bool) {
	if len(p.ascii) > 0 && m.lacks(p.ascii) {
		return 0, false
	}
	m.spreadOut()
	hay := m.folded
	if p.accents {
		hay = m.accented
	}
	start, ok := subsequence(hay, p.runes)
	if !ok {
		return 0, false
	}
	m.weigh()
	if cap(m.row) < len(hay) {
		m.row = make([]cell, len(hay))
	}
	row := m.row[:len(hay)]
	for j := start; j < len(hay); j++ {
		row[j] = cell{}
		if hay[j] == p.runes[0] {
			row[j] = cell{score: scoreMatch + m.bonuses[j]*firstFactor, run: m.bonuses[j], ok: true}
		}
	}
	for _, r := range p.runes[1:] {
		m.next(row, hay, start, r)
	}
	best := 0
	for _, c := range row[start:] {
		if c.ok {
			best = max(best, c.score)
		}
	}
	return best, true
}

// next turns the row of one prefix into that of the prefix with one more character.
func (m *matcher) next(row []cell, hay []rune, start int, r rune) {
	diagonal, gap := cell{}, cell{} // the cell before, and the best of all before that one, less the gap
	for j := start; j < len(hay); j++ {
		here := row[j]
		row[j] = cell{}
		if hay[j] == r {
			row[j] = extend(diagonal, gap, m.bonuses[j])
		}
		switch {
		case gap.ok && diagonal.ok:
			gap.score = max(gap.score-gapExtension, diagonal.score-gapStart, 0)
		case gap.ok:
			gap.score = max(gap.score-gapExtension, 0)
		case diagonal.ok:
			gap = cell{score: max(diagonal.score-gapStart, 0), ok: true}
		}
		diagonal = here
	}
}

// extend adds a character with the given bonus to a match that ended just before it or behind a gap.
func extend(diagonal, gap cell, bonus int) cell {
	var out cell
	if gap.ok {
		out = cell{score: gap.score + bonus + scoreMatch, run: bonus, ok: true}
	}
	if !diagonal.ok {
		return out
	}
	run := max(diagonal.run, bonusConsecutive)
	if bonus >= bonusBoundary && bonus > run {
		run = bonus
	}
	if score := diagonal.score + max(run, bonus) + scoreMatch; !out.ok || score > out.score {
		out = cell{score: score, run: run, ok: true}
	}
	return out
}

// subsequence reports whether the characters occur in order, and where the first one does.
func subsequence(hay, word []rune) (first int, ok bool) {
	at := 0
	for i, r := range hay {
		if r == word[at] {
			if at == 0 {
				first = i
			}
			if at++; at == len(word) {
				return first, true
			}
		}
	}
	return 0, false
}
