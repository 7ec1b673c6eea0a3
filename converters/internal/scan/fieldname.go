package scan

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
)

// A dataset usually has a dozen suffixes. The first few are compared one by one, which is faster than a map.
const (
	fewSuffixes  = 8
	maxSuffixes  = 1024 // most suffixes that are cached
	maxSuffixLen = 64   // bytes of the longest one that is
)

// FieldNames names fields by the suffixes of files and of members of a tar, as WebDataset does: Seg.PNG is seg.png. It
// returns the same string for equal names, so that a name is allocated once. The zero value is ready. It must not be
// used concurrently.
type FieldNames struct {
	first []fieldName // the first few suffixes
	known map[string]string
	lower []byte // buffer
}

type fieldName struct{ suffix, name string }

// Of returns the name of the field with this suffix: its lower case as in Python's str.lower. It refuses the names that
// WebDataset reserves.
func (n *FieldNames) Of(suffix []byte) (string, error) {
	for i := range n.first {
		if n.first[i].suffix == string(suffix) {
			return n.first[i].name, nil
		}
	}
	n.lower = n.lower[:0]
	for _, c := range suffix {
		if c >= utf8.RuneSelf {
			name, err := lowerText(string(suffix))
			if err != nil {
				return "", err
			}
			n.lower = append(n.lower[:0], name...)
			break
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		n.lower = append(n.lower, c)
	}
	if name, ok := n.known[string(n.lower)]; ok {
		return name, nil
	}
	name := string(n.lower)
	if name == converters.KeyField || name == "__url__" {
		return "", fmt.Errorf("%w: a field named %s, which is a sample's own", converters.ErrUnsupported, name)
	}
	if len(name) <= maxSuffixLen && len(n.known) < maxSuffixes {
		if n.known == nil {
			n.known = make(map[string]string)
		}
		n.known[name] = name
		if len(n.first) < fewSuffixes {
			n.first = append(n.first, fieldName{string(suffix), name})
		}
	}
	return name, nil
}

// lowerText returns the lower case of a suffix that is not all ASCII. In Python the lower case of Σ
// depends on its place in the word, and İ becomes two letters, so these two are refused.
func lowerText(suffix string) (string, error) {
	if strings.ContainsAny(suffix, "İΣ") {
		return "", fmt.Errorf("%w: the lower case of %q is not one to rely on", converters.ErrUnsupported, suffix)
	}
	return strings.ToLower(suffix), nil
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
