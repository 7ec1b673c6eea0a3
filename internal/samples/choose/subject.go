package choose

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
)

// A subject is the property of a sample that a comparison, a split or a sort order uses.
type subject struct {
	of    string // one of the constants below
	field string // for theField and theFieldSize
}

const (
	theKey       = "key"
	theLabel     = "label"
	theClass     = "class"
	theSize      = "size"
	theField     = "FIELD"
	theFieldSize = "FIELD.size"
)

// subjectOf returns the subject with a name.
func subjectOf(name string) subject {
	switch field, sized := strings.CutSuffix(name, ".size"); {
	case name == theKey, name == theLabel, name == theClass, name == theSize:
		return subject{of: name}
	case sized && field != "":
		return subject{theFieldSize, field}
	}
	return subject{theField, name}
}

func (s subject) String() string {
	switch s.of {
	case theField:
		return s.field
	case theFieldSize:
		return s.field + ".size"
	}
	return s.of
}

// maxValue limits the value of a compared field, in bytes: an index reads it into memory.
const maxValue = 1 << 20

// A value is a sample's value of a subject: a number, or a text. It is valid as long as the sample.
type value struct {
	num number
	txt []byte // nil if num was not parsed from text
}

func (v *value) text() []byte {
	switch {
	case v.txt != nil || !v.num.ok:
		return v.txt
	case v.num.whole:
		return strconv.AppendInt(nil, v.num.i, 10)
	}
	return strconv.AppendFloat(nil, v.num.f, 'g', -1, 64)
}

var errNoClass = errors.New("the dataset has no classes with names; label has their numbers")

// get returns the sample's value of the subject, false if it has none.
func (s subject) get(sample *converters.Sample, c *Chooser) (value, bool, error) {
	switch s.of {
	case theKey:
		return value{txt: []byte(sample.Key)}, sample.Key != "", nil
	case theSize:
		return whole(size(sample)), true, nil
	case theLabel, theClass:
		return s.class(sample, c)
	}
	for i := range sample.Fields {
		f := &sample.Fields[i]
		if f.Name != s.field {
			continue
		}
		c.unseen.saw(s.field)
		if s.of == theFieldSize {
			return whole(f.Value.Len()), true, nil
		}
		v, err := valueOf(&f.Value)
		if err != nil {
			err = fmt.Errorf("field %q: %w", f.Name, err)
		}
		return v, err == nil, err
	}
	return value{}, false, nil
}

func (s subject) class(sample *converters.Sample, c *Chooser) (value, bool, error) {
	label, ok, err := c.label(sample)
	if err != nil || !ok || s.of == theLabel {
		return label, ok, err
	}
	name, err := c.class(label.num.i)
	return value{txt: []byte(name)}, err == nil, err
}

// label returns the class number of a sample, false if it has none.
func (c *Chooser) label(sample *converters.Sample) (value, bool, error) {
	for _, name := range labelFields {
		for i := range sample.Fields {
			f := &sample.Fields[i]
			if f.Name != name {
				continue
			}
			c.unseen.saw(labelled)
			v, err := valueOf(&f.Value)
			if err == nil && !v.num.whole {
				err = fmt.Errorf("field %q is not a whole number, as a label is", name)
			}
			return v, err == nil, err
		}
	}
	return value{}, false, nil
}

func (c *Chooser) class(label int64) (string, error) {
	switch {
	case c.classes == nil:
		return "", errNoClass
	case label < 0 || label >= int64(len(c.classes)):
		return "", fmt.Errorf("its label is %d, there are %d classes", label, len(c.classes))
	}
	return c.classes[label], nil
}

func size(sample *converters.Sample) (n int64) {
	for i := range sample.Fields {
		n += sample.Fields[i].Value.Len()
	}
	return n
}

func whole(n int64) value { return value{num: number{true, true, n, float64(n)}} }

func valueOf(v *converters.Value) (value, error) {
	switch v.Kind() {
	case converters.KindInt:
		return whole(v.Int()), nil
	case converters.KindFloat:
		if f := v.Float(); f == f {
			return value{num: number{ok: true, f: f}}, nil
		}
		return value{txt: []byte("NaN")}, nil
	case converters.KindNested:
		switch x := v.Nested().(type) {
		case bool:
			return value{txt: strconv.AppendBool(nil, x)}, nil
		case nil:
			return value{}, nil
		}
		return value{}, errors.New("it is nested; text and numbers are compared")
	}
	if v.Unread() {
		return value{}, errors.New("the index of such a source does not read it; key, label and sizes are compared")
	}
	if v.Len() > maxValue {
		return value{}, fmt.Errorf("%w: it has %d bytes, and %d at most are compared", converters.ErrLimit, v.Len(), maxValue)
	}
	text := bytes.TrimSpace(v.Data())
	n := number{}
	if len(text) <= 40 {
		n = parseNumber(string(text))
	}
	return value{n, text}, nil
}

