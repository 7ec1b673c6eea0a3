package folder

import (
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/converters"
)

// metadataName is the name of the file that says more about the files beside it, in an image folder of Hugging Face.
const metadataName = "metadata.jsonl"

// Doubts reports a metadata.jsonl in a root: what its lines say of the files is not converted.
func (s *Source) Doubts() []converters.Doubt {
	var all []converters.Doubt
	var last *tree
	for i := range s.dirs {
		t := s.dirs[i].tree
		if t == last {
			continue
		}
		last = t
		path := filepath.Join(t.name, metadataName)
		if _, err := os.Stat(filepath.Join(t.real, metadataName)); err == nil {
			all = append(all, converters.Doubt{Part: path, Off: -1, Text: "what it says of the files is not converted", Hint: "ffconvert jsonl " + path})
		}
	}
	return all
}
