package check

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/ffconvert/ffconvert/internal/findings"
)

// A clash is a pair of samples with equal keys, or keys that differ in case only.
type clash struct {
	rule         string // ruleRepeatedKey or ruleCaseCollision
	first, again samplePlace
}

// shares is the number of rounds in which keys are compared. Each round sorts the hashes that have the same remainder,
// so that sorting needs 1/shares of the memory of a copy of all hashes.
const shares = 16

// clashes returns the first maxEach clashes of each rule, in the order of samples, and the number
// of all clashes by rule.
func (c *checker) clashes() (few []clash, total map[string]int64) {
	found := map[string][]clash{}
	total = map[string]int64{}
	note := func(rule string, first, again samplePlace) {
		total[rule]++
		found[rule] = append(found[rule], clash{rule, first, again})
		if len(found[rule]) >= 2*maxEach {
			found[rule] = earliest(found[rule])
		}
	}
	n := 0
	for i := range c.keys {
		for _, piece := range c.keys[i].pieces {
			n += len(piece)
		}
	}
	keys := make([]keyPlace, 0, n/shares+n/(8*shares)+64) // shares differ little in size: hashes are evenly distributed
	for share := range uint64(shares) {
		keys = keys[:0]
		for i := range c.keys {
			ordinal := c.keys[i].before
			for _, piece := range c.keys[i].pieces {
				for _, hash := range piece {
					if hash != (keyHash{}) && hash.fold%shares == share {
						keys = append(keys, keyPlace{hash, samplePlace{int32(i), ordinal}})
					}
					ordinal++
				}
			}
		}
		slices.SortFunc(keys, func(a, b keyPlace) int {
			return cmp.Or(cmp.Compare(a.fold, b.fold), cmp.Compare(a.exact, b.exact), a.at.compare(b.at))
		})
		for rest := keys; len(rest) > 0; {
			n := 1
			for n < len(rest) && rest[n].fold == rest[0].fold {
				n++
			}
			c.clash(rest[:n], note)
			rest = rest[n:]
		}
	}
	for _, rule := range []string{ruleRepeatedKey, ruleCaseCollision} {
		few = append(few, earliest(found[rule])...)
	}
	return few, total
}

// earliest sorts clashes by the place of their second sample and returns the first maxEach.
func earliest(all []clash) []clash {
	slices.SortFunc(all, func(a, b clash) int { return a.again.compare(b.again) })
	return all[:min(len(all), maxEach)]
}

// clash calls note for each clash among keys with equal fold hashes. keys is sorted by exact hash,
// then by place.
func (c *checker) clash(keys []keyPlace, note func(rule string, first, again samplePlace)) {
	if len(keys) == 1 {
		return
	}
	oldest := slices.MinFunc(keys, func(a, b keyPlace) int { return a.at.compare(b.at) })
	first := keys[0] // first of the keys with the same exact hash
	for i, k := range keys {
		switch {
		case i == 0 || k.exact != first.exact:
			first = k
			if k.exact != oldest.exact {
				note(ruleCaseCollision, oldest.at, k.at)
			}
		case k.at.part == keys[i-1].at.part && c.keys[k.at.part].reported:
			// The source has already reported the repeated key.
		default:
			note(ruleRepeatedKey, first.at, k.at)
		}
	}
}

// compareKeys adds findings for keys that appear more than once or differ in case only. It indexes
// the parts with such keys again, since only hashes of keys are kept.
func (c *checker) compareKeys(ctx context.Context, t *tally) error {
	few, total := c.clashes()
	c.keys = nil
	names, err := c.names(ctx, few)
	if err != nil {
		return err
	}
	for _, k := range few {
		first, again := names[k.first], names[k.again]
		if again.Entry == "" || !bytes.Equal(folded(nil, first.Entry), folded(nil, again.Entry)) {
			continue // the part has changed, or the keys differ and have the same hash
		}
		text := "the key is also in " + quoted(first.File)
		switch {
		case k.rule == ruleCaseCollision:
			text = "the key differs only in upper and lower case from " + clipped(first.Entry)
			if first.File != again.File {
				text += " in " + quoted(first.File)
			}
		case first.File == again.File:
			text = "the key was in this part before"
		}
		t.add(findings.Finding{Rule: k.rule, Place: again, Text: text})
		if more := total[k.rule] - maxEach; more > 0 && t.each[k.rule] == maxEach {
			t.groups.add(k.rule, moreOfThem, again, more)
		}
	}
	return nil
}

// names indexes the parts of the clashes again and returns the place and key of each sample. If a sample is not found,
// its place has only the file.
func (c *checker) names(ctx context.Context, few []clash) (map[samplePlace]findings.Place, error) {
	places := make(map[samplePlace]findings.Place)
	last := make(map[int32]int64) // last ordinal wanted, by part
	for _, k := range few {
		for _, at := range []samplePlace{k.first, k.again} {
			places[at] = findings.Place{File: c.parts[at.part].Name, Offset: -1}
			last[at.part] = max(last[at.part], at.ordinal)
		}
	}
	for i, end := range last {
		at := samplePlace{part: i}
		p := part{name: c.parts[i].Name, placed: c.parts[i].Path != ""}
		for span, err := range c.src.Index(ctx, int(i)) {
			if err != nil { // already reported by the first pass
				break
			}
			if span.Shape == nil {
				continue
			}
			if _, wanted := places[at]; wanted {
				places[at] = p.place(span.Off, span.Shape.Key)
			}
			if at.ordinal++; at.ordinal > end {
				break
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return places, nil
}

// A keyPlace is the hash of a key and the sample that has it.
type keyPlace struct {
	keyHash
	at samplePlace
}

// A samplePlace identifies a sample.
type samplePlace struct {
	part    int32
	ordinal int64 // within the part
}

func (a samplePlace) compare(b samplePlace) int {
	return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.ordinal, b.ordinal))
}
