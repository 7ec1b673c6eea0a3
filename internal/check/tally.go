package check

import (
	"fmt"

	"github.com/ffconvert/ffconvert/internal/findings"
)

// A tally collects the findings of one part, or of the whole dataset.
type tally struct {
	found  []findings.Finding // listed one by one, up to maxEach per rule
	each   map[string]int     // number of findings in found, by rule
	groups groups
}

// add adds a finding, or counts it if found has maxEach findings of its rule.
func (t *tally) add(f findings.Finding) {
	if t.each[f.Rule] == maxEach {
		t.groups.add(f.Rule, moreOfThem, f.Place, 1)
		return
	}
	if t.each == nil {
		t.each = make(map[string]int)
	}
	t.each[f.Rule]++
	t.found = append(t.found, f)
}

// moreOfThem is the text of a group of findings that are counted and not listed.
const moreOfThem = "and more like these"

// maxGroups bounds the groups per rule, so that a dataset in which every sample has a text of its
// own does not fill the memory. Further texts are one group.
const maxGroups = 1000

// groups counts findings by rule and text.
type groups struct {
	order []*group // in the order found
	byKey map[groupKey]*group
	texts map[string]int // number of groups, by rule
}

type groupKey struct{ rule, text string }

type group struct {
	groupKey
	first findings.Place
	hint  string
	count int64
	files int64 // parts with such findings
}

// add adds n findings, the first of them at a place, and returns their group.
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

// merge adds the groups of the next part. It must be called in the order of parts.
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

// findings returns one finding for each group, in the order found.
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
