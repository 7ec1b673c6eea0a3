package arrowipc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ffconvert/ffconvert/converters"
)

// stream makes a stream of batches with so many rows each, by Arrow's own writer.
func stream(t *testing.T, opts []ipc.Option, rows ...int) []byte {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, append(opts, ipc.WithSchema(schema))...)
	for _, n := range rows {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := range n {
			b.Field(0).(*array.Int64Builder).Append(int64(i))
			b.Field(1).(*array.StringBuilder).Append("text")
		}
		if err := w.Write(b.NewRecord()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A stream has the batches that Arrow's writer has written, and the values of their columns where it says.
func TestStream(t *testing.T) {
	t.Parallel()
	data := stream(t, nil, 3, 0, 5)
	s, err := Open(bytes.NewReader(data), 0, int64(len(data)))
	if err != nil || len(s.Schema.Fields) != 2 || s.Schema.Fields[0].DType != "int64" || s.Schema.Fields[1].DType != "str" {
		t.Fatal(s, err)
	}
	var rows []int64
	for {
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, b.Rows)
		if len(b.Columns) != 2 || b.Columns[0].Nulls != 0 || len(b.Columns[1].More) != 1 {
			t.Fatalf("batch %+v", b)
		}
		for i := range b.Rows {
			n, text := b.Columns[0].Data, b.Columns[1].More[0]
			if got := binary.LittleEndian.Uint64(data[n.Off+8*i:]); got != uint64(i) {
				t.Errorf("row %d is %d", i, got)
			}
			if got := data[text.Off+4*i:][:4]; string(got) != "text" {
				t.Errorf("row %d is %q", i, got)
			}
		}
	}
	if want := []int64{3, 0, 5}; !slices.Equal(rows, want) || s.Offset() != int64(len(data)) {
		t.Errorf("rows %v, want %v; the end at %d of %d", rows, want, s.Offset(), len(data))
	}
}

func TestStreamRefuses(t *testing.T) {
	t.Parallel()
	sound := stream(t, nil, 3)
	changed := func(change func(b []byte)) []byte {
		b := bytes.Clone(sound)
		change(b)
		return b
	}
	for name, data := range map[string][]byte{
		"another beginning":          changed(func(b []byte) { b[0] = 0 }),
		"metadata of 4 GiB":          changed(func(b []byte) { binary.LittleEndian.PutUint32(b[4:], 0xfffffff0) }),
		"a root outside":             changed(func(b []byte) { binary.LittleEndian.PutUint32(b[8:], 0x7fffffff) }),
		"cut in its head":            sound[:4],
		"cut in its metadata":        sound[:20],
		"cut in the body of a batch": sound[:len(sound)-16],
		"without its end":            sound[:len(sound)-8],
	} {
		s, err := Open(bytes.NewReader(data), 0, int64(len(data)))
		for err == nil {
			_, err = s.Next()
		}
		if !malformed(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func malformed(err error) bool {
	return errors.Is(err, converters.ErrMalformed) || errors.Is(err, converters.ErrTruncated)
}

// A footer leads to all batches; one that is damaged is malformed, or leads elsewhere, and takes no more memory than the file has.
func TestFooter(t *testing.T) {
	t.Parallel()
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	out, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w, err := ipc.NewFileWriter(out, ipc.WithSchema(schema))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		b.Field(0).(*array.Int64Builder).AppendValues(make([]int64, 1+n), nil)
		if err := w.Write(b.NewRecord()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	size := int64(len(data))
	blocks, err := Footer(bytes.NewReader(data), size)
	if err != nil || len(blocks) != 5 {
		t.Fatal(blocks, err)
	}
	s, err := Open(bytes.NewReader(data), 8, size)
	if err != nil {
		t.Fatal(err)
	}
	for i, off := range blocks {
		s.SeekTo(off)
		if b, err := s.Next(); err != nil || b.Rows != int64(1+i) {
			t.Errorf("batch %d has %d rows, %v", i, b.Rows, err)
		}
	}
	for cut := range len(data) {
		if b, err := Footer(bytes.NewReader(data[:cut]), int64(cut)); !malformed(err) {
			t.Errorf("of %d bytes: %d batches, %v", cut, len(b), err)
		}
	}
	for bit := range 8 * len(data) {
		changed := bytes.Clone(data)
		changed[bit/8] ^= 1 << (bit % 8)
		b, err := Footer(bytes.NewReader(changed), size)
		if err != nil && !malformed(err) || int64(24*len(b)) > size {
			t.Fatalf("bit %d: %d batches, %v", bit, len(b), err)
		}
	}
}