// ofField reports whether it compares a field, which needs the record.
func (w *condition) ofField() bool { return w.of == theField || w.of == theFieldSize }

func (w *condition) holds(s *converters.Sample, c *Chooser) (bool, error) {
	switch w.of {
	case theKey:
		return w.holdsOf(c, s.Key, 0, 0, false)
	case theSize:
		return w.holdsOf(c, "", size(s), 0, false)
	case theLabel, theClass:
		label, ok, err := c.label(s)
		if err != nil {
			return false, err
		}
		return w.holdsOf(c, "", 0, label.num.i, ok)
	}
	v, ok, err := w.get(s, c)
	if err != nil || !ok {
		return false, err
	}
	if w.re != nil {
		return w.re.Match(v.text()), nil
	}
	var order int
	switch {
	case w.num.ok && v.num.ok && w.num.whole && v.num.whole:
		order = cmp.Compare(v.num.i, w.num.i)
	case w.num.ok && v.num.ok:
		order = cmp.Compare(v.num.f, w.num.f)
	default:
		order = strings.Compare(string(v.text()), w.text)
	}
	return w.is(order), nil
}

// holdsOf reports whether the comparison, of a key, a size, a label or a class, is true for the given values.
func (w *condition) holdsOf(c *Chooser, key string, size, label int64, labeled bool) (bool, error) {
	switch w.of {
	case theKey:
		return key != "" && w.accepts(key), nil
	case theSize:
		return w.is(cmp.Compare(size, w.num.i)), nil
	case theLabel:
		return labeled && w.is(cmp.Compare(label, w.num.i)), nil
	}
	if !labeled {
		return false, nil
	}
	name, err := c.class(label)
	return err == nil && w.accepts(name), err
}

func (w *condition) accepts(text string) bool {
	switch {
	case w.prefix != "":
		return strings.HasPrefix(text, w.prefix)
	case w.re != nil:
		return w.re.MatchString(text)
	}
	return w.is(strings.Compare(text, w.text))
}

// is reports whether the operator accepts order, the result of comparing the sample's value with the condition's.
func (w *condition) is(order int) bool {
	return w.op == "!=" && order != 0 || w.op != "!=" && strings.IndexByte(w.op, "<=>"[order+1]) >= 0
}

// text returns the sample's value of the subject as the name of a side.
func (s subject) text(sample *converters.Sample, c *Chooser) (string, error) {
	v, ok, err := s.get(sample, c)
	if err == nil && !ok {
		err = fmt.Errorf("the sample has no %s to split by", s)
	}
	return string(v.text()), err
}

// hintDecoded explains why a field of the records may be unknown.
const hintDecoded = "of records that ffr copies, without option encode, only key, label and size are known"

const labelled = "\x00label" // key in unseen of label and class; no field has this name

// unseen are the fields of an expression that no sample has had. label and class count as one, labelled.
type unseen struct {
	names []string
	seen  []atomic.Bool
}

func (u *unseen) want(where []condition) {
	for _, w := range where {
		switch w.of {
		case theField, theFieldSize:
			u.names = append(u.names, w.field)
		case theLabel, theClass:
			u.names = append(u.names, labelled)
		}
	}
	u.seen = make([]atomic.Bool, len(u.names))
}

func (u *unseen) saw(name string) {
	for i := range u.names {
		if u.names[i] == name && !u.seen[i].Load() {
			u.seen[i].Store(true)
		}
	}
}

func (u *unseen) err() error {
	for i, name := range u.names {
		if !u.seen[i].Load() {
			hint := hintDecoded
			if name == converters.KeyField { // the name of the key in records
				hint = "the key of a sample is named key"
			}
			what := fmt.Sprintf("field %q", name)
			if name == labelled {
				what = fmt.Sprintf("label (a field %s)", strings.Join(labelFields, " or "))
			}
			return place.Options("option where: no sample that it was asked of has a %s; %s", what, hint)
		}
	}
	return nil
}
