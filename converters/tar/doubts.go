package tar

import (
	"iter"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

var _ converters.Doubter = (*Source)(nil)

// doubting yields spans, and notes a first sample that is nothing but a tar: the members of that may be what was meant.
func (s *Source) doubting(spans iter.Seq2[converters.Span, error]) iter.Seq2[converters.Span, error] {
	return func(yield func(converters.Span, error) bool) {
		first := true
		for span, err := range spans {
			if first && span.Shape != nil {
				first = false
				fields := span.Shape.Fields
				s.tarInTar.Store(len(fields) == 1 && strings.EqualFold(fields[0].Name, "tar"))
			}
			if !yield(span, err) {
				return
			}
		}
	}
}

// Doubts reports that Index has found a tar to be the first sample of the first part.
func (s *Source) Doubts() []converters.Doubt {
	if !s.tarInTar.Load() {
		return nil
	}
	return []converters.Doubt{{Part: s.parts[0].Name, Off: -1, Text: "a tar of tars: each of them is one field", Hint: "option nested converts what is in them"}}
}
