package check

import (
	"fmt"

	"github.com/ffconvert/ffconvert/findings"
)

// A tally is what was found in one part, or what only the whole dataset shows.
type tally struct {
	found  []findings.Finding // one by one, up to MaxEach of a rule
	each   map[string]int     // how many of found are of a rule
	groups groups
}

// add takes a finding of its own.
func (t *tally) add(f findings.Finding) {
	if t.each[f.Rule] == MaxEach {
		t.groups.add(f.Rule, moreOfThem, f.Place, 1)
		return
	}
	if t.each == nil {
		t.each = make(map[string]int)
	}
	t.each[f.Rule]++
	t.found = append(t.found, f)
}

// moreOfThem is the text of what is counted and not listed.
const moreOfThem = "and more like these"

// maxGroups bounds how many texts of one rule are told apart. What a dataset has more of,
// is noise.
const maxGroups = 1000

// groups are findings that are told of together: one for each rule and text.
type groups struct {
	order []*group // as they were found
	byKey map[groupKey]*group
	texts map[string]int // of each rule
}

type groupKey struct{ rule, text string }

type group struct {
	groupKey
	first findings.Place
	hint  string
	count int64
	files int64 // parts that have it
}

// add counts n findings of which the first is at a place. It returns their group.
func (g *groups) add(rule, text string, at findings.Place, n int64) *group {
	key := groupKey{rule, text}
	known := g.byKey[key]
	if known == nil && g.texts[rule] >= maxGroups {
		key.text = moreOfThem
		known = g.byKey[key]
	}
	if known == nil {
		if g.byKey == nil {
			g.byKey, g.texts = make(map[groupKey]*group), make(map[string]int)
		}
		known = &group{groupKey: key, first: at, files: 1}
		g.byKey[key] = known
		g.texts[rule]++
		g.order = append(g.order, known)
	}
	known.count += n
	return known
}

// merge adds the groups of the next part.
func (g *groups) merge(part *groups) {
	for _, p := range part.order {
		n := len(g.order)
		known := g.add(p.rule, p.text, p.first, p.count)
		if known.hint == "" {
			known.hint = p.hint
		}
		if len(g.order) == n {
			known.files += p.files
		}
	}
}

// findings returns a finding for each group.
func (g *groups) findings() []findings.Finding {
	var all []findings.Finding
	for _, p := range g.order {
		f := findings.Finding{Rule: p.rule, Place: p.first, Text: p.text, Hint: p.hint, Count: p.count}
		if p.files > 1 {
			f.Text += fmt.Sprintf(", in %d parts", p.files)
		}
		all = append(all, f)
	}
	return all
}
