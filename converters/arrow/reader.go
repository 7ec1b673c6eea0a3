package arrow

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/arrowipc"
	"github.com/ffconvert/ffconvert/internal/place"
)

// A reader reads rows of one part. It must not be used concurrently.
type reader struct {
	src    *source
	part   converters.Part
	number int // number of the part
	how    converters.Access
	index  bool
	table  *arrowipc.Table // nil: not read

	needed func(field string) bool
	fields []*arrowipc.Field        // of the first level, to read
	unread map[*arrowipc.Field]bool // fields whose bytes are not needed
	files  columns.Files
	shared converters.File
	own    map[*arrowipc.Field]*stream

	expander columns.Expander
	loader   loader
	batch    int
	row      int64 // next row in the batch
	layout   *arrowipc.Layout
	arrays   []*array // rows [from, to) of the fields
	from, to int64
	left     int64                      // rows that the caller still wants
	words    map[*arrowipc.Field][]word // values of dictionaries
	wordRoom int64                      // rest of Options.MaxBatch for dictionaries
	room     int64                      // rest of Options.MaxBatch for the batch

	rowRoom int64 // bytes that nested values of the row may still take
	sample  converters.Sample
	spans   [1]converters.Span
	broken  *arrowipc.Field
}

// Begin reads the metadata, and seeks to the first row of a pass. An index compares the columns with those of the first
// part.
func (r *reader) Begin(_ context.Context, p *scan.Pass) (err error) {
	r.part, r.number, r.how, r.index, r.shared, r.left = p.Part, p.Run.Part, p.Access(), p.Index, p.File, p.Run.Count
	r.files.Part, r.wordRoom = r.part, r.src.opts.MaxBatch
	r.own, r.words, r.unread = make(map[*arrowipc.Field]*stream), make(map[*arrowipc.Field][]word), make(map[*arrowipc.Field]bool)
	if r.table, err = r.src.table(r.number, r.shared); err != nil {
		return err
	}
	r.choose()
	if p.Index && r.table.Rows > 0 {
		if err := r.src.mismatches.Compare(r.part.Name, r.src.desc, describe(r.table, r.src.opts.Fields)); err != nil {
			return &converters.Error{Where: r.part.Name, Off: 0, Entry: "schema", Err: err, Hint: place.HintOf(err)}
		}
	}
	if !p.Index { // an index also checks batches without rows
		r.seek(p.Run.First)
	}
	return nil
}

func (r *reader) Offset() int64 {
	switch {
	case r.table == nil:
		return -1
	case r.batch < len(r.table.Batches):
		return offset(&r.table.Batches[r.batch], r.row)
	}
	return r.table.End
}

// Next returns the next row. An index reads metadata, offsets, texts and numbers of the chosen columns. The bytes of a
// first-level field are in a buffer, not copied.
func (r *reader) Next(context.Context, int64) ([]converters.Span, error) {
	if more, err := r.next(); err != nil || !more {
		return nil, err
	}
	r.spans[0] = converters.Span{Off: r.sample.Off, Entries: 1, Shape: &r.sample}
	return r.spans[:], nil
}

// End closes the files, and clears the part's state. Files with read-ahead are last, since closing them reports the
// size of samples.
func (r *reader) End() {
	r.files.Close()
	for _, s := range r.own {
		if s.file != nil {
			s.file.Close()
		}
	}
	*r = reader{src: r.src}
}

func (r *reader) choose() {
	t, opts := r.table, &r.src.opts
	r.needed = columns.Needed(opts.Fields, fields(t))
	for _, x := range t.Fields {
		if x.Name != converters.KeyField && !r.needed(x.Name) && (x.Payload == nil || !r.needed(pathField(x))) {
			continue
		}
		r.fields = append(r.fields, x)
		of := x
		if x.Payload != nil {
			of = x.Payload
		}
		r.unread[of] = r.index && of.IsBytes() && !opts.Load(x.Name) || r.which(x) == bytesNone
	}
}

