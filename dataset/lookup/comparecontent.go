package lookup

import (
	"cmp"
	"errors"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
)

// A content is equal for equal samples: size, CRC-32 and label, or the hash of all fields.
type content struct {
	size        int64
	crc, labels uint32
	fields      uint64
}

// An item is a sample of a dataset.
type item struct {
	row *Row
	content
}

// seeds are the random seeds of this process for hashes.
var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// A hash is the hash of a key.
type hash [2]uint64

func (x *item) key() hash {
	return hash{maphash.String(seeds[0], x.row.Key), maphash.String(seeds[1], x.row.Key)}
}

// items yields the samples of a dataset. An item is valid until the next one.
func (c *comparison) items(d *Dataset) iter.Seq2[*item, error] {
	x := new(item)
	if c.opts.Decode {
		return func(yield func(*item, error) bool) { c.decoded(d, x, yield) }
	}
	return func(yield func(*item, error) bool) {
		for r, err := range d.Walk(c.ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			*x = item{r, content{size: r.At.Size, crc: r.At.CRC}}
			if c.labels && r.Labeled {
				x.labels = 1 + uint32(maphash.Comparable(seeds[0], r.Label)>>33)
			}
			if !yield(x, nil) {
				return
			}
		}
	}
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// decoded yields items whose content is the hash of their fields.
func (c *comparison) decoded(d *Dataset, x *item, yield func(*item, error) bool) {
	spec, err := encode.Parse(encode.Options{Encoding: "msgpack"})
	if err != nil {
		yield(nil, err)
		return
	}
	enc := spec.NewEncoder()
	var h maphash.Hash
	h.SetSeed(seeds[0])
	err = d.WalkRecords(c.ctx, nil, func(r *Row, data []byte) error {
		s, err := d.Decode(r, data)
		if err != nil {
			return err
		}
		r.Key = cmp.Or(r.Key, s.Key)
		s.Key = ""
		slices.SortStableFunc(s.Fields, func(a, b converters.Field) int { return cmp.Compare(a.Name, b.Name) })
		rec, err := enc.Encode(s)
		if err != nil {
			return err
		}
		h.Reset()
		for _, p := range rec.Parts {
			h.Write(p)
		}
		*x = item{r, content{fields: h.Sum64()}}
		if !yield(x, nil) {
			return errEnough
		}
		return nil
	})
	if err != nil && err != errEnough {
		yield(nil, err)
	}
}
