package tar

import (
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/window"
)

var _ converters.Doubter = (*Source)(nil)

// mostBefore is the number of skipped members before the first sample that Doubts looks at.
const mostBefore = 16

// Doubts reports a first tar whose first sample is nothing but a tar: its members may be what was meant. It reads headers.
func (s *Source) Doubts() []converters.Doubt {
	if len(s.parts) == 0 {
		return nil
	}
	p := s.parts[0]
	f, err := s.open(p, converters.ForIndex)
	if err != nil {
		return nil // Index has the error
	}
	defer f.Close()
	var sc scanner
	var w window.Window
	w.Reset(f, p.Size, 0, window.Sizes{First: headerRead, Usual: headerRead})
	sc.reset(&w, p, &s.opts)
	sc.sizes = true
	for range mostBefore {
		switch ev, err := sc.next(); {
		case err != nil || ev == eventEnd:
			return nil
		case ev == eventSample:
			if fields := sc.group.sample.Fields; len(fields) == 1 && strings.EqualFold(fields[0].Name, "tar") {
				return []converters.Doubt{{Part: p.Name, Off: -1, Text: "a tar of tars: each of them is one field", Hint: "option nested converts what is in them"}}
			}
			return nil
		}
	}
	return nil
}
