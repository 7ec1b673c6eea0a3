package folder

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// metadata are the names of the file that says more about the files beside it, in an image folder of Hugging Face, and what converts it.
var metadata = []struct{ name, hint string }{
	{"metadata.jsonl", "ffconvert jsonl "},
	{"metadata.csv", "option add-field NAME="},
}

// splitNames are what directories are called that hold the splits of a dataset, and no class.
var splitNames = []string{"dev", "test", "train", "training", "val", "valid", "validation"}

// splitsAsClasses returns the classes, with commas between, if all of them have names of splits.
func (s *source) splitsAsClasses() string {
	if s.opts.Flat || s.opts.Splits != nil || len(s.classes) == 0 {
		return ""
	}
	for _, class := range s.classes {
		if !slices.Contains(splitNames, class) {
			return ""
		}
	}
	return strings.Join(s.classes, ",")
}

// Doubts reports a file of metadata in a root: what its lines say of the files is not converted. Once all parts are
// listed it reports directories whose files seem to belong together, too, and classes that have the names of splits.
func (s *source) Doubts() []converters.Doubt {
	var all []converters.Doubt
	var last *tree
	for i := range s.dirs {
		t := s.dirs[i].tree
		if t == last {
			continue
		}
		last = t
		for _, is := range metadata {
			path := filepath.Join(t.name, is.name)
			if _, err := os.Stat(filepath.Join(t.real, is.name)); err == nil {
				all = append(all, converters.Doubt{Part: path, Off: -1, Text: "what it says of the files is not converted", Hint: is.hint + path})
			}
		}
	}
	if names := s.splitsAsClasses(); names != "" {
		all = append(all, converters.Doubt{Part: s.dirs[0].tree.name, Off: -1, Text: "its classes are " + names + ", which may be splits", Hint: "option split " + names + " makes a dataset of each"})
	}
	for _, a := range s.siblings() {
		if s.opts.Group && !s.opts.Unmatched {
			break // Check refuses them
		}
		all = append(all, converters.Doubt{Part: a.root, Off: -1, Text: a.String() + ", and are samples of their own", Hint: a.hint()})
	}
	return all
}
