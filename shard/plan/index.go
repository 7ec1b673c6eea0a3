package plan

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
)

// tableRow is what a sample costs in a shard beside its record: its CRC and offset in
// the header.
const TableRow = 12

// A PartIndex is what planning needs to know of one part: its account, and 8 bytes a
// sample.
type PartIndex struct {
	Part
	places        // by what a sample costs in shard bytes; one that is left out costs nothing
	Largest int64 // cost of the largest sample
}

// Add adds one sample that starts at off; size is the size of its record, -1 where it is
// left out.
func (p *PartIndex) Add(off, size int64) {
	cost := size + TableRow
	if size < 0 {
		cost = 0
	}
	p.places.add(off, cost)
	p.Largest = max(p.Largest, cost)
}

// IndexOptions say which parts to index, and how. The zero value indexes all of them for MessagePack
// records.
type IndexOptions struct {
	Encodings Encodings                        // of the records of each part
	Only      []int                            // the parts to index, by number; nil: all. The others need not be here
	Known     func(part int) (PartIndex, bool) // parts that were indexed before and are not read again; nil: none
	Workers   int                              // parts indexed at once; default: the CPUs that this process may use
	Progress  Progress                         // may be nil
}

// Index finds every sample of a source, and how large the record that will be made of it is. It
// returns the index of each part in the order of Only. The errors of all refused parts are joined.
func Index(ctx context.Context, src converters.Source, opts IndexOptions) ([]PartIndex, error) {
	parts, only := src.Parts(), opts.Only
	if only == nil {
		only = AllParts(src)
	}
	enc, err := opts.Encodings.orDefault()
	if err != nil {
		return nil, err
	}
	indexes, errs := make([]PartIndex, len(only)), make([]error, len(only))
	var unread []int // of only
	total := int64(0)
	for i, p := range only {
		if opts.Known != nil {
			var known bool
			if indexes[i], known = opts.Known(p); known {
				continue
			}
		}
		unread = append(unread, i)
		total += parts[p].Size
	}
	progress := StartPhase(opts.Progress, "index", total)
	var g errgroup.Group
	g.SetLimit(cmp.Or(max(0, opts.Workers), runtime.GOMAXPROCS(0)))
	for _, i := range unread {
		g.Go(func() error {
			if errs[i] = ctx.Err(); errs[i] == nil {
				n := enc.Number(only[i])
				indexes[i], errs[i] = indexPart(ctx, src, only[i], enc.Specs[n].NewEncoder(), progress)
				indexes[i].Encode = n
			}
			return nil
		})
	}
	g.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return indexes, errors.Join(errs...)
}

// AllParts returns the numbers of all parts of a source.
func AllParts(src converters.Source) []int {
	all := make([]int, len(src.Parts()))
	for i := range all {
		all[i] = i
	}
	return all
}

func indexPart(ctx context.Context, src converters.Source, i int, enc *encode.Encoder, to Progress) (PartIndex, error) {
	part := src.Parts()[i]
	idx := PartIndex{Part: Part{Name: part.Name, Size: part.Size}}
	if part.Copy != nil && part.Copy.Mark == "" {
		idx.Content = part.Copy.Content
	}
	progress := &Tally{To: to}
	defer progress.Flush()
	var files *fileTrace
	if part.Path == "" {
		files = newFileTrace()
	}
	var sizer sizer
	at := int64(0)
	for span, err := range src.Index(ctx, i) {
		if err != nil {
			return idx, err
		}
		if span.Shape == nil {
			idx.Account.skip(&span)
			continue
		}
		size, err := sizer.size(enc, &span, &idx.Account)
		if err != nil {
			return idx, &converters.Error{Where: part.Name, Off: span.Off, Entry: span.Shape.Key, Err: err, Hint: encode.Hint(err)}
		}
		if files != nil {
			files.add(&span)
		}
		idx.Add(span.Off, size)
		progress.Add(1, span.Off-at)
		at = span.Off
	}
	sizer.flush(&idx.Account)
	if files != nil {
		files.sum(&idx.Part)
	}
	progress.Add(0, idx.Size-at)
	idx.Trim()
	return idx, nil
}

// A sizer sizes records and enters their samples in an account. Alike samples are sized
// once and counted, and entered when one comes that differs; fields are entered when
// their names change: rows of numbers cost less to count than to encode.
type sizer struct {
	fields []sizedField // of the shape that was sized last
	keyed  bool         // it has a key
	record int64        // the size of its record; -1: left out
	put    int          // fields of it that go into the record
	sized  bool         // there was one
	alike  int64        // samples like it that are not in the account yet
}

// A sizedField is a field of the last shape, and the count of fields of its name in a row
// of samples with the same names.
type sizedField struct {
	name  string
	size  int64
	count FieldCount
}

// size returns the size of the record made of the span's sample, -1 where it is left out.
func (z *sizer) size(enc *encode.Encoder, span *converters.Span, a *Account) (int64, error) {
	a.Entries += int64(span.Entries)
	if span.Alike && z.sized {
		z.alike++
		return z.record, nil
	}
	z.count(a)
	rec, err := enc.Encode(span.Shape)
	switch {
	case err == nil:
		z.record, z.put = rec.Size, rec.Fields
	case errors.Is(err, encode.ErrSkip):
		z.record, z.put = -1, 0
	default:
		return 0, err
	}
	z.take(span.Shape, a)
	return z.record, nil
}

// take makes s the shape of the next samples.
func (z *sizer) take(s *converters.Sample, a *Account) {
	if !slices.EqualFunc(z.fields, s.Fields, func(z sizedField, f converters.Field) bool { return z.name == f.Name }) {
		z.flush(a)
		z.fields = z.fields[:0]
		for i := range s.Fields {
			z.fields = append(z.fields, sizedField{name: s.Fields[i].Name})
		}
	}
	for i := range z.fields {
		z.fields[i].size = s.Fields[i].Value.Len()
	}
	z.keyed, z.sized, z.alike = s.Key != "", true, 1
}

// count enters the alike samples.
func (z *sizer) count(a *Account) {
	n := z.alike
	z.alike = 0
	a.Samples += n
	if z.keyed {
		a.Keys += n
	}
	a.Fields += n * int64(len(z.fields))
	a.FieldsLeftOut += n * int64(len(z.fields)-z.put)
	if z.record < 0 {
		a.SamplesLeftOut += n
		return
	}
	for i := range z.fields {
		f := &z.fields[i]
		f.count.Samples += n
		f.count.Bytes += n * f.size
	}
}

// flush enters all that was counted, the fields too.
func (z *sizer) flush(a *Account) {
	z.count(a)
	for i := range z.fields {
		if f := &z.fields[i]; f.count.Samples > 0 {
			a.saw(f.name, f.count)
			f.count = FieldCount{}
		}
	}
}
