package tar

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
)

// splitName divides a path into key and suffix, as webdataset's expression
//
//	^((?:.*/|)[^.]+)[.]([^/]*)$
//
// does: the key ends before the first dot of the base name; where the base name begins
// with one, the key is the directory with its slash. A '.' of the expression matches no
// newline, [^.]+ matches slashes and newlines too.
func splitName(name []byte) (key, suffix []byte, ok bool) {
	slash := bytes.LastIndexByte(name, '/')
	start := slash + 1 // of [^.]+, behind the last slash that .*/ reaches
	if nl := bytes.IndexByte(name, '\n'); nl >= 0 && nl < slash {
		start = bytes.LastIndexByte(name[:nl], '/') + 1
	}
	for {
		dot := bytes.IndexByte(name[start:], '.')
		switch {
		case dot < 0 || start+dot < slash:
			return nil, nil, false
		case dot > 0:
			return name[:start+dot], name[start+dot+1:], true
		case start == 0:
			return nil, nil, false
		}
		start = bytes.LastIndexByte(name[:start-1], '/') + 1
	}
}

// isMetaName reports whether webdataset takes a path for its own metadata: a name
// without slash that begins and ends with two underscores, and, as __[^/]*__($|/)
// matches, a first element that does.
func isMetaName(name []byte) bool {
	if !bytes.HasPrefix(name, []byte("__")) {
		return false
	}
	first, _, deep := bytes.Cut(name, []byte{'/'})
	if !deep {
		if bytes.HasSuffix(first, []byte("__")) {
			return true
		}
		first = bytes.TrimSuffix(first, []byte{'\n'}) // $ matches before a final newline
	}
	return len(first) >= 4 && bytes.HasSuffix(first, []byte("__"))
}

// Names that webdataset 1.0.2 gives a meaning: valid_sample drops a sample whose __bad__ is
// not empty, and group_by_keys puts the path of its cached copy in the place of
// __local_path__, where it has a cache.
const (
	badField       = "__bad__"
	localPathField = "__local_path__"
)

// checkName refuses what a record could not hold under this key and field.
func checkName(key, suffix []byte) error {
	switch {
	case !utf8.Valid(key) || !utf8.Valid(suffix):
		return fmt.Errorf("%w: the name is not UTF-8", converters.ErrUnsupported)
	case string(suffix) == "__key__" || string(suffix) == "__url__":
		return fmt.Errorf("%w: a field named %s, which is a sample's own", converters.ErrUnsupported, suffix)
	}
	return nil
}

// suffixes turns suffixes into field names, the same string for the same bytes.
type suffixes struct {
	known map[string]string
	lower []byte
}

// Datasets have a dozen suffixes. Where every member has its own, remembering them is
// of no use and must not take memory.
const (
	maxSuffixes  = 1024
	maxSuffixLen = 64
)

// name lowers a suffix as Python's str.lower does.
func (s *suffixes) name(suffix []byte) (string, error) {
	s.lower = s.lower[:0]
	for _, c := range suffix {
		if c >= utf8.RuneSelf {
			return lowerText(string(suffix))
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		s.lower = append(s.lower, c)
	}
	if name, ok := s.known[string(s.lower)]; ok {
		return name, nil
	}
	name := string(s.lower)
	if len(name) <= maxSuffixLen && len(s.known) < maxSuffixes {
		if s.known == nil {
			s.known = make(map[string]string)
		}
		s.known[name] = name
	}
	return name, nil
}

// lowerText lowers a suffix that is not all ASCII. Two letters have a lower case in
// Python that depends on their place or is two letters long; no suffix has them.
func lowerText(suffix string) (string, error) {
	if strings.ContainsAny(suffix, "İΣ") {
		return "", fmt.Errorf("%w: the lower case of %q is not one to rely on", converters.ErrUnsupported, suffix)
	}
	return strings.ToLower(suffix), nil
}
