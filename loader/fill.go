package loader

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
)

// A filler reads batches in one goroutine.
type filler struct {
	data     *data
	opts     *Options
	decoders map[string]*decode.Decoder // by encoding
	indices  []int
	places   [][]byte // slices of the slab, one for each sample
}

func (f *filler) fill(ctx context.Context, b *Batch) error {
	f.indices, f.places = f.indices[:0], f.places[:0]
	for k, i := range b.Indices {
		f.indices = append(f.indices, int(i))
		f.places = append(f.places, b.Data[b.Offsets[k]:b.Offsets[k+1]:b.Offsets[k+1]])
	}
	records, err := f.data.reader.ReadBatch(ctx, f.indices, f.places)
	clear(f.places) // release the references to the slab
	b.skipped = 0
	if err != nil {
		bad, isDamage := damage(err)
		if !f.opts.SkipDamaged || records == nil || !isDamage {
			return err
		}
		b.Damaged, b.skipped = bad, b.drop(records)
	}
	if f.opts.Keys {
		for _, i := range b.Indices {
			b.Keys = append(b.Keys, f.data.key(i))
		}
	}
	return f.decode(b)
}

// damage splits the joined errors of ReadBatch, and reports whether all are errors of damaged samples.
func damage(err error) (all []error, damaged bool) {
	all = []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		if !errors.Is(err, record.ErrCorrupt) && !errors.Is(err, syscall.EIO) {
			return all, false
		}
	}
	return all, true
}

// decode decodes the records, and stores the wanted fields.
func (f *filler) decode(b *Batch) error {
	if b.fields = len(f.opts.Fields); b.fields == 0 {
		return nil
	}
	for k, i := range b.Indices {
		encoding := f.data.encodingOf(i)
		dec := f.decoders[encoding]
		if dec == nil {
			var err error
			if dec, err = decode.New(encoding, decode.Limits{}); err != nil {
				return err
			}
			f.decoders[encoding] = dec
		}
		s, err := dec.Decode(b.Sample(k))
		for n := 0; err == nil && n < b.fields; n++ {
			var v *converters.Value
			if v, err = field(s, f.opts.Fields[n]); err == nil {
				b.values = append(b.values, *v)
			}
		}
		if err != nil {
			return f.data.fail(i, err)
		}
	}
	return nil
}

// field returns a field of a sample.
func field(s *converters.Sample, name string) (*converters.Value, error) {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return &s.Fields[i].Value, nil
		}
	}
	var names []string
	for _, f := range s.Fields {
		names = append(names, f.Name)
	}
	return nil, fmt.Errorf("%w %q; its fields are %q", errNoField, name, names)
}

var errNoField = place.New(place.Refused, "it has no field")
