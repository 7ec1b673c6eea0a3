package tar

import "github.com/ffconvert/ffconvert/converters"

// doubts reports a first sample that consists of a tar only: its members may be the intended samples. Index finds it.
func (s *source) doubts() []converters.Doubt {
	if !s.tarInTar.Load() {
		return nil
	}
	return []converters.Doubt{{Part: s.Parts()[0].Name, Off: -1, Text: "a tar of tars: each of them is one field", Hint: "option nested converts what is in them"}}
}
