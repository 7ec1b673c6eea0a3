package parquet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/place"
)

// mostFiles is how many chunks of a row group are read through separate files, each with read-ahead. Each takes a file
// descriptor, in every run.
const mostFiles = 8

// A reader reads rows of one part. It must not be used concurrently.
type reader struct {
	src   *source
	part  converters.Part
	pass  *scan.Pass
	index bool
	table *table // nil: not read

	needed   func(field string) bool
	fields   []*column // to read
	files    columns.Files
	own      map[*cursor]converters.File
	expander columns.Expander
	held     holding   // memory of all cursors
	raw      []byte    // stored bytes of a page that is larger than the window and compressed
	window   int       // bytes that a cursor reads at once
	all      []*cursor // by leaf; reused for the next part
	asm      assembler
	sample   converters.Sample
	spans    [1]converters.Span
	rows     rows
	flat     bool  // all fields are numbers: rows are decoded by columns
	kept     bool  // the cursors are at r.row, and the next pass may continue there
	group    int   // index into table.groups
	row      int64 // next row in the group
}

// Begin reads the footer, and seeks to the first row of a pass. An index compares the columns with those of the first
// part.
func (r *reader) Begin(_ context.Context, p *scan.Pass) (err error) {
	table, kept := r.table, r.kept && !p.Index && p.Run.Count > 1
	r.pass, r.part, r.index, r.table, r.kept = p, p.Part, p.Index, nil, false
	r.files = columns.Files{Part: r.part}
	r.own = make(map[*cursor]converters.File)
	r.rows.n, r.rows.next, r.rows.before = 0, 0, false
	if r.table, err = r.src.table(p.Run.Part, p.File); err != nil {
		return err
	}
	groups := r.table.groups
	group := sort.Search(len(groups), func(i int) bool { return groups[i].first+groups[i].rows > p.Run.First })
	if kept && table == r.table && group == r.group && group < len(groups) && groups[group].first+r.row <= p.Run.First {
		return r.begin(p.Run.First-groups[group].first, true)
	}
	for _, c := range r.all {
		c.forget()
	}
	r.choose()
	if p.Index && r.table.rows > 0 || r.src.width > 0 {
		if err := r.compare(); err != nil {
			return &converters.Error{Where: r.part.Name, Off: r.table.off, Entry: footerName, Err: err, Hint: place.HintOf(err)}
		}
	}
	if r.group, r.row = group, 0; group == len(groups) {
		return nil
	}
	return r.begin(p.Run.First-groups[group].first, false)
}

// compare compares the columns of the part with those of the first one.
func (r *reader) compare() error {
	here := r.table.describe(r.src.opts.Fields)
	if r.src.width == 0 {
		return r.src.mismatches.Compare(r.part.Name, r.src.desc, here)
	}
	if r.table.rows > 0 && !slices.Equal(here.Columns, r.src.desc.Columns) {
		return place.WithHint(fmt.Errorf("%w: its columns are not those of the first part, whose rows are packed", converters.ErrUnsupported), "option encode msgpack takes any value")
	}
	return nil
}

// Offset returns the position of the next row, or of the footer.
func (r *reader) Offset() int64 {
	switch {
	case r.table == nil:
		return -1
	case r.group < len(r.table.groups):
		return r.table.groups[r.group].offset(r.row)
	}
	return r.table.off
}

// Next returns the next row. An index does not read the bytes of plain, uncompressed values that no option needs. The
// bytes of a first-level field are in a page or in the read buffer, not copied.
func (r *reader) Next(_ context.Context, want int64) ([]converters.Span, error) {
	if r.flat {
		return r.nextRows(want)
	}
	if more, err := r.next(); err != nil || !more {
		return nil, err
	}
	r.spans[0] = converters.Span{Off: r.sample.Off, Entries: 1, Shape: &r.sample}
	return r.spans[:], nil
}

