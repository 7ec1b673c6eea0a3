// package arrowipc parses the metadata of Arrow IPC files and streams, which may be damaged or hostile: schemas, and the
// places of the columns of record batches. It reads no column, and allocates no more than the size of the metadata.
//
//	table, err := arrowipc.Read(file, name, size) // all messages, by the footer of a file
//	stream, err := arrowipc.Open(r, 0, size)      // or one after another
//	batch, err := stream.Next()
//	batch.Columns[0].Data                         // a range of the file
//
// Format: https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
package arrowipc

import (
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
)

// A shape is the layout of the values of a field in buffers, other than its validity buffer.
type shape uint8

const (
	ShapeNull      shape = iota // none
	ShapeFixed                  // values of width bytes
	ShapeBits                   // values of a bit
	ShapeBytes                  // offsets, bytes
	ShapeView                   // 16 bytes per value: the value or its place; then any number of buffers of bytes
	ShapeStruct                 // none; children
	ShapeList                   // offsets; a child
	ShapeMap                    // offsets; a child, a struct of key and value
	ShapeFixedList              // none; a child with size elements for each value
	ShapeListView               // offsets, sizes; a child; values may share its elements
)

// A scalar is the type of a value of ShapeFixed, ShapeBytes or ShapeView.
type scalar uint8

const (
	scalarBytes scalar = iota
	scalarText         // with ShapeFixed: a UUID of 16 bytes
	scalarInt
	scalarUint
	scalarHalf
	scalarFloat
	scalarDouble
	scalarDecimal
)

// schemaDepth caps the nesting of a schema.
const schemaDepth = 64

// A Field is a column, or a part of one.
type Field struct {
	Name     string
	in       *Field // parent; nil: a column
	Shape    shape
	scalar   scalar
	Width    int64  // of a fixed value in bytes
	Wide     bool   // offsets have 8 bytes, else 4
	Size     int64  // elements of a list of ShapeFixedList
	Scale    int32  // of a decimal
	DType    string // numpy's name of the type, or str, bytes, bool, list, map, null
	Children []*Field
	Values   *Field // values of the dictionary, if the field has indexes; otherwise nil
	ID       int64  // of the dictionary

	Payload, Beside *Field // members bytes and path of a struct that holds a media file
}

// Path returns the names of the parents and the name of the field, joined by dots.
func (x *Field) Path() string {
	if x.in == nil {
		return x.Name
	}
	return x.in.Path() + "." + x.Name
}

// units are numpy's names for units of time.
var units = [...]string{"s", "ms", "us", "ns"}

// A Schema has the columns of a file or a stream.
type Schema struct {
	Fields       []*Field
	Metadata     map[string]string // of the keys in metadataKeys
	dictionaries map[int64]*Field  // values of the dictionaries
	room         int               // remaining bytes for fields: a hostile schema may refer to one field many times
	err          error
}

// metadataKeys are the keys of Schema.Metadata: of Hugging Face, and of the index of a shard.
var metadataKeys = []string{"huggingface", "ffconvert"}

const leastField = 24 // least bytes of a field in a schema, without its name

func (r *Schema) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// readSchema parses a schema.
func readSchema(f flat) (*Schema, error) {
	r := &Schema{Metadata: make(map[string]string), dictionaries: make(map[int64]*Field), room: len(f.b)}
	if f.number(0, 2, 0) != 0 {
		return nil, fmt.Errorf("%w: its numbers are big-endian", converters.ErrUnsupported)
	}
	f.list(1, 0, func(e flat) { r.Fields = append(r.Fields, r.field(e, nil, 1)) })
	texts := make(map[string][]byte)
	f.list(2, 0, func(e flat) {
		if key := e.text(0); slices.Contains(metadataKeys, string(key)) {
			texts[string(key)] = e.text(1)
		}
	})
	if *f.err != nil {
		return nil, fmt.Errorf("%w: %w", converters.ErrMalformed, *f.err)
	}
	for key, text := range texts { // copied once: many keys may have the same text
		r.Metadata[key] = string(text)
	}
	return r, r.err
}

// field parses a field with a parent at a depth.
func (r *Schema) field(f flat, in *Field, depth int) *Field {
	name := f.text(0)
	x := &Field{in: in}
	if r.room -= leastField + len(name); r.room < 0 {
		r.fail(fmt.Errorf("%w: its schema has more fields than bytes for them", converters.ErrMalformed))
	}
	if depth > schemaDepth {
		r.fail(fmt.Errorf("%w: its schema nests deeper than %d", converters.ErrLimit, schemaDepth))
	}
	if r.err != nil {
		return x
	}
	x.Name = string(name)
	f.list(5, 0, func(c flat) {
		if r.err == nil {
			x.Children = append(x.Children, r.field(c, x, depth+1))
		}
	})
	kind, _ := f.table(3)
	r.setType(x, f.number(2, 1, 0), kind)
	f.list(6, 0, func(e flat) {
		if string(e.text(0)) == "ARROW:extension:name" && string(e.text(1)) == "arrow.uuid" && x.Shape == ShapeFixed && x.scalar == scalarBytes && x.Width == 16 {
			x.scalar, x.DType = scalarText, "str"
		}
	})
	if dictionary, ok := f.table(4); ok && r.err == nil {
		r.dictionary(x, dictionary)
	}
	return x
}

// dictionary turns a field into one of indexes into a dictionary. x.Values gets the field as it was; DType stays.
func (r *Schema) dictionary(x *Field, f flat) {
	values := *x
	x.Values, x.Children, x.Shape, x.scalar, x.ID = &values, nil, ShapeFixed, scalarInt, f.number(0, 8, 0)
	x.Payload, x.Beside = nil, nil
	x.Width = 4
	if index, ok := f.table(1); ok {
		x.Width = index.number(0, 4, 0) / 8
		if index.number(1, 1, 0) == 0 {
			x.scalar = scalarUint
		}
	}
	if !isWidth(x.Width) {
		r.bad(x, "indexes of %d bytes", x.Width)
	}
	if slices.ContainsFunc(values.Children, (*Field).hasDictionary) {
		r.fail(fmt.Errorf("%w: column %q has a dictionary in a dictionary", converters.ErrUnsupported, x.Path()))
	}
	if r.dictionaries[x.ID] == nil {
		r.dictionaries[x.ID] = &values
	}
}

func (x *Field) hasDictionary() bool {
	return x.Values != nil || slices.ContainsFunc(x.Children, (*Field).hasDictionary)
}

func isWidth(n int64) bool { return n == 1 || n == 2 || n == 4 || n == 8 }

func (r *Schema) bad(x *Field, format string, args ...any) {
	r.fail(fmt.Errorf("%w: column %q has %s", converters.ErrMalformed, x.Path(), fmt.Sprintf(format, args...)))
}
