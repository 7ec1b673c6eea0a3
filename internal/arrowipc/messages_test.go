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

func TestMessages(t *testing.T) {
	t.Parallel()
	data := stream(t, nil, 3, 0, 5)
	r, err := ipc.NewReaderFromMessageReader(NewMessages(bytes.NewReader(data), 0, int64(len(data))))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for r.Next() {
		column := r.Record().Column(0).(*array.Int64)
		for i := range column.Len() {
			if column.Value(i) != int64(i) {
				t.Errorf("row %d is %d", i, column.Value(i))
			}
		}
		rows += column.Len()
	}
	if r.Err() != nil || rows != 8 {
		t.Errorf("%d rows, %v", rows, r.Err())
	}
}

// Batch skips a message, and tells where its columns are.
func TestMessagesBatch(t *testing.T) {
	t.Parallel()
	data := stream(t, nil, 3, 0, 5)
	m := NewMessages(bytes.NewReader(data), 0, int64(len(data)))
	var rows []int64
	for {
		b, err := m.Batch()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, b.Rows)
		if len(rows) == 1 { // the schema
			continue
		}
		if len(b.Columns) != 2 || len(b.Columns[0].Buffers) != 2 || len(b.Columns[1].Buffers) != 3 || b.Columns[0].Nulls != 0 {
			t.Fatalf("batch %+v", b)
		}
		for i := range b.Rows {
			n, text := b.Columns[0].Buffers[1], b.Columns[1].Buffers[2]
			if got := binary.LittleEndian.Uint64(data[n.Off+8*i:]); got != uint64(i) {
				t.Errorf("row %d is %d", i, got)
			}
			if got := data[text.Off+4*i:][:4]; string(got) != "text" {
				t.Errorf("row %d is %q", i, got)
			}
		}
	}
	if want := []int64{0, 3, 0, 5}; !slices.Equal(rows, want) {
		t.Errorf("rows %v, want %v", rows, want)
	}
}

func TestMessagesRefuse(t *testing.T) {
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
		"a compressed body":          stream(t, []ipc.Option{ipc.WithZstd()}, 3),
		"cut in the body of a batch": sound[:len(sound)-16],
	} {
		m := NewMessages(bytes.NewReader(data), 0, int64(len(data)))
		var err error
		for err == nil {
			_, err = m.Message()
		}
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %v", name, err)
		}
	}
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
	if err != nil || blocks.Len() != 5 {
		t.Fatal(blocks.Len(), err)
	}
	m := NewMessages(bytes.NewReader(data), 8, size)
	if _, err := m.Message(); err != nil { // the schema, which says what batches have
		t.Fatal(err)
	}
	for i := range blocks.Len() {
		m.SeekTo(blocks.Off(i))
		if b, err := m.Batch(); err != nil || b.Rows != 1+i {
			t.Errorf("batch %d has %d rows, %v", i, b.Rows, err)
		}
	}
	for cut := range len(data) {
		if b, err := Footer(bytes.NewReader(data[:cut]), int64(cut)); !errors.Is(err, ErrMalformed) {
			t.Errorf("of %d bytes: %d batches, %v", cut, b.Len(), err)
		}
	}
	for bit := range 8 * len(data) {
		changed := bytes.Clone(data)
		changed[bit/8] ^= 1 << (bit % 8)
		b, err := Footer(bytes.NewReader(changed), size)
		if err != nil && !errors.Is(err, ErrMalformed) || 24*b.Len() > size {
			t.Fatalf("bit %d: %d batches, %v", bit, b.Len(), err)
		}
	}
}
