// Package parquettest writes Parquet files byte by byte: valid files of images, and malformed files that no library would write.
// Only tests import it.
//
//	w := parquettest.NewWriter(file)
//	w.Group(rows, parquettest.Chunk{…}, …)
//	err := w.Close(schema, nil)
//
// Thrift's compact protocol is specified in thrift/doc/specs/thrift-compact-protocol.md of Apache Thrift, the structs in
// parquet.thrift of Apache's parquet-format.
package parquettest

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
)

// Types of columns, and repetitions.
const (
	Bool, Int32, Int64, Int96, Float, Double, Bytes, Fixed = 0, 1, 2, 3, 4, 5, 6, 7
	Group                                                  = -1

	Required, Optional, Repeated = 0, 1, 2
)

// Converted types.
const (
	None        = -1
	Text        = 0
	Map         = 1
	MapKeyValue = 2
	List        = 3
	Decimal     = 5
)

// Codecs.
const (
	Plain  = 0
	Snappy = 1
	Gzip   = 2
	Brotli = 4
	LZ4    = 5 // of Hadoop
	Zstd   = 6
)

// Encodings.
const (
	PlainDictionary = 2
	RLEDictionary   = 8
)

// Types of pages.
const (
	Data       = 0
	Dictionary = 2
	DataV2     = 3
)

// An Element is a row of the schema.
type Element struct {
	Name       string
	Type       int
	Length     int
	Repetition int
	Children   int
	Converted  int // None, not 0, if there is none
	Scale      int // of a decimal, which has Precision
	Precision  int
}

// A Page has its content compressed already, with its levels.
type Page struct {
	Kind, Values, Encoding int
	Body                   []byte
	Expanded               int  // size decompressed; 0: that of Body
	CRC                    bool // write it
	Rows, Def, Rep         int  // of DataV2: rows, sizes of levels
	Stored                 bool // of DataV2: not compressed
	DefPacked, RepPacked   bool // of Data: it says that these levels are of the encoding BIT_PACKED
}

// A Chunk is a column of a row group.
type Chunk struct {
	Type, Codec, Values int
	Pages               []Page
	Nowhere             bool // its offset is 0
	Dictionary0         bool // it says that it has a dictionary, at the offset 0
	Short               bool // its size lacks the header of its dictionary page
	Whole               bool // its statistics say that it has no nulls
}

// A Writer writes a file. Its first error is that of Close.
type Writer struct {
	w      io.Writer
	off    int64
	err    error
	rows   int
	groups []group

	// Uncounted leaves out how many rows the file has; its row groups still say theirs.
	Uncounted bool

	// Complete adds what the format requires of a footer, and readers of others want.
	Complete bool
}

type group struct {
	rows   int
	chunks []placed
}

type placed struct {
	Chunk
	off, dictionary, size int64
}

// NewWriter begins a file.
func NewWriter(w io.Writer) *Writer {
	f := &Writer{w: w}
	f.write([]byte("PAR1"))
	return f
}

func (f *Writer) write(b []byte) {
	if f.err == nil {
		_, f.err = f.w.Write(b)
	}
	f.off += int64(len(b))
}

// Group writes a row group.
func (f *Writer) Group(rows int, chunks ...Chunk) {
	g := group{rows: rows}
	for _, c := range chunks {
		p := placed{Chunk: c}
		from := f.off
		for _, page := range c.Pages {
			if page.Kind == Dictionary && p.dictionary == 0 {
				p.dictionary = f.off
			} else if p.off == 0 {
				p.off = f.off
			}
			head := page.header()
			f.write(head)
			f.write(page.Body)
			if page.Kind == Dictionary && c.Short {
				from += int64(len(head))
			}
		}
		p.size, p.Pages = f.off-from, nil
		if c.Nowhere {
			p.off = 0
		}
		g.chunks = append(g.chunks, p)
	}
	f.rows += rows
	f.groups = append(f.groups, g)
}

