package folder

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// metadata are the files that describe the files next to them in an image folder of Hugging Face, and how to convert
// each.
var metadata = []struct{ name, hint string }{
	{"metadata.jsonl", "ffconvert jsonl "},
	{"metadata.csv", "option add-field NAME="},
}

// splitNames are usual directory names for splits of a dataset; they are rarely classes.
var splitNames = []string{"dev", "test", "train", "training", "val", "valid", "validation"}

// splitsAsClasses returns the classes, separated by commas, if all of them are names of splits.
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

// doubts reports a metadata file in a root, since its content is not converted. Once all parts are listed it also
// reports directories whose files seem to belong together, and classes with names of splits.
func (s *source) doubts() []converters.Doubt {
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
			break // Check returns them as an error
		}
		all = append(all, converters.Doubt{Part: a.root, Off: -1, Text: a.String() + ", and are samples of their own", Hint: a.hint()})
	}
	return all
}
