package jsonl

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/fuzz"
)

// Read has what Index said, from any line on; each line that is accepted is an object of encoding/json, with as many
// members; memory is in proportion to the file.
func FuzzJSONL(f *testing.F) {
	f.Add([]byte(mixed))
	f.Add([]byte("[1]"))
	f.Add([]byte("{\"a\": 1}\r\n\r\n{\"a\": \"\\ud83d\\ude00\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		src := memory(Options{}, string(data))
		fuzz.WantAllocated(t, 1<<20+1000*len(data), func() { _, _, _, _ = indexed(t, src) })
		if _, err := contents(t, src); err != nil {
			wantPlaced(t, err)
		}
		s := &splitter{}
		file, err := src.open(src.Parts()[0], converters.Whole)
		if err != nil {
			t.Fatal(err)
		}
		s.reset(&scan.Pass{Part: src.Parts()[0], File: file}, DefaultMaxLine)
		decode := src.opts.decoder()
		for {
			more, err := s.next()
			if err != nil {
				t.Fatal(err)
			}
			if !more {
				return
			}
			ours, err := decode(s.line)
			if err != nil {
				if !errors.Is(err, converters.ErrMalformed) && !errors.Is(err, converters.ErrUnsupported) && !errors.Is(err, converters.ErrLimit) {
					t.Fatalf("an error of no kind: %v", err)
				}
				continue
			}
			var theirs map[string]json.RawMessage
			if err := json.Unmarshal(s.line, &theirs); err != nil {
				t.Fatalf("%q: %v", s.line, err)
			}
			n := len(ours.Fields)
			if ours.Key != "" {
				n++
			}
			if n != len(theirs) {
				t.Fatalf("%q has %d fields, encoding/json finds %d", s.line, n, len(theirs))
			}
		}
	})
}
