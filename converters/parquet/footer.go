package parquet

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// Physical types of a column.
const (
	typeBool = iota
	typeInt32
	typeInt64
	typeInt96
	typeFloat
	typeDouble
	typeBytes
	typeFixed
)

// A chunk is the place of a column of a row group.
type chunk struct {
	physical int32
	codec    int32
	values   int64 // number of values, with nulls
	nulls    int64 // number of nulls, which Index does not rely on; -1: unknown
	off      int64 // of its first page
	size     int64
	spare    int64 // bytes between its end and the footer
	outside  bool  // the chunk is in another file, or encrypted
}

// A group is a row group.
type group struct {
	rows   int64
	first  int64 // ordinal of its first row
	off    int64 // of its first chunk
	size   int64 // of all its chunks
	chunks []chunk
}

// A table is the footer of a part.
type table struct {
	rows    int64
	groups  []group
	columns []*column // of the first level, in the order of the schema
	leaves  []*leaf
	feature []byte // the value of the key huggingface
	spark   bool   // Spark wrote it
	off     int64  // of the footer
}

// table returns the footer of part p, which is open.
func (s *source) table(p int, f io.ReaderAt) (*table, error) {
	return s.footers.Get(p, func() (*table, int64, error) { return s.readTable(s.Parts()[p], f) })
}

const (
	magic      = "PAR1"
	cipher     = "PARE" // magic of a file with an encrypted footer
	tailSize   = 8      // footer size and magic
	leastSize  = len(magic) + tailSize
	footerName = "footer"
)

// readTable reads the footer of a part, and returns its size in bytes.
func (s *source) readTable(p converters.Part, f io.ReaderAt) (*table, int64, error) {
	fail := func(off int64, err error, hint string) (*table, int64, error) {
		return nil, 0, &converters.Error{Where: p.Name, Off: off, Entry: footerName, Err: err, Hint: hint}
	}
	var ends [leastSize]byte
	head, tail := ends[:len(magic)], ends[len(magic):]
	if p.Size < int64(leastSize) {
		return fail(p.Size, fmt.Errorf("%w: it has %d bytes, a Parquet file at least %d", converters.ErrTruncated, p.Size, leastSize), "")
	}
	at := p.Size - tailSize
	err := scan.ReadFull(f, head, 0)
	if err != nil {
		return fail(0, err, "")
	}
	if err = scan.ReadFull(f, tail, at); err != nil {
		return fail(at, err, "")
	}
	end := string(tail[4:])
	switch {
	case end == cipher || string(head) == cipher:
		return fail(at, fmt.Errorf("%w: it is encrypted", converters.ErrUnsupported), "write it anew without encryption")
	case string(head) != magic:
		return fail(0, fmt.Errorf("%w: it does not begin with %s", converters.ErrMalformed, magic), "")
	case end != magic:
		return fail(at+4, fmt.Errorf("%w: it does not end with %s", converters.ErrTruncated, magic), "copy the file again")
	}
	size := int64(binary.LittleEndian.Uint32(tail))
	switch {
	case size > at-int64(len(magic)):
		return fail(at, fmt.Errorf("%w: a footer of %d bytes in a file of %d", converters.ErrMalformed, size, p.Size), "")
	case size > s.opts.MaxFooter:
		return fail(at, columns.Over("max-footer-size", "a footer of %d bytes", size), "option max-footer-size")
	}
	b := make([]byte, size)
	at -= size
	t := &table{off: at}
	if err = scan.ReadFull(f, b, at); err == nil {
		var elements []element
		if elements, err = t.decode(b); err == nil {
			err = t.build(elements)
		}
	}
	if err == nil {
		err = t.place(at)
	}
	if err == nil {
		err = t.names()
	}
	if err != nil {
		return fail(at, err, "")
	}
	return t, size, nil
}

// place returns an error unless the chunks of all row groups are between the magic and the footer.
func (t *table) place(footer int64) error {
	first := int64(0)
	for i := range t.groups {
		g := &t.groups[i]
		bad := func(format string, args ...any) error {
			return fmt.Errorf("%w: row group %d: %s", converters.ErrMalformed, i, fmt.Sprintf(format, args...))
		}
		if g.rows < 0 || g.rows > 1<<40 || first > 1<<50 {
			return bad("%d rows", g.rows)
		}
		if len(g.chunks) != len(t.leaves) {
			return bad("%d columns, the schema has %d", len(g.chunks), len(t.leaves))
		}
		g.first = first
		first += g.rows
		g.off = footer
		for j := range g.chunks {
			c, l := &g.chunks[j], t.leaves[j]
			if g.rows == 0 && c.values == 0 && !c.outside {
				c.off, c.size = int64(len(magic)), 0 // some writers give the offset 0 to groups without rows
			}
			switch {
			case c.outside:
				return fmt.Errorf("%w: row group %d: column %q is encrypted, or in another file", converters.ErrUnsupported, i, l.path)
			case c.physical != l.physical:
				return bad("column %q is of type %d, the schema says %d", l.path, c.physical, l.physical)
			case c.off < int64(len(magic)) || c.size < 0 || c.off > footer || c.size > footer-c.off:
				return bad("column %q has %d bytes at %d, the file %d before its footer", l.path, c.size, c.off, footer)
			case c.values < 0 || c.values > 1<<50 || l.rep == 0 && c.values != g.rows:
				return bad("column %q has %d values, the row group %d rows", l.path, c.values, g.rows)
			}
			c.spare = footer - c.off - c.size
			g.off = min(g.off, c.off)
			g.size = max(g.size, c.off+c.size)
		}
		g.size = max(g.size-g.off, 0)
	}
	if t.rows != first && t.rows != 0 { // some writers count rows only in the row groups
		return fmt.Errorf("%w: %d rows, its row groups have %d", converters.ErrMalformed, t.rows, first)
	}
	t.rows = first
	return nil
}

// offset returns a position of row i of a group for errors and indexes. Since a row is spread over many pages, it is
// proportional to i within the group.
func (g *group) offset(i int64) int64 {
	return g.off + int64(float64(g.size)*(float64(i)/float64(g.rows)))
}