// End closes the files. Those with read-ahead are last, since closing them reports the size of samples. A pass over
// several rows leaves its pages to the next pass, which mostly begins where it ended; at the end of the part they go.
func (r *reader) End() {
	r.files.Close()
	for _, f := range r.own {
		f.Close()
	}
	end := r.index || r.table != nil && r.pass.Run.First+r.pass.Run.Count >= r.table.rows
	r.kept = r.kept && !end && r.pass.Run.Count > 1 && r.rows.next == r.rows.n
	for _, c := range r.all {
		c.w.File = nil
		r.kept = r.kept && c.flow == nil // which reads a file
	}
	if r.kept {
		return
	}
	for _, c := range r.all {
		c.forget()
	}
	if end {
		r.held.reclaim()
		r.raw = nil
	}
}

// choose selects the columns and leaves to read.
func (r *reader) choose() {
	t, opts := r.table, &r.src.opts
	r.needed = columns.Needed(opts.Fields, t.fields())
	for len(r.all) < len(t.leaves) {
		r.all = append(r.all, &cursor{})
	}
	r.held.most, r.held.cursors = opts.MaxPage, r.all
	r.fields = r.fields[:0]
	r.asm.files = &r.files
	r.asm.cursors = append(r.asm.cursors[:0], make([]*cursor, len(t.leaves))...)
	n := 0
	use := func(of *node, load bool) {
		for i := of.first; i < of.end; i++ {
			c := r.all[i]
			c.leaf, c.of = t.leaves[i], r
			c.load = load || !r.index || c.scalar != scalarBytes
			r.asm.cursors[i] = c
			n++
		}
	}
	for _, c := range t.columns {
		switch {
		case !c.media:
			if c.name != converters.KeyField && !r.needed(c.name) {
				continue
			}
			use(c.node, c.shape != shapeLeaf || opts.Load(c.name))
		case r.needed(c.name):
			use(c.bytes, opts.Load(c.name))
			use(c.path, true)
		case r.needed(c.pathField()):
			use(c.path, true)
		default:
			continue
		}
		r.fields = append(r.fields, c)
	}
	if r.window = indexWindow; !r.index {
		r.window = max(indexWindow, min(readWindow, allWindows/max(n, 1)))
	}
	var names []string
	for _, c := range r.fields {
		names = append(names, c.name)
	}
	if r.rows.size = len(r.fields) * r.src.width; r.src.width > 0 {
		names = []string{"row"}
	}
	r.rows.batch.Init(names...)
	r.flat = len(r.fields) > 0 && !slices.ContainsFunc(r.fields, func(c *column) bool {
		return c.shape != shapeLeaf || !c.leaf.numeric || c.leaf.scalar == scalarDecimal
	})
}

// begin moves to a row of the row group. With again the cursors are in that group already, at r.row or before that row.
func (r *reader) begin(row int64, again bool) error {
	g := &r.table.groups[r.group]
	from := int64(0)
	if again {
		from = r.row
	}
	r.row = row
	for i, c := range r.asm.cursors {
		if c == nil {
			continue
		}
		f, err := r.file(c, g.chunks[i].size)
		switch {
		case err != nil:
		case again:
			c.w.File = f
		default:
			err = c.begin(f, g.chunks[i], !r.index && r.pass.Run.Count == 1)
		}
		if err == nil && row > from {
			err = c.skip(row - from)
		}
		if err != nil {
			return r.fail(c.leaf, err)
		}
	}
	r.kept = true
	return nil
}

// file returns the file through which to read a chunk of size bytes.
func (r *reader) file(c *cursor, size int64) (converters.File, error) {
	if f := r.own[c]; f != nil || size <= smallChunk || len(r.own) == mostFiles {
		if f == nil {
			f = r.pass.File
		}
		return f, nil
	}
	f, err := r.src.open(r.part, r.pass.Access())
	if err == nil {
		r.own[c] = f
	}
	return f, err
}

