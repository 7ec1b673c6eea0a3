package check

import (
	"bytes"
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/findings"
)

// A keyHash stands for the key of a sample; 0, 0 for one without.
type keyHash struct {
	fold  uint64 // of the key without upper and lower case
	exact uint64
}

// A hasher hashes keys. It may be shared: only equality means something, so the seed is
// one that nobody can know.
type hasher struct{ seed maphash.Seed }

func newHasher() hasher { return hasher{maphash.MakeSeed()} }

func (h *hasher) key(key string) keyHash {
	exact := maphash.String(h.seed, key)
	var buf [256]byte
	return keyHash{maphash.Bytes(h.seed, folded(buf[:0], key)), exact}
}

// folded appends a key to b, each letter as the least of those that are the same without
// case, as Unicode's simple folding has them. Bytes that are no UTF-8 stay what they are.
func folded(b []byte, key string) []byte {
	for i := 0; i < len(key); {
		if c := key[i]; c < utf8.RuneSelf {
			if 'a' <= c && c <= 'z' {
				c -= 'a' - 'A'
			}
			b = append(b, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(key[i:])
		if r == utf8.RuneError && n == 1 {
			b = append(b, key[i])
		} else {
			least := r
			for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
				least = min(least, next)
			}
			b = utf8.AppendRune(b, least)
		}
		i += n
	}
	return b
}

// partKeys holds the keys of a part, by the ordinal of their sample, in pieces: growing
// copies none, and leaves no room unused but that of the last.
type partKeys struct {
	pieces [][]keyHash
	before int64 // samples without key, before the first that has one
	told   bool  // the source tells itself of a key that comes back in the part
}

const keysPiece = 8192

func (p *partKeys) add(key string, h *hasher) {
	if key == "" && len(p.pieces) == 0 {
		p.before++
		return
	}
	var hash keyHash
	if key != "" {
		hash = h.key(key)
	}
	last := len(p.pieces) - 1
	if last < 0 || len(p.pieces[last]) == keysPiece {
		var room int // that of the first grows with the part
		if last >= 0 {
			room = keysPiece
		}
		p.pieces = append(p.pieces, make([]keyHash, 0, room))
		last++
	}
	p.pieces[last] = append(p.pieces[last], hash)
}

// A keyPlace is a key, and whose it is.
type keyPlace struct {
	keyHash
	at samplePlace
}

// A samplePlace says which sample: a part, and an ordinal in it.
type samplePlace struct {
	part    int32
	ordinal int64
}

func (a samplePlace) compare(b samplePlace) int {
	return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.ordinal, b.ordinal))
}

// A clash is a sample whose key an earlier one has too, or has in other letters.
type clash struct {
	rule         string
	first, again samplePlace
}

// shares is in how many rounds keys are compared: each sorts its share of the hashes, so
// that sorting needs a fraction of the memory that they have.
const shares = 16

// clashes finds those samples: the first few of each rule, in order, and how many there are.
func (c *checker) clashes() (few []clash, total map[string]int64) {
	found := map[string][]clash{}
	total = map[string]int64{}
	note := func(rule string, first, again samplePlace) {
		total[rule]++
		found[rule] = append(found[rule], clash{rule, first, again})
		if len(found[rule]) >= 2*MaxEach {
			found[rule] = earliest(found[rule])
		}
	}
	n := 0
	for i := range c.keys {
		for _, piece := range c.keys[i].pieces {
			n += len(piece)
		}
	}
	keys := make([]keyPlace, 0, n/shares+n/(8*shares)+64) // hashes are even, mostly
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
	for _, rule := range []string{RepeatedKey, CaseCollision} {
		few = append(few, earliest(found[rule])...)
	}
	return few, total
}

// earliest sorts clashes by place and keeps as many as are listed.
func earliest(all []clash) []clash {
	slices.SortFunc(all, func(a, b clash) int { return a.again.compare(b.again) })
	return all[:min(len(all), MaxEach)]
}

// clash notes the clashes among keys that are the same without case, in the order of their
// exact hashes.
func (c *checker) clash(keys []keyPlace, note func(rule string, first, again samplePlace)) {
	if len(keys) == 1 {
		return
	}
	oldest := slices.MinFunc(keys, func(a, b keyPlace) int { return a.at.compare(b.at) })
	first := keys[0] // of the same letters
	for i, k := range keys {
		switch {
		case i == 0 || k.exact != first.exact:
			first = k
			if k.exact != oldest.exact {
				note(CaseCollision, oldest.at, k.at)
			}
		case k.at.part == keys[i-1].at.part && c.keys[k.at.part].told:
			// The source has told of it.
		default:
			note(RepeatedKey, first.at, k.at)
		}
	}
}

// compareKeys finds keys that are there twice, and those that differ in case alone. Parts
// that have some are walked again for their names.
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
			continue // a part that has changed, or two keys of one hash
		}
		text := "the key is in " + quoted(first.File) + " too"
		switch {
		case k.rule == CaseCollision:
			text = "the key differs in upper and lower case alone from " + clipped(first.Entry)
			if first.File != again.File {
				text += " in " + quoted(first.File)
			}
		case first.File == again.File:
			text = "the key was in this part before"
		}
		t.add(findings.Finding{Rule: k.rule, Place: again, Text: text})
		if more := total[k.rule] - MaxEach; more > 0 && t.each[k.rule] == MaxEach {
			t.groups.add(k.rule, moreOfThem, again, more)
		}
	}
	return nil
}

// names returns where the samples of clashes are.
func (c *checker) names(ctx context.Context, few []clash) (map[samplePlace]findings.Place, error) {
	places := make(map[samplePlace]findings.Place)
	last := make(map[int32]int64) // ordinal by part
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
			if err != nil { // it has been found before; what was found up to there stands
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
