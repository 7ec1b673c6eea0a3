package export

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/internal/place"
)

// ordinalKey returns the key of sample n. Up to a billion all keys have the same length, so that an index knows the
// size of names.
func ordinalKey(n int64) string {
	digits := strconv.FormatInt(n, 10)
	return strings.Repeat("0", max(0, 9-len(digits))) + digits
}

const (
	hintKey   = "option key ordinal numbers the samples"
	hintField = "option rename NEW=FIELD, or option fields without it"
)

// Fields with a special meaning in webdataset.
const (
	badField       = "__bad__"
	localPathField = "__local_path__"
	urlField       = "__url__"
)

// checkMember returns an error if webdataset would read a different key and field from the member KEY.FIELD.
func checkMember(key, field string) error {
	name := key + "." + field
	switch k, suffix, ok := tar.Split(name); {
	case strings.IndexByte(name, 0) >= 0:
		return place.WithHint(fmt.Errorf("%w: the name %.300q has a NUL", converters.ErrUnsupported, name), hintKey)
	case !utf8.ValidString(name):
		return place.WithHint(fmt.Errorf("%w: the name %.300q is not UTF-8", converters.ErrUnsupported, name), hintKey)
	case key == "":
		return place.WithHint(fmt.Errorf("%w: the sample has no key, which a tar needs", converters.ErrUnsupported), hintKey)
	case field == badField || field == localPathField || field == urlField || field == converters.KeyField:
		return place.WithHint(fmt.Errorf("%w: the field %s has a meaning of its own for webdataset", converters.ErrUnsupported, field), hintField)
	case ok && k == key && strings.ToLower(suffix) == field:
		return nil
	case plainField(field):
		what := "skips it"
		if ok {
			what = fmt.Sprintf("reads it as the key %.200q and the field %.200q", k, strings.ToLower(suffix))
		}
		return place.WithHint(fmt.Errorf("%w: webdataset splits the name %.300q otherwise: it %s", converters.ErrUnsupported, name, what), hintKey)
	}
	return place.WithHint(fmt.Errorf("%w: webdataset would not read the field %.200q as such: its fields are in lower case, and have no slash", converters.ErrUnsupported, field), hintField)
}

// plainField reports whether webdataset reads the field unchanged, if the key is a plain word.
func plainField(field string) bool {
	_, suffix, ok := tar.Split("k." + field)
	return ok && suffix == field && strings.ToLower(field) == field
}

// A nameChecks checks the names of members. Any combination of plain keys and plain fields is sound.
type nameChecks struct {
	key    string // the last key that was checked
	simple bool   // key consists of letters, digits, - and _, with slashes between them
	fields map[string]bool
}

// check is checkMember, but faster for a name similar to the one before.
func (c *nameChecks) check(key, field string) error {
	if key != c.key || key == "" {
		c.key, c.simple = key, isSimple(key)
	}
	if c.simple && c.fields[field] {
		return nil
	}
	if err := checkMember(key, field); err != nil {
		return err
	}
	if c.fields == nil || len(c.fields) > 1000 {
		c.fields = make(map[string]bool)
	}
	c.fields[field] = true
	return nil
}

// isSimple reports whether key is plain: a field that is sound with one such key is sound with all of them.
func isSimple(key string) bool {
	for i := range len(key) {
		switch c := key[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-':
		case c == '/' && i > 0 && i < len(key)-1, c == '_' && i > 0:
		default:
			return false
		}
	}
	return key != ""
}
