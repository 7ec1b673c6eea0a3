package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// A dataset usually has a dozen suffixes. Names are cached for this many, and for none that is longer than this many bytes.
const (
	maxSuffixes  = 64
	maxSuffixLen = 64
)

// FieldNames names fields by the suffixes of files and of members of a tar, as WebDataset does: Seg.PNG is seg.png. It
// allocates the name of a suffix once. The zero value is ready. It must not be used concurrently.
type FieldNames struct{ known []fieldName }

type fieldName struct{ suffix, name string }

// Of returns the name of the field with this suffix: its lower case as in Python's str.lower. It refuses the names that
// WebDataset reserves. In Python the lower case of Σ depends on its place in the word, and İ becomes two letters, so it
// refuses these two.
func (n *FieldNames) Of(suffix []byte) (string, error) {
	for i := range n.known {
		if n.known[i].suffix == string(suffix) {
			return n.known[i].name, nil
		}
	}
	name := strings.ToLower(string(suffix))
	switch {
	case strings.ContainsAny(string(suffix), "İΣ"):
		return "", fmt.Errorf("%w: the lower case of %q is not one to rely on", converters.ErrUnsupported, suffix)
	case name == converters.KeyField || name == "__url__":
		return "", fmt.Errorf("%w: a field named %s, which is a sample's own", converters.ErrUnsupported, name)
	case len(suffix) <= maxSuffixLen && len(n.known) < maxSuffixes:
		n.known = append(n.known, fieldName{string(suffix), name})
	}
	return name, nil
}

// manyNames is the number of names above which a map is faster than a loop.
const manyNames = 32

// A FieldSet is the names of the fields of one sample. The zero value is empty.
type FieldSet struct {
	list []string        // the first manyNames names
	many map[string]bool // all names, if there are more; else nil
}

// Reset removes all names.
func (s *FieldSet) Reset() { s.list, s.many = s.list[:0], nil }

// Add adds a name. It returns false if the set had it.
func (s *FieldSet) Add(name string) bool {
	if len(s.list) < manyNames {
		if slices.Contains(s.list, name) {
			return false
		}
		s.list = append(s.list, name)
		return true
	}
	if s.many == nil {
		s.many = make(map[string]bool, 2*manyNames)
		for _, known := range s.list {
			s.many[known] = true
		}
	}
	if s.many[name] {
		return false
	}
	s.many[name] = true
	return true
}
