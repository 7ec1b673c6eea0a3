package lookup

import (
	"context"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/sidecar"
	"github.com/ffconvert/ffconvert/record"
)

// A Row holds the facts about a sample that need no record. It is valid until the next one.
type Row struct {
	Number  int64  // in the dataset, from 0
	Key     string // "": it has none, or the index was not read
	Label   int64
	Labeled bool // it has a class, Label

	Shard  string        // path of its shard
	At     record.Extent // where it is there, if Placed
	Placed bool

	Source    int   // row of "sources" in the manifest that it comes from; -1: not known
	SourceOff int64 // where it begins there, in bytes; -1: not known. [Dataset.Row] and [Dataset.Find] alone read it

	shard  int
	sample int64 // in the shard
	doubt  bool  // the key was found in an index that was not compared with its checksum
}

// set takes over what the index says.
func (r *Row) set(x *sidecar.Row) {
	r.Key, r.Label, r.Labeled, r.Source, r.SourceOff = x.Key, x.Label, x.Labeled, int(x.Source), x.SourceOff
	if r.Placed = x.Placed; x.Placed {
		r.At = record.Extent{Off: x.Off, Size: x.Size, CRC: x.CRC}
	}
}

// place makes it sample i of shard k.
func (r *Row) place(d *Dataset, k int, i int64) {
	*r = Row{Number: d.starts[k] + i, Shard: d.shards[k].path, shard: k, sample: i, Source: -1, SourceOff: -1}
}

// ErrRange reports the number of a sample that is not there.
var ErrRange = place.New(place.Refused, "no such sample")

// Row returns sample n: where it is, and if described what its index says of it.
func (d *Dataset) Row(n int64, described bool) (*Row, error) {
	if n < 0 || n >= d.Len() {
		return nil, &place.Error{Where: d.Path, Off: -1, Err: fmt.Errorf("%w: #%d of %d, which are numbered from 0", ErrRange, n, d.Len())}
	}
	k, i := d.find(n)
	r := new(Row)
	r.place(d, k, i)
	if d.shards[k].index == "" || !described && (d.manifest == nil || len(d.manifest.Encodes) == 0) {
		return r, nil
	}
	x, err := d.opts.openIndex(&d.shards[k])
	if err != nil {
		return nil, err
	}
	defer x.close()
	x.rows.SkipTo(i)
	x.rows.SourceOffs = true
	said, err := x.rows.Row(i)
	if err != nil {
		return nil, x.fail(err)
	}
	r.set(said)
	return r, nil
}

// CheckIndex compares the whole index of the shard of a sample with its checksum, and so what the row says: Row and Find
// read a few bytes of it. An index that Options.Open opens was compared before.
func (d *Dataset) CheckIndex(ctx context.Context, r *Row) error {
	s := &d.shards[r.shard]
	if s.index == "" || d.opts.Open != nil {
		return nil
	}
	x, err := d.opts.openIndex(s)
	if err != nil {
		return err
	}
	defer x.close()
	err = x.check(ctx)
	r.doubt = r.doubt && err != nil
	return err
}

// Record reads the record of a sample. It is compared with its CRC, and its place with the index. Where the CRC alone
// differs, the bytes are returned beside the error. If Find has found its key, that is compared with the key in the record; where
// there is none, or another one, the whole index is compared with its checksum.
func (d *Dataset) Record(ctx context.Context, r *Row) ([]byte, error) {
	x := Records{d: d, most: 1}
	defer x.Close()
	data, err := x.Read(ctx, r)
	if err != nil || !r.doubt {
		return data, err
	}
	if s, err := d.decode(r, data); err == nil && s.Key == r.Key {
		return data, nil
	}
	return data, d.CheckIndex(ctx, r)
}

// fail places an error at a sample.
func (r *Row) fail(err error) error {
	return &record.FormatError{Path: r.Shard, Sample: r.sample, Off: r.At.Off, Err: err}
}

// Encoding returns the encoding of the record of a sample, "" if it is not known. Options.Encoding says what raw records
// are. Where all records have one encoding, any row serves.
func (d *Dataset) Encoding(r *Row) string {
	if d.manifest == nil {
		return d.opts.Encoding
	}
	m := d.manifest
	encoding := m.Encode.Encoding
	if r.Source >= 0 && r.Source < len(m.Sources) {
		if n := m.Sources[r.Source].Encode; n > 0 {
			encoding = m.Encodes[n-1].Encoding
		}
	}
	if encoding == "raw" && d.opts.Encoding != "" {
		return d.opts.Encoding
	}
	return encoding
}

// Decode returns the fields of a record. The sample is valid until the next one, and as long as the record is. Its
// key is the key in the record, else the key in the row.
func (d *Dataset) Decode(r *Row, data []byte) (*converters.Sample, error) {
	s, err := d.decode(r, data)
	if err == nil && s.Key == "" {
		s.Key = r.Key
	}
	return s, err
}

func (d *Dataset) decode(r *Row, data []byte) (*converters.Sample, error) {
	encoding := d.Encoding(r)
	if encoding == "" && d.manifest == nil {
		return nil, &place.Error{Where: d.Path, Off: -1, Err: ErrNoFields, Hint: "option records"}
	}
	dec := d.decoders[encoding]
	if dec == nil {
		var err error
		if dec, err = decode.New(encoding, d.opts.Limits); err != nil {
			return nil, err
		}
		d.decoders[encoding] = dec
	}
	s, err := dec.Decode(data)
	if err != nil {
		return nil, &place.Error{Where: r.Shard, Off: r.At.Off, Entry: r.Key, Err: fmt.Errorf("sample %d: %w", r.sample, err), Hint: place.HintOf(err)}
	}
	return s, nil
}
