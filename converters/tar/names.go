package tar

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
)

// Split splits the path of a member into key and suffix as webdataset does. ok is false if webdataset skips the member
// because of its path. The name of the field is the suffix in lower case.
func Split(path string) (key, suffix string, ok bool) {
	name := []byte(path)
	k, s, ok := splitName(name)
	if !ok || isMetaName(name) {
		return "", "", false
	}
	return string(k), string(s), true
}

// splitName splits a path into key and suffix, as webdataset's expression
//
//	^((?:.*/|)[^.]+)[.]([^/]*)$
//
// does: the key ends before the first dot of the base name. If the base name begins with a dot, the key
// is the directory with its slash. The '.' of the expression does not match a newline; [^.]+ also matches
// slashes and newlines.
func splitName(name []byte) (key, suffix []byte, ok bool) {
	slash := bytes.LastIndexByte(name, '/')
	start := slash + 1 // of [^.]+, after the last slash that .*/ reaches
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

// isMetaName reports whether webdataset skips a path as metadata: a name without slashes that begins and
// ends with two underscores, or a path with such a first element, by the expression __[^/]*__($|/).
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

// Fields with a meaning in webdataset 1.0.2: valid_sample drops a sample with a __bad__ that is not
// empty, and group_by_keys replaces __local_path__ by the path of the cached copy, if there is a cache.
const (
	badField       = "__bad__"
	localPathField = "__local_path__"
)

// checkName refuses a name that is not UTF-8, which a record cannot hold.
func checkName(name []byte) error {
	if !utf8.Valid(name) {
		return fmt.Errorf("%w: the name is not UTF-8", converters.ErrUnsupported)
	}
	return nil
}
