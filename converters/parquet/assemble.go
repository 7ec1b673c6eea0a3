package parquet

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
)

// An assembler assembles the values of a row from the cursors of its leaves.
type assembler struct {
	cursors []*cursor // by leaf number; nil: not read
	files   *columns.Files
	room    int64 // bytes that the row's nested values may still take
	broken  *leaf // leaf of the last error
}

// spend charges memory for nested values.
func (a *assembler) spend(n int64) error {
	if a.room -= columns.ElementSize + n; a.room < 0 {
		return columns.Over("max-value-size", "the nested values of the row")
	}
	return nil
}

// fail records the leaf of an error.
func (a *assembler) fail(l *leaf, err error) error {
	if err != nil && a.broken == nil {
		a.broken = l
	}
	return err
}

var errNulls = fmt.Errorf("%w: its nulls do not fit the columns beside it", converters.ErrMalformed)

// null reports whether the next value of n is null; if so, it consumes the value. rep is the repetition level at which
// the value begins.
func (a *assembler) null(n *node, rep int) (bool, error) {
	if !n.optional {
		return false, nil
	}
	c := a.cursors[n.first]
	if err := a.fail(c.leaf, c.start(rep)); err != nil {
		return false, err
	}
	if c.def >= n.def {
		return false, nil
	}
	return true, a.pass(n, rep, c.def)
}

// pass consumes one value of every leaf below n, which is null: all have the same levels.
func (a *assembler) pass(n *node, rep, def int) error {
	for _, c := range a.cursors[n.first:n.end] {
		if err := a.fail(c.leaf, c.start(rep)); err != nil {
			return err
		}
		if c.def != def {
			return a.fail(c.leaf, errNulls)
		}
		c.has = false
	}
	return nil
}

// field sets v to the next value of a column of the first level. Its bytes are valid until the next row.
func (a *assembler) field(n *node, v *converters.Value) error {
	if n.shape == shapeLeaf {
		return a.flat(n, 0, v)
	}
	null, err := a.null(n, 0)
	if err != nil || null {
		*v = converters.Nested(nil)
		return err
	}
	x, err := a.content(n, 0)
	*v = converters.Nested(x)
	return err
}

// flat sets v to the next value of a leaf. It is null if the leaf, or a struct around it, is.
func (a *assembler) flat(n *node, rep int, v *converters.Value) error {
	c := a.cursors[n.first]
	err := c.start(rep)
	if err == nil {
		if c.has = false; c.def < n.def {
			*v = converters.Nested(nil)
			return nil
		}
		err = c.value(&c.datum, v)
	}
	return a.fail(c.leaf, err)
}

// nested consumes the next value of a node within another one. It does not share memory with a page.
func (a *assembler) nested(n *node, rep int) (any, error) {
	null, err := a.null(n, rep)
	if err != nil || null {
		return nil, err
	}
	if n.shape != shapeLeaf {
		return a.content(n, rep)
	}
	var v converters.Value
	err = a.flat(n, rep, &v)
	if err == nil && a.cursors[n.first].def < n.def {
		err = a.fail(n.leaf, errNulls)
	}
	if err != nil {
		return nil, err
	}
	if err := a.fail(n.leaf, a.spend(v.Len())); err != nil {
		return nil, err
	}
	return columns.Own(&v), nil
}

// content consumes a struct, a list or a map that is not null.
func (a *assembler) content(n *node, rep int) (any, error) {
	if n.shape == shapeStruct {
		return a.structure(n, rep)
	}
	c := a.cursors[n.first]
	if err := a.fail(c.leaf, c.start(rep)); err != nil {
		return nil, err
	}
	var list []any
	var pairs converters.MapBuilder
	if c.def < n.elementDef {
		if err := a.pass(n, rep, c.def); err != nil {
			return nil, err
		}
	} else {
		for again := true; again; {
			var err error
			if n.shape == shapeList {
				var v any
				v, err = a.nested(n.children[0], rep)
				list = append(list, v)
			} else {
				err = a.pair(&pairs, n, rep)
			}
			if err == nil {
				err = a.fail(c.leaf, a.spend(0))
			}
			if err == nil {
				err = a.fail(c.leaf, c.look())
			}
			if err != nil {
				return nil, err
			}
			rep, again = n.elementRep, !c.end && c.rep == n.elementRep
		}
	}
	if n.shape == shapeMap {
		return pairs.Map(), nil
	}
	if list == nil {
		list = []any{}
	}
	return list, nil
}

// pair consumes an entry of a map.
func (a *assembler) pair(to *converters.MapBuilder, n *node, rep int) error {
	key, err := a.nested(n.children[0], rep)
	if err != nil {
		return err
	}
	var value any
	if len(n.children) > 1 {
		if value, err = a.nested(n.children[1], rep); err != nil {
			return err
		}
	}
	if !to.Add(key, value) {
		return a.fail(n.children[0].leaf, fmt.Errorf("%w key %v of a map", converters.ErrDuplicate, key))
	}
	return nil
}

func (a *assembler) structure(n *node, rep int) (any, error) {
	m := make(converters.Map, 0, len(n.children))
	for _, c := range n.children {
		v, err := a.nested(c, rep)
		if err != nil {
			return nil, err
		}
		m = append(m, converters.Pair{Key: c.name, Value: v})
	}
	if !n.media {
		return m, nil
	}
	at, from := 0, 1
	if m[0].Key == "path" {
		at, from = 1, 0
	}
	if path, ok := m[from].Value.(string); ok && m[at].Value == nil {
		b, err := a.files.Value(path, true, a.room)
		if err == nil {
			err = a.spend(b.Len())
		}
		if err != nil {
			return nil, a.fail(n.children[at].leaf, err)
		}
		m[at].Value = b.Data()
	}
	return m, nil
}
