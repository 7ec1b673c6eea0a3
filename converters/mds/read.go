package mds

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/text"
)

// Next returns the next sample of the shard. Bytes and text of a sample are in the read buffer, not copied.
func (r *reader) Next(context.Context, int64) ([]converters.Span, error) {
	i := r.following
	if i >= r.shard.Samples {
		return nil, nil
	}
	if err := r.next(i, !r.pass.Index); err != nil {
		return nil, err
	}
	if run := r.pass.Run; !r.pass.Index && i == run.First && r.sample.Off != run.Off {
		return nil, r.fail(run.Off, fmt.Errorf("%w: sample %d begins at %d", converters.ErrChanged, i, r.sample.Off), "")
	}
	r.following++
	r.spans[0] = converters.Span{Off: r.sample.Off, Entries: 1, Shape: &r.sample}
	return r.spans[:], nil
}

// next sets r.sample to sample i, which must follow the last one. Unless whole is set it is a shape.
func (r *reader) next(i int64, whole bool) error {
	r.number = i
	r.Relax()
	from, err := r.offset(i)
	if err != nil {
		return err
	}
	to, err := r.offset(i + 1)
	if err != nil {
		return err
	}
	if from < 4*(r.shard.Samples+2) || to < from || to > r.Size {
		return r.fail(4+4*i, fmt.Errorf("%w: a sample from %d to %d", converters.ErrMalformed, from, to), "")
	}
	switch at := r.Offset(); {
	case i == 0 && from > at: // after the configuration
		r.Skip(from - at)
	case from != at:
		return r.fail(4+4*i, fmt.Errorf("%w: a sample at %d, the one before it ends at %d", converters.ErrMalformed, from, at), "")
	}
	if most := r.src.opts.MaxSample; to-from > most {
		return r.fail(from, fmt.Errorf("%w: the sample has more than %s", converters.ErrLimit, text.Count(most, "byte")), "option max-sample-size")
	}
	r.sample.Off, r.sample.Key, r.sample.Fields, r.arena = from, "", r.sample.Fields[:0], r.arena[:0]
	if err := r.split(to - from); err != nil {
		return r.place(from, err)
	}
	if whole {
		if err := r.Fill(int(to - r.Offset())); err != nil { // keeps all values of the sample in place
			return r.place(from, err)
		}
	}
	for k := range r.shard.columns {
		if err := r.field(&r.shard.columns[k], r.sizes[k], whole); err != nil {
			return r.place(from, fmt.Errorf("field %q: %w", r.shard.columns[k].Name, err))
		}
	}
	return nil
}

// place places an error in the current sample.
func (r *reader) place(from int64, err error) error { return r.fail(from, err, "") }

// split reads the sizes of the values of a sample of n bytes.
func (r *reader) split(n int64) error {
	wrong := fmt.Errorf("%w: the values have other sizes than the sample, which has %d bytes", converters.ErrMalformed, n)
	r.sizes = r.sizes[:0]
	left := n - 4*r.shard.sized
	if left < 0 {
		return wrong
	}
	head, err := r.Peek(int(4 * r.shard.sized))
	if err != nil {
		return err
	}
	for k := range r.shard.columns {
		size := r.shard.columns[k].Size
		if size == 0 {
			size = int64(binary.LittleEndian.Uint32(head))
			head = head[4:]
		}
		left -= size
		r.sizes = append(r.sizes, size)
	}
	if left != 0 {
		return wrong
	}
	r.Pos += int(4 * r.shard.sized)
	return nil
}

// field decodes the next value and appends it to the sample.
func (r *reader) field(c *column, size int64, whole bool) error {
	var v converters.Value
	if whole || !c.opaque() || r.src.opts.Load(c.Name) {
		b, err := r.Peek(int(size))
		if err != nil {
			return err
		}
		if !whole && c.kind != array { // the value is skipped, not read
			from := len(r.arena)
			r.arena = append(r.arena, b...)
			b = r.arena[from:len(r.arena):len(r.arena)]
		}
		if v, err = r.value(c, b[:size:size]); err != nil {
			return err
		}
	} else if c.kind == array {
		b, err := r.Peek(int(min(size, mostHead)))
		if err != nil {
			return err
		}
		n, err := r.arraySize(c, b, size)
		if err != nil {
			return err
		}
		v = converters.Opaque(n)
	} else {
		v = converters.Opaque(size)
	}
	r.Skip(size)
	if c.Name == converters.KeyField {
		if v.Len() == 0 {
			return errors.New("an empty key")
		}
		r.sample.Key = string(v.Data())
		return nil
	}
	r.sample.Fields = append(r.sample.Fields, converters.Field{Name: c.Name, Value: v})
	return nil
}
