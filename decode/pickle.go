package decode

import (
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/pickle"
	"github.com/ffconvert/ffconvert/internal/place"
)

// pickle decodes a record that is a pickled dict.
func (d *Decoder) pickle(record []byte) error {
	data, err := pickle.NewData(record)
	if err != nil {
		return place.WithHint(badPickle(err), hintPickle)
	}
	if x, err := data.Value(); err != nil {
		return place.WithHint(badPickle(err), hintPickle)
	} else if x != pickle.BeginDict {
		return notMap("pickle")
	}
	for {
		x, err := data.Value()
		if err != nil {
			return badPickle(err)
		}
		if x == pickle.EndDict {
			break
		}
		name, ok := x.(string)
		if !ok {
			return badName()
		}
		from := data.Offset
		x, err = d.pickled(data, d.limits.MaxDepth, from)
		if err != nil {
			return fmt.Errorf("field %q: %w", name, err)
		}
		if err := d.put(name, converters.ValueOf(x)); err != nil {
			return err
		}
	}
	if x, err := data.Value(); err != nil || x != pickle.End {
		return badPickle(errors.Join(err, pickle.ErrData))
	}
	return nil
}

// tuple decodes a record that is a pickled tuple of the fields.
func (d *Decoder) tuple(record []byte) error {
	data, err := pickle.NewData(record)
	if err == nil {
		err = data.BeginTuple(len(d.fields))
	}
	if err != nil {
		return place.WithHint(badPickle(err), hintPickle)
	}
	for _, name := range d.fields {
		x, err := d.pickled(data, d.limits.MaxDepth, data.Offset)
		if err != nil {
			return fmt.Errorf("field %q: %w", name, err)
		}
		if err := d.add(name, converters.ValueOf(x)); err != nil {
			return err
		}
	}
	if err := data.EndTuple(len(d.fields)); err != nil {
		return badPickle(err)
	}
	if x, err := data.Value(); err != nil || x != pickle.End {
		return badPickle(errors.Join(err, pickle.ErrData))
	}
	return nil
}

// hintPickle is for pickles that Python has written: it frames them, and numbers what it may refer to.
const hintPickle = "Python reads its own pickles, and can pipe what they hold into ffconvert cbor -"

func badPickle(err error) error { return fmt.Errorf("%w: %w", converters.ErrMalformed, err) }

// pickled reads a value, in which lists and dicts may be nested up to depth levels. The value of the field
// begins at the byte from.
func (d *Decoder) pickled(data *pickle.Data, depth, from int) (any, error) {
	return d.pickledElement(data, depth, from, pickle.End)
}

// pickledElement reads a value, or end.
func (d *Decoder) pickledElement(data *pickle.Data, depth, from int, end pickle.Token) (any, error) {
	x, err := data.Value()
	if err != nil {
		return nil, badPickle(err)
	}
	t, ok := x.(pickle.Token)
	if !ok {
		return x, nil
	}
	if err := d.limits.nested(data.Offset - from); err != nil {
		return nil, err
	}
	switch {
	case t == end && t != pickle.End:
		return t, nil
	case t != pickle.BeginList && t != pickle.BeginDict:
		return nil, badPickle(fmt.Errorf("%w: opcode %q where a value is expected", pickle.ErrData, byte(t)))
	case depth == 0:
		return nil, tooDeep(d.limits.MaxDepth)
	case t == pickle.BeginList:
		return d.pickledList(data, depth-1, from)
	}
	return d.pickledDict(data, depth-1, from)
}

func (d *Decoder) pickledList(data *pickle.Data, depth, from int) (any, error) {
	list := []any{}
	for {
		x, err := d.pickledElement(data, depth, from, pickle.EndList)
		if err != nil || x == pickle.EndList {
			return list, err
		}
		list = append(list, x)
	}
}

func (d *Decoder) pickledDict(data *pickle.Data, depth, from int) (any, error) {
	var m converters.MapBuilder
	for {
		k, err := d.pickledElement(data, depth, from, pickle.EndDict)
		if err != nil || k == pickle.EndDict {
			return m.Map(), err
		}
		if !isKey(k) {
			return nil, badKey()
		}
		x, err := d.pickled(data, depth, from)
		if err != nil {
			return nil, err
		}
		if !m.Add(k, x) {
			return nil, keyTwice(k)
		}
	}
}
