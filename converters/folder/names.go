package folder

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// fieldData is the field of a file without a suffix, fieldClass the field with the number of the class.
const (
	fieldData  = "data"
	fieldClass = "cls"
)

// splitName returns the index of the dot in a base name that ends the key, as webdataset's expression
//
//	^((?:.*/|)[^.]+)[.]([^/]*)$
//
// does for the whole path. It is the first dot. If the name begins with it, the key is the directory with
// its slash, and [^.]+ must match the last element of that. dir must be empty or end in a slash, and
// names must not contain a newline. The result is -1 if the expression does not match.
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

// lastDot returns the index of the dot of the last extension, -1 if there is none. Dots at the start hide the file, and
// a dot at the end does not begin an extension.
func lastDot(base []byte) int {
	name := bytes.TrimLeft(base, ".")
	dot := bytes.LastIndexByte(name, '.')
	if dot < 0 || dot == len(name)-1 {
		return -1
	}
	return dot + len(base) - len(name)
}

// split returns the end of the key of a file, as an index in the base name, and its suffix, not yet in
// lower case.
func (o *Options) split(dir, base []byte) (end int, suffix []byte) {
	dot := -1
	if o.Flat && !o.Group && o.Pairs == nil {
		if dot = lastDot(base); dot >= 0 {
			return len(base), base[dot+1:]
		}
	} else if dot = splitName(dir, base); dot >= 0 {
		return dot, base[dot+1:]
	}
	return len(base), []byte(fieldData)
}

// selects reports whether Ext selects a file with this name.
func (o *Options) selects(base string) bool {
	for _, ext := range o.Ext {
		ext = strings.TrimPrefix(ext, ".")
		if at := len(base) - len(ext); at > 0 && base[at-1] == '.' && strings.EqualFold(base[at:], ext) {
			return true
		}
	}
	return o.Ext == nil
}

// errName is the error for a name that cannot be part of a key.
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
	fields scan.FieldNames
	key    []byte // buffer
}
