package tar

import (
	"bytes"
	"fmt"
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

// checkName refuses a name that is not UTF-8, which a record cannot hold.
func checkName(key, suffix []byte) error {
	if !utf8.Valid(key) || !utf8.Valid(suffix) {
		return fmt.Errorf("%w: the name is not UTF-8", converters.ErrUnsupported)
	}
	return nil
}
