package arrowipc

import (
	"errors"
	"fmt"
	"math"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Kinds of messages, and the slots of the members of their tables: format/Message.fbs and format/Schema.fbs of
// Apache Arrow.
const (
	kindSchema = 1
	kindBatch  = 3

	messageKind     = 6
	messageHeader   = 8
	messageBody     = 10
	messageMetadata = 12

	schemaFields   = 6
	schemaMetadata = 8

	fieldName       = 4
	fieldType       = 8
	fieldDictionary = 12
	fieldChildren   = 14
	fieldMetadata   = 16

	pairKey   = 4
	pairValue = 6

	batchRows        = 4
	batchNodes       = 6 // each a length and a null count
	batchBuffers     = 8 // each an offset and a length
	batchCompression = 10

	numbersSize = 16 // bytes of a node or a buffer: two int64
)

// buffersOf is the number of buffers of a column by the kind of its type: null, integer, float, bytes, text, bool.
var buffersOf = map[byte]int{1: 0, 2: 2, 3: 2, 4: 3, 5: 3, 6: 2}

// nestedBuffersOf is the same for a list, a struct and a map.
var nestedBuffersOf = map[byte]int{12: 2, 13: 1, 17: 2}

// mostDepth is how deep columns nest; Arrow's reader stops there.
const mostDepth = 64

// leastField is less than the bytes that a field of a schema takes.
const leastField = 8

// A shape is the size of a record batch by its schema.
type shape struct {
	nested  bool   // columns may have columns
	each    []int  // buffers of each column, and of each inside one, behind it
	inner   []bool // which of them are inside another
	buffers int    // of all columns
}

// A head is what the metadata of a message says.
type head struct {
	meta, body int64 // bytes
	rows       int64 // of a record batch
}

// parse checks the metadata of a message, which may be any bytes: a table panics where an offset leads out of
// them, and several may refer to the same bytes. A schema sets the shape of the batches after it, a record batch
// sets batch unless that is nil.
func parse(meta []byte, columns *shape, batch *Batch) (h head, err error) {
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("%w: its metadata leads out of itself", ErrMalformed)
		}
	}()
	h.meta = int64(len(meta))
	message := table{flatbuffers.Table{Bytes: meta, Pos: flatbuffers.GetUOffsetT(meta)}}
	h.body = message.GetInt64Slot(messageBody, 0)
	if h.body < 0 {
		return h, fmt.Errorf("%w: a body of %d bytes", ErrMalformed, h.body)
	}
	if n, err := message.count(messageMetadata); err != nil || n > 0 {
		return h, fmt.Errorf("%w: it has metadata of its own", ErrMalformed)
	}
	content, ok := message.content()
	if !ok {
		return h, fmt.Errorf("%w: it has no header", ErrMalformed)
	}
	switch kind := message.GetByteSlot(messageKind, 0); kind {
	case kindSchema:
		return h, content.checkSchema(columns)
	case kindBatch:
		h.rows = content.GetInt64Slot(batchRows, 0)
		if err := content.checkBatch(&h, columns); err != nil || batch == nil {
			return h, err
		}
		return h, content.locate(&h, columns, batch)
	default:
		return h, fmt.Errorf("%w: it is of kind %d", ErrMalformed, kind)
	}
}

// A table is a table of a flatbuffer.
type table struct{ flatbuffers.Table }

// at returns the position of a member, 0 if there is none.
func (t *table) at(slot flatbuffers.VOffsetT) flatbuffers.UOffsetT {
	return flatbuffers.UOffsetT(t.Offset(slot))
}

// content returns the table of a message that its kind is of.
func (t *table) content() (content table, ok bool) {
	at := t.at(messageHeader)
	if ok = at != 0; ok {
		t.Union(&content.Table, at)
	}
	return content, ok
}

// count returns the length of a list, of which each element has 4 bytes or more.
func (t *table) count(slot flatbuffers.VOffsetT) (int, error) {
	at := t.at(slot)
	if at == 0 {
		return 0, nil
	}
	n := t.VectorLen(at)
	if n < 0 || n > len(t.Bytes)/4 {
		return 0, fmt.Errorf("%w: a list of %d elements", ErrMalformed, n)
	}
	return n, nil
}

// tables calls check for each table of a list.
func (t *table) tables(slot flatbuffers.VOffsetT, check func(*table) error) error {
	n, err := t.count(slot)
	if err != nil || n == 0 {
		return err
	}
	first := t.Vector(t.at(slot))
	for i := range n {
		at := t.Indirect(first + flatbuffers.UOffsetT(4*i))
		if err := check(&table{flatbuffers.Table{Bytes: t.Bytes, Pos: at}}); err != nil {
			return err
		}
	}
	return nil
}

