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

	"github.com/klauspost/compress/s2"
)

// Types of columns, and repetitions.
const (
	Bool, Int32, Int64, Int96, Float, Double, Bytes, Fixed = 0, 1, 2, 3, 4, 5, 6, 7
	Group                                                  = -1

	Required, Optional, Repeated = 0, 1, 2
)

// Converted types.
const (
	None = -1
	Text = 0
	List = 3
)

// Codecs.
const (
	Plain  = 0
	Snappy = 1
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
}

// A Page has its content compressed already, with its levels.
type Page struct {
	Kind, Values, Encoding int
	Body                   []byte
	Expanded               int  // size decompressed; 0: that of Body
	CRC                    bool // write it
	Rows, Def, Rep         int  // of DataV2: rows, sizes of levels
	Stored                 bool // of DataV2: not compressed
}

// A Chunk is a column of a row group.
type Chunk struct {
	Type, Codec, Values int
	Pages               []Page
}

// A Writer writes a file. Its first error is that of Close.
type Writer struct {
	w      io.Writer
	off    int64
	err    error
	rows   int
	groups []group
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
			f.write(page.header())
			f.write(page.Body)
		}
		p.size, p.Pages = f.off-from, nil
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
		t.i32(3, 3) // RLE
		t.i32(4, 3)
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
		t.end()
	}
	t.i64(3, int64(f.rows))
	t.list(4, len(f.groups))
	for _, g := range f.groups {
		t.begin()
		t.list(1, len(g.chunks))
		for _, c := range g.chunks {
			t.begin()
			t.i64(2, c.off)
			t.structure(3)
			t.i32(1, c.Type)
			t.i32(4, c.Codec)
			t.i64(5, int64(c.Values))
			t.i64(7, c.size)
			t.i64(9, c.off)
			if c.dictionary > 0 {
				t.i64(11, c.dictionary)
			}
			t.end()
			t.end()
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

// ImageSchema is the schema of a column of images and a column of labels, as Hugging Face's datasets write it.
func ImageSchema() []Element {
	return []Element{
		{"schema", Group, 0, Required, 2, None},
		{"image", Group, 0, Optional, 2, None},
		{"bytes", Bytes, 0, Optional, 0, None},
		{"path", Bytes, 0, Optional, 0, Text},
		{"label", Int64, 0, Optional, 0, None},
	}
}

// Images returns the chunks of a row group of ImageSchema. Each has one page. crc adds a CRC to each page.
func Images(images [][]byte, paths []string, labels []int64, codec int, crc bool) []Chunk {
	n := len(images)
	pictures, numbers := Levels(2, n), Levels(1, n)
	for _, image := range images {
		pictures = binary.LittleEndian.AppendUint32(pictures, uint32(len(image)))
		pictures = append(pictures, image...)
	}
	for _, l := range labels {
		numbers = binary.LittleEndian.AppendUint64(numbers, uint64(l))
	}
	chunk := func(kind int, b []byte) Chunk {
		p := Page{Kind: Data, Values: n, Body: b, Expanded: len(b), CRC: crc}
		if codec == Snappy {
			p.Body = s2.EncodeSnappy(nil, b)
		}
		return Chunk{kind, codec, n, []Page{p}}
	}
	return []Chunk{chunk(Bytes, pictures), chunk(Bytes, append(Levels(2, n), Strings(paths...)...)), chunk(Int64, numbers)}
}

// A thrift writes the compact protocol.
type thrift struct {
	b    []byte
	last []int // number of the last field, of the structs that are begun
}

func (t *thrift) begin() { t.last = append(t.last, 0) }

func (t *thrift) end() {
	t.b = append(t.b, 0)
	t.last = t.last[:len(t.last)-1]
}

func (t *thrift) field(id int, kind byte) {
	last := &t.last[len(t.last)-1]
	t.b = append(t.b, byte(id-*last)<<4|kind)
	*last = id
}

func (t *thrift) i32(id, n int) {
	t.field(id, 5)
	t.b = binary.AppendVarint(t.b, int64(n))
}

func (t *thrift) i64(id int, n int64) {
	t.field(id, 6)
	t.b = binary.AppendVarint(t.b, n)
}

func (t *thrift) bool(id int, v bool) {
	kind := byte(2)
	if v {
		kind = 1
	}
	t.field(id, kind)
}

func (t *thrift) bytes(id int, s string) {
	t.field(id, 8)
	t.b = binary.AppendUvarint(t.b, uint64(len(s)))
	t.b = append(t.b, s...)
}

// list begins a list of structs.
func (t *thrift) list(id, n int) {
	t.field(id, 9)
	t.b = append(t.b, 0xFC)
	t.b = binary.AppendUvarint(t.b, uint64(n))
}

// structure begins a struct that is a field.
func (t *thrift) structure(id int) {
	t.field(id, 12)
	t.begin()
}