func (p *Page) header() []byte {
	var t thrift
	expanded := p.Expanded
	if expanded == 0 {
		expanded = len(p.Body)
	}
	t.begin()
	t.i32(1, p.Kind)
	t.i32(2, expanded)
	t.i32(3, len(p.Body))
	if p.CRC {
		t.i32(4, int(int32(crc32.ChecksumIEEE(p.Body))))
	}
	switch p.Kind {
	case Dictionary:
		t.structure(7)
		t.i32(1, p.Values)
		t.i32(2, p.Encoding)
	case DataV2:
		t.structure(8)
		t.i32(1, p.Values)
		t.i32(2, 0)
		t.i32(3, p.Rows)
		t.i32(4, p.Encoding)
		t.i32(5, p.Def)
		t.i32(6, p.Rep)
		t.bool(7, !p.Stored)
	default:
		t.structure(5)
		t.i32(1, p.Values)
		t.i32(2, p.Encoding)
		for i, packed := range []bool{p.DefPacked, p.RepPacked} {
			encoding := 3 // RLE
			if packed {
				encoding = 4
			}
			t.i32(3+i, encoding)
		}
	}
	t.end()
	t.end()
	return t.b
}

// Close writes the footer, with pairs of a key and a value.
func (f *Writer) Close(schema []Element, meta [][2]string) error {
	var t thrift
	t.begin()
	t.i32(1, 2)
	t.list(2, len(schema))
	for _, e := range schema {
		t.begin()
		if e.Type != Group {
			t.i32(1, e.Type)
		}
		if e.Length > 0 {
			t.i32(2, e.Length)
		}
		t.i32(3, e.Repetition)
		t.bytes(4, e.Name)
		if e.Type == Group {
			t.i32(5, e.Children)
		}
		if e.Converted != None {
			t.i32(6, e.Converted)
		}
		if e.Precision > 0 {
			t.i32(7, e.Scale)
			t.i32(8, e.Precision)
		}
		t.end()
	}
	if f.Uncounted {
		f.rows = 0
	}
	t.i64(3, int64(f.rows))
	t.list(4, len(f.groups))
	var paths [][]string
	if f.Complete {
		paths = leafPaths(schema)
	}
	for _, g := range f.groups {
		t.begin()
		t.list(1, len(g.chunks))
		bytes := int64(0)
		for i, c := range g.chunks {
			bytes += c.size
			t.begin()
			t.i64(2, c.off)
			t.structure(3)
			t.i32(1, c.Type)
			if f.Complete {
				t.i32s(2, 0, 3) // PLAIN and RLE, whatever it has
				t.strings(3, paths[i]...)
			}
			t.i32(4, c.Codec)
			t.i64(5, int64(c.Values))
			if f.Complete {
				t.i64(6, c.size)
			}
			t.i64(7, c.size)
			t.i64(9, c.off)
			if c.dictionary > 0 || c.Dictionary0 {
				t.i64(11, c.dictionary)
			}
			if c.Whole {
				t.structure(12)
				t.i64(3, 0)
				t.end()
			}
			t.end()
			t.end()
		}
		if f.Complete {
			t.i64(2, bytes)
		}
		t.i64(3, int64(g.rows))
		t.end()
	}
	if len(meta) > 0 {
		t.list(5, len(meta))
		for _, kv := range meta {
			t.begin()
			t.bytes(1, kv[0])
			t.bytes(2, kv[1])
			t.end()
		}
	}
	t.end()
	f.write(t.b)
	f.write(binary.LittleEndian.AppendUint32(nil, uint32(len(t.b))))
	f.write([]byte("PAR1"))
	return f.err
}

// leafPaths returns the names from the first level to each leaf.
func leafPaths(schema []Element) (all [][]string) {
	at := 1
	var walk func(path []string)
	walk = func(path []string) {
		e := schema[at]
		at++
		path = append(slices.Clone(path), e.Name)
		if e.Type != Group {
			all = append(all, path)
		}
		for range e.Children {
			walk(path)
		}
	}
	for at < len(schema) {
		walk(nil)
	}
	return all
}

// Strings returns plain values of type Bytes.
func Strings(all ...string) (b []byte) {
	for _, s := range all {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	return b
}

// Levels returns the levels of a page of version 1: n times the same, of one byte.
func Levels(level byte, n int) []byte {
	run := append(binary.AppendUvarint(nil, uint64(n)<<1), level)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run...)
}
