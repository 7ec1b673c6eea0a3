package folder

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/fieldname"
)

// fieldData is the field of a file whose name has no suffix, fieldClass the number of the
// sample's class.
const (
	fieldData  = "data"
	fieldClass = "cls"
)

// splitName finds the dot of a base name before which its key ends, as webdataset's
// expression
//
//	^((?:.*/|)[^.]+)[.]([^/]*)$
//
// does on the whole path: it is the first one. Where the name begins with it, the key is
// the directory with its slash, and [^.]+ must match the last element of that. dir is
// empty or ends in a slash; no name has a newline here. It returns -1 where the expression
// does not match.
func splitName(dir, base []byte) int {
	dot := bytes.IndexByte(base, '.')
	if dot != 0 {
		return dot
	}
	if len(dir) == 0 {
		return -1
	}
	last := dir[bytes.LastIndexByte(dir[:len(dir)-1], '/')+1:]
	if bytes.IndexByte(last, '.') >= 0 {
		return -1
	}
	return 0
}

// lastDot finds the dot of the last extension, -1 where there is none: dots that a name
// begins with hide the file, a dot at its end begins nothing.
func lastDot(base []byte) int {
	name := bytes.TrimLeft(base, ".")
	dot := bytes.LastIndexByte(name, '.')
	if dot < 0 || dot == len(name)-1 {
		return -1
	}
	return dot + len(base) - len(name)
}

// split divides the path of a file into the end of its key, counted in the base name, and
// its suffix, not yet in lower case.
func (o *Options) split(dir, base []byte) (end int, suffix []byte) {
	dot := -1
	if o.Flat && !o.Group {
		if dot = lastDot(base); dot >= 0 {
			return len(base), base[dot+1:]
		}
	} else if dot = splitName(dir, base); dot >= 0 {
		return dot, base[dot+1:]
	}
	return len(base), []byte(fieldData)
}

// selects reports whether Ext has a file of this name.
func (o *Options) selects(base string) bool {
	for _, ext := range o.Ext {
		ext = strings.TrimPrefix(ext, ".")
		if at := len(base) - len(ext); at > 0 && base[at-1] == '.' && strings.EqualFold(base[at:], ext) {
			return true
		}
	}
	return o.Ext == nil
}

// errName marks a name that a key cannot hold.
var errName = fmt.Errorf("%w: the name", converters.ErrUnsupported)

func checkName(name []byte) error {
	switch {
	case !utf8.Valid(name):
		return fmt.Errorf("%w is not UTF-8", errName)
	case bytes.IndexByte(name, '\n') >= 0:
		return fmt.Errorf("%w has a newline", errName)
	}
	return nil
}

// sampleNames makes the names of a sample for listing.fields.
type sampleNames struct {
	fields fieldname.Names
	key    []byte // buffer
}
