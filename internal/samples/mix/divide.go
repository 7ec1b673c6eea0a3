package mix

import "github.com/ffconvert/ffconvert/converters"

// divisible is a mixture of divisible sources.
type divisible struct{ *Source }

var _ converters.Divisible = divisible{}

// WithParts returns a mixture with other parts. It draws the same samples of these parts.
func (s divisible) WithParts(first int, parts []converters.Part) converters.Source {
	some := &Source{parts: parts, says: s.says}
	for from := 0; from < len(parts); {
		at := s.places[first+from]
		to := from + 1
		for to < len(parts) && s.places[first+to].member == at.member {
			to++
		}
		member := s.members[at.member].(converters.Divisible) // checked by Open
		some.members = append(some.members, member.WithParts(at.part, parts[from:to:to]))
		for i := from; i < to; i++ {
			some.places = append(some.places, place{len(some.members) - 1, i - from, s.places[first+i].draw.of(&parts[i])})
		}
		from = to
	}
	return divisible{some}
}

// of returns the same draw for another copy of the part.
func (d *draw) of(part *converters.Part) *draw {
	if d == nil {
		return nil
	}
	return &draw{part: part, key: d.key, below: d.below, ranks: []int64{0}}
}
