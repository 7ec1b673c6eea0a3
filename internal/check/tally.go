package check

import (
	"cmp"
	"fmt"

	"github.com/ffconvert/ffconvert/internal/findings"
)

// A tally collects the findings of one part, or of the whole dataset.
type tally struct {
	found  []findings.Finding // listed findings, up to maxEach per rule
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

// moreOfThem is the text of a group of findings that are only counted.
const moreOfThem = "and more like these"

// maxGroups limits the groups per rule, so that a dataset in which every sample has a different text does not fill the
// memory. All further texts share one group.
const maxGroups = 1000

// groups counts findings by rule and text.
type groups struct {
	order []*group // in the order found
	byKey map[[2]string]*group
	texts map[string]int // number of groups, by rule
}

// A group is a finding and the number of findings equal to it.
type group struct {
	findings.Finding
	files int64 // parts with such findings
}

// add adds n findings, the first of them at a place, and returns their group.
func (g *groups) add(rule, text string, at findings.Place, n int64) *group {
	known := g.byKey[[2]string{rule, text}]
	if known == nil && g.texts[rule] >= maxGroups {
		text = moreOfThem
		known = g.byKey[[2]string{rule, text}]
	}
	if known == nil {
		if g.byKey == nil {
			g.byKey, g.texts = make(map[[2]string]*group), make(map[string]int)
		}
		known = &group{findings.Finding{Rule: rule, Place: at, Text: text}, 1}
		g.byKey[[2]string{rule, text}] = known
		g.texts[rule]++
		g.order = append(g.order, known)
	}
	known.Count += n
	return known
}

// merge adds the groups of the next part. It must be called in the order of parts.
func (g *groups) merge(part *groups) {
	for _, p := range part.order {
		n := len(g.order)
		known := g.add(p.Rule, p.Text, p.Place, p.Count)
		known.Hint = cmp.Or(known.Hint, p.Hint)
		if len(g.order) == n {
			known.files += p.files
		}
	}
}

// findings returns one finding for each group, in the order found.
func (g *groups) findings() []findings.Finding {
	var all []findings.Finding
	for _, p := range g.order {
		f := p.Finding
		if p.files > 1 {
			f.Text += fmt.Sprintf(", in %d parts", p.files)
		}
		all = append(all, f)
	}
	return all
}
