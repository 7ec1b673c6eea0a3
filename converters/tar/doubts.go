package tar

import "github.com/ffconvert/ffconvert/converters"

var _ converters.Doubter = (*source)(nil)

// Doubts reports that Index has found the first sample of the first part to be nothing but a tar: its members may be what
// was meant.
func (s *source) Doubts() []converters.Doubt {
	if !s.tarInTar.Load() {
		return nil
	}
	return []converters.Doubt{{Part: s.Parts()[0].Name, Off: -1, Text: "a tar of tars: each of them is one field", Hint: "option nested converts what is in them"}}
}