// text returns the length of a text.
func (t *table) text(slot flatbuffers.VOffsetT) int {
	if at := t.at(slot); at != 0 {
		return len(t.ByteVector(at + t.Pos))
	}
	return 0
}

// checkSchema checks that a schema has columns of single values only, unless columns.nested is set, and that its texts together are
// not longer than the metadata.
func (t *table) checkSchema(columns *shape) error {
	*columns = shape{nested: columns.nested}
	left := len(t.Bytes)
	use := func(n int) error {
		if left -= n; left < 0 {
			return fmt.Errorf("%w: its names are longer than its metadata", ErrMalformed)
		}
		return nil
	}
	err := t.tables(schemaFields, func(field *table) error { return field.checkField(columns, 0, use) })
	if err != nil {
		return err
	}
	return t.tables(schemaMetadata, func(pair *table) error {
		return use(pair.text(pairKey) + pair.text(pairValue))
	})
}

// checkField checks a column, and those inside it. use counts bytes of the metadata: several columns may refer to the same ones.
func (t *table) checkField(columns *shape, depth int, use func(int) error) error {
	if t.at(fieldDictionary) != 0 {
		return fmt.Errorf("%w: a column has a dictionary", ErrMalformed)
	}
	if n, err := t.count(fieldMetadata); err != nil || n > 0 {
		return fmt.Errorf("%w: a column has metadata", ErrMalformed)
	}
	kind := t.GetByteSlot(fieldType, 0)
	buffers, ok := buffersOf[kind]
	nested := false
	if !ok && columns.nested {
		buffers, ok = nestedBuffersOf[kind]
		nested = ok
	}
	if !ok || depth >= mostDepth {
		return fmt.Errorf("%w: a column has the type %d", ErrMalformed, kind)
	}
	if n, err := t.count(fieldChildren); err != nil || n > 0 && !nested {
		return fmt.Errorf("%w: a column has columns", ErrMalformed)
	}
	columns.each, columns.inner, columns.buffers = append(columns.each, buffers), append(columns.inner, depth > 0), columns.buffers+buffers
	if err := use(t.text(fieldName)); err != nil || !nested {
		return err
	}
	return t.tables(fieldChildren, func(child *table) error {
		if err := use(leastField); err != nil {
			return err
		}
		return child.checkField(columns, depth+1, use)
	})
}

// checkBatch checks that a record batch has the rows and the bytes that it says.
func (t *table) checkBatch(h *head, want *shape) error {
	if t.at(batchCompression) != 0 {
		return fmt.Errorf("%w: its body is compressed", ErrMalformed)
	}
	if h.rows < 0 || h.rows > math.MaxInt32 {
		return fmt.Errorf("%w: %d rows", ErrMalformed, h.rows)
	}
	nodes, err := t.count(batchNodes)
	buffers, more := t.count(batchBuffers)
	if err != nil || more != nil || nodes != len(want.each) || buffers != want.buffers {
		return fmt.Errorf("%w: %d columns of %d buffers, its schema has %d of %d", ErrMalformed, nodes, buffers, len(want.each), want.buffers)
	}
	used, at := int64(0), 0
	return errors.Join(
		t.numbers(batchNodes, func(rows, nulls int64) error {
			inner := want.inner[at]
			at++
			if rows != h.rows && !inner || rows < 0 || rows > math.MaxInt32 || nulls < 0 || nulls > rows {
				return fmt.Errorf("%w: a column has %d rows, %d of them null, the batch has %d", ErrMalformed, rows, nulls, h.rows)
			}
			return nil
		}),
		t.numbers(batchBuffers, func(off, size int64) error {
			if off < 0 || size < 0 || off > h.body || size > h.body-off || used > h.body-size {
				return fmt.Errorf("%w: a buffer lies outside of its body", ErrMalformed)
			}
			used += size
			return nil
		}))
}

// locate sets batch to a record batch that was checked.
func (t *table) locate(h *head, columns *shape, batch *Batch) error {
	batch.Rows = h.rows
	var all []Buffer
	return errors.Join(
		t.numbers(batchBuffers, func(off, size int64) error {
			all = append(all, Buffer{off, size})
			return nil
		}),
		t.numbers(batchNodes, func(_, nulls int64) error {
			n := columns.each[len(batch.Columns)]
			batch.Columns = append(batch.Columns, Column{nulls, all[:n:n]})
			all = all[n:]
			return nil
		}))
}

// numbers calls check for each pair of numbers of a list.
func (t *table) numbers(slot flatbuffers.VOffsetT, check func(a, b int64) error) error {
	n, err := t.count(slot)
	if err != nil || n == 0 {
		return err
	}
	first := t.Vector(t.at(slot))
	for i := range n {
		at := first + flatbuffers.UOffsetT(i*numbersSize)
		if err := check(t.GetInt64(at), t.GetInt64(at+8)); err != nil {
			return err
		}
	}
	return nil
}