// which returns how much of the bytes of a column is read.
func (r *reader) which(x *arrowipc.Field) int {
	of := x
	if x.Payload != nil {
		of = x.Payload
	}
	switch {
	case !r.needed(x.Name) && x.Name != converters.KeyField:
		return bytesNone
	case r.unread[of]:
		return bytesSize
	}
	return bytesEach
}

func (r *reader) seek(row int64) {
	all := r.table.Batches
	r.batch = sort.Search(len(all), func(i int) bool { return all[i].First+all[i].Rows > row })
	if r.batch < len(all) {
		r.row = row - all[r.batch].First
	}
}

// next sets r.sample to the next row, or returns false at the end of the part.
func (r *reader) next() (bool, error) {
	all := r.table.Batches
	for r.batch < len(all) && r.row == all[r.batch].Rows {
		if r.index && r.row == 0 { // a batch that claims no rows is checked too
			if _, err := r.place(all[r.batch], r.table.Fields); err != nil {
				return false, r.fail(err)
			}
		}
		r.batch, r.row, r.layout = r.batch+1, 0, nil
	}
	if r.batch == len(all) {
		return false, nil
	}
	b := &all[r.batch]
	r.sample = converters.Sample{Off: offset(b, r.row), Fields: r.sample.Fields[:0]}
	r.broken = nil
	if err := r.load(b); err != nil {
		return false, r.fail(err)
	}
	r.rowRoom = r.src.opts.MaxValue
	for i, x := range r.fields {
		if err := r.field(x, r.arrays[i], r.row-r.from); err != nil {
			r.broken = x
			return false, r.fail(err)
		}
	}
	r.row++
	r.left--
	return true, nil
}

// offset returns a position of row i for errors and indexes: proportional to i within the message, since the values are
// in many buffers.
func offset(b *arrowipc.Message, i int64) int64 {
	if i == 0 { // the batch may have no rows
		return b.Off
	}
	return b.Off + int64(float64(b.End-b.Off)*(float64(i)/float64(b.Rows)))
}

// field appends the fields of a column to the sample.
func (r *reader) field(x *arrowipc.Field, a *array, i int64) error {
	if x.Payload != nil {
		return r.media(x, a, i)
	}
	v, err := r.value(a, i)
	switch {
	case err != nil:
		return err
	case x.Name != converters.KeyField:
		r.sample.Fields = append(r.sample.Fields, converters.Field{Name: x.Name, Value: v})
	case v.Kind() != converters.KindText:
		return fmt.Errorf("%w: a key that is null", converters.ErrMalformed)
	default:
		r.sample.Key = string(v.Data())
	}
	return nil
}

// media appends the bytes and the path of a column of media.
func (r *reader) media(x *arrowipc.Field, a *array, i int64) error {
	bytes, path := converters.Nested(nil), converters.Nested(nil)
	if !a.null(i) {
		for _, kid := range a.kids {
			v, err := r.value(kid, i)
			if err != nil {
				return err
			}
			if kid.Field == x.Payload {
				bytes = v
			} else {
				path = v
			}
		}
	}
	if r.needed(x.Name) {
		if bytes.Kind() == converters.KindNested && path.Kind() == converters.KindText {
			var err error
			if bytes, err = r.files.Value(string(path.Data()), !r.index || r.src.opts.Load(x.Name), r.src.opts.MaxValue); err != nil {
				return err
			}
		}
		r.sample.Fields = append(r.sample.Fields, converters.Field{Name: x.Name, Value: bytes})
	}
	if r.needed(pathField(x)) {
		r.sample.Fields = append(r.sample.Fields, converters.Field{Name: pathField(x), Value: path})
	}
	return nil
}

// fail places an error in the batch.
func (r *reader) fail(err error) error {
	if placed, ok := errors.AsType[*converters.Error](err); ok {
		return placed
	}
	b := &r.table.Batches[r.batch]
	e := converters.Error{Where: r.part.Name, Off: b.Off, Entry: fmt.Sprintf("row %d", b.First+r.row)}
	if r.broken != nil {
		e.Entry += fmt.Sprintf(", column %q", r.broken.Path())
	}
	e.Err, e.Hint = err, place.HintOf(err)
	return &e
}