// more moves to the next row group after the last row of one. It returns false at the end of the part.
func (r *reader) more() (bool, error) {
	for r.group < len(r.table.groups) && r.row == r.table.groups[r.group].rows {
		if err := r.ended(); err != nil {
			return false, err
		}
		r.group++
		r.row = 0
		if r.group < len(r.table.groups) {
			if err := r.begin(0, false); err != nil {
				return false, err
			}
		}
	}
	return r.group < len(r.table.groups), nil
}

// next sets r.sample to the next row, or returns false at the end of the part.
func (r *reader) next() (bool, error) {
	if more, err := r.more(); err != nil || !more {
		return false, err
	}
	g := &r.table.groups[r.group]
	r.sample = converters.Sample{Off: g.offset(r.row), Fields: r.sample.Fields[:0]}
	r.asm.room, r.asm.broken = r.src.opts.MaxValue, nil
	for _, c := range r.fields {
		if err := r.field(c); err != nil {
			return false, r.fail(r.asm.broken, err)
		}
	}
	r.row++
	return true, nil
}

// ended returns an error if a column has values after the last row of the group.
func (r *reader) ended() error {
	for _, c := range r.asm.cursors {
		if c == nil {
			continue
		}
		err := c.look()
		if err == nil && !c.end {
			err = fmt.Errorf("%w: it has more values than the rows", converters.ErrMalformed)
		}
		if err != nil {
			return r.fail(c.leaf, err)
		}
	}
	return nil
}

// field appends the fields of a column to the sample.
func (r *reader) field(c *column) error {
	switch {
	case c.media:
		return r.media(c)
	case c.name != converters.KeyField:
		return r.asm.field(c.node, r.add(c.name))
	}
	var v converters.Value
	if err := r.asm.field(c.node, &v); err != nil {
		return err
	}
	if v.Kind() != converters.KindText {
		return r.asm.fail(c.leaf, fmt.Errorf("%w: a key that is null", converters.ErrMalformed))
	}
	r.sample.Key = string(v.Data())
	return nil
}

// add appends a field to the sample and returns the place of its value.
func (r *reader) add(name string) *converters.Value {
	all := slices.Grow(r.sample.Fields, 1)
	all = all[:len(all)+1]
	r.sample.Fields = all
	f := &all[len(all)-1]
	f.Name = name
	return &f.Value
}

// media appends the bytes and the path of a column of media.
func (r *reader) media(c *column) (err error) {
	var bytes, path converters.Value
	with := r.asm.cursors[c.bytes.first] != nil
	if with {
		if err = r.asm.flat(c.bytes, 0, &bytes); err != nil {
			return err
		}
	}
	if err = r.asm.flat(c.path, 0, &path); err != nil {
		return err
	}
	if with {
		if bytes.Kind() == converters.KindNested && path.Kind() == converters.KindText {
			if bytes, err = r.files.Value(string(path.Data()), !r.index || r.src.opts.Load(c.name), r.src.opts.MaxValue); err != nil {
				return r.asm.fail(c.bytes.leaf, err)
			}
		}
		*r.add(c.name) = bytes
	}
	if r.needed(c.pathField()) {
		*r.add(c.pathField()) = path
	}
	return nil
}

// fail places an error in a column.
func (r *reader) fail(l *leaf, err error) error {
	r.kept = false
	if placed, ok := errors.AsType[*converters.Error](err); ok {
		return placed
	}
	e := converters.Error{Where: r.part.Name, Off: r.table.off}
	if r.group < len(r.table.groups) {
		g := &r.table.groups[r.group]
		e.Off = g.off
		e.Entry = fmt.Sprintf("row %d", g.first+r.row)
	}
	if l != nil {
		e.Entry += fmt.Sprintf(", column %q", l.path)
		for _, c := range r.asm.cursors {
			if c != nil && c.leaf == l && c.page.off > 0 {
				e.Off = c.page.off
			}
		}
	}
	e.Err, e.Hint = err, place.HintOf(err)
	return &e
}
