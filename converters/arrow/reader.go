package arrow

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
)

// A reader reads rows of one part. It is for one goroutine.
type reader struct {
	src    *Source
	part   converters.Part
	number int // of the part
	how    converters.Access
	index  bool
	table  *table

	needed func(field string) bool
	fields []*field        // of the first level, to read
	unread map[*field]bool // bytes that are not needed
	files  columns.Files
	shared converters.File
	own    map[*field]*stream

	expander columns.Expander
	loader   loader
	batch    int
	row      int64 // of the batch, of the next row
	layout   *layout
	arrays   []*array // rows [from, to) of the fields
	from, to int64
	left     int64             // rows that the caller wants
	words    map[*field][]word // values of dictionaries
	wordRoom int64             // of Options.MaxBatch, for them
	room     int64             // of Options.MaxBatch, for the batch

	rowRoom int64 // bytes that the nested values of the row may still take
	sample  converters.Sample
	broken  *field
}

func (s *Source) reader(p int, how converters.Access, index bool, rows int64) (*reader, error) {
	f, err := s.open(s.parts[p], how)
	if err != nil {
		return nil, err
	}
	t, err := s.table(p, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	r := &reader{src: s, part: s.parts[p], number: p, how: how, index: index, table: t, shared: f, left: rows}
	r.files.Part, r.wordRoom = r.part, s.opts.MaxBatch
	r.own, r.words, r.unread = make(map[*field]*stream), make(map[*field][]word), make(map[*field]bool)
	r.choose()
	return r, nil
}

// close closes the files. Those that read ahead are last, since they tell how large samples are.
func (r *reader) close() {
	r.files.Close()
	r.shared.Close()
	for _, s := range r.own {
		if s.file != nil {
			s.file.Close()
		}
	}
}

// choose chooses the fields to read.
func (r *reader) choose() {
	t, opts := r.table, &r.src.opts
	r.needed = columns.Needed(opts.Fields, t.names())
	for _, x := range t.fields {
		if x.name != converters.KeyField && !r.needed(x.name) && (x.payload == nil || !r.needed(x.pathField())) {
			continue
		}
		r.fields = append(r.fields, x)
		of := x
		if x.payload != nil {
			of = x.payload
		}
		r.unread[of] = r.index && of.scalar == scalarBytes && !opts.Load(x.name) || r.which(x) == bytesNone
	}
}

// which says how much of the bytes of a column is read.
func (r *reader) which(x *field) int {
	of := x
	if x.payload != nil {
		of = x.payload
	}
	switch {
	case !r.needed(x.name) && x.name != converters.KeyField:
		return bytesNone
	case r.unread[of]:
		return bytesSize
	}
	return bytesEach
}

// seek turns to a row of the part.
func (r *reader) seek(row int64) {
	all := r.table.batches
	r.batch = sort.Search(len(all), func(i int) bool { return all[i].first+all[i].rows > row })
	if r.batch < len(all) {
		r.row = row - all[r.batch].first
	}
}

// next makes r.sample the next row, or returns false at the end of the part.
func (r *reader) next(ctx context.Context) (bool, error) {
	all := r.table.batches
	for r.batch < len(all) && r.row == all[r.batch].rows {
		if r.index && r.row == 0 { // without rows: is that so?
			if _, err := place(r.shared, all[r.batch].message, r.table.fields); err != nil {
				return false, r.fail(err)
			}
		}
		r.batch, r.row, r.layout = r.batch+1, 0, nil
	}
	if r.batch == len(all) {
		return false, nil
	}
	b := &all[r.batch]
	r.sample = converters.Sample{Off: b.offset(r.row), Fields: r.sample.Fields[:0]}
	if err := ctx.Err(); err != nil {
		return false, &converters.Error{Where: r.part.Name, Off: r.sample.Off, Err: err}
	}
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

// offset is the share of row i of the message, for errors and indexes: its values lie in many buffers.
func (b *batch) offset(i int64) int64 {
	return b.off + int64(float64(b.body+b.space-b.off)*(float64(i)/float64(b.rows)))
}

// field appends the fields of a column to the sample.
func (r *reader) field(x *field, a *array, i int64) error {
	if x.payload != nil {
		return r.media(x, a, i)
	}
	v, err := r.value(a, i)
	switch {
	case err != nil:
		return err
	case x.name != converters.KeyField:
		r.sample.Fields = append(r.sample.Fields, converters.Field{Name: x.name, Value: v})
	case v.Kind() != converters.KindText:
		return fmt.Errorf("%w: a key that is null", converters.ErrMalformed)
	default:
		r.sample.Key = string(v.Data())
	}
	return nil
}

// media appends the bytes and the path of a column of media.
func (r *reader) media(x *field, a *array, i int64) error {
	bytes, path := converters.Nested(nil), converters.Nested(nil)
	if !a.null(i) {
		for _, kid := range a.kids {
			v, err := r.value(kid, i)
			if err != nil {
				return err
			}
			if kid.field == x.payload {
				bytes = v
			} else {
				path = v
			}
		}
	}
	if r.needed(x.name) {
		if bytes.Kind() == converters.KindNested && path.Kind() == converters.KindText {
			var err error
			if bytes, err = r.files.Value(string(path.Data()), !r.index || r.src.opts.Load(x.name), r.src.opts.MaxValue); err != nil {
				return err
			}
		}
		r.sample.Fields = append(r.sample.Fields, converters.Field{Name: x.name, Value: bytes})
	}
	if r.needed(x.pathField()) {
		r.sample.Fields = append(r.sample.Fields, converters.Field{Name: x.pathField(), Value: path})
	}
	return nil
}

// fail places an error in the batch.
func (r *reader) fail(err error) error {
	if placed, ok := errors.AsType[*converters.Error](err); ok {
		return placed
	}
	b := &r.table.batches[r.batch]
	e := converters.Error{Where: r.part.Name, Off: b.off, Entry: fmt.Sprintf("row %d", b.first+r.row)}
	if r.broken != nil {
		e.Entry += fmt.Sprintf(", column %q", r.broken.path())
	}
	return columns.Place(e, err)
}
