package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/internal/fuzz"
	"github.com/ffconvert/ffconvert/internal/test/need"
	pq "github.com/ffconvert/ffconvert/internal/test/parquettest"
)

// zeroColumns is a file of columns that each decompress to size zeros, as one page or as a dictionary and a page.
func zeroColumns(t *testing.T, columns, size, codec int, dictionary bool) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	squeeze := func(b []byte) []byte {
		if codec == pq.Snappy {
			return s2.EncodeSnappy(nil, b)
		}
		return z.EncodeAll(b, nil)
	}
	values := size / 8
	zeros := squeeze(make([]byte, size))
	pages := []pq.Page{{Values: values, Body: zeros, Expanded: size}}
	if dictionary {
		pages = []pq.Page{{Kind: pq.Dictionary, Values: values, Body: zeros, Expanded: size}, {Values: 1, Encoding: pq.RLEDictionary, Body: squeeze([]byte{1, 1 << 1, 0}), Expanded: 3}}
		values = 1
	}
	var schema []pq.Element
	var chunks []pq.Chunk
	for i := range columns {
		schema = append(schema, pq.Element{Name: fmt.Sprint("c", i), Type: pq.Int64, Converted: pq.None})
		chunks = append(chunks, pq.Chunk{Type: pq.Int64, Codec: codec, Values: values, Pages: pages})
	}
	return fileOf(values, root(schema...), chunks...)
}

// firstRow indexes the first row of a file in memory, and wants that this allocates at most some bytes.
func firstRow(t *testing.T, data []byte, opts Options, most int) (err error) {
	t.Helper()
	parts, open := convertertest.InMemory(".parquet", data)
	s, err := openSource(t.Context(), parts, opts, open)
	if err != nil {
		t.Fatal(err)
	}
	fuzz.WantAllocated(t, most, func() {
		for _, err = range s.Index(t.Context(), 0) {
			break
		}
	})
	return err
}

// Pages take the memory of a window of their codec, whatever they decompress to.
func TestFlowMemory(t *testing.T) {
	need.Time(t, "columns of 64 MiB")
	const each = 64 << 20
	for _, row := range []struct {
		name           string
		codec, columns int
		most           int // MiB allocated for a column
		to             func(io.Writer) (io.WriteCloser, error)
	}{
		{"zstd", pq.Zstd, 12, 4, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithWindowSize(1<<20)) }},
		{"gzip", pq.Gzip, 12, 1, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil }},
		{"brotli", pq.Brotli, 3, 20, func(w io.Writer) (io.WriteCloser, error) { return brotli.NewWriter(w), nil }},
	} {
		var out bytes.Buffer
		z, err := row.to(&out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(z, zeros{}, each); err != nil || z.Close() != nil {
			t.Fatal(err)
		}
		var schema []pq.Element
		var chunks []pq.Chunk
		for i := range row.columns {
			schema = append(schema, pq.Element{Name: fmt.Sprint("c", i), Type: pq.Int64, Converted: pq.None})
			chunks = append(chunks, pq.Chunk{Type: pq.Int64, Codec: row.codec, Values: each / 8, Pages: []pq.Page{{Values: each / 8, Body: out.Bytes(), Expanded: each}}})
		}
		if err := firstRow(t, fileOf(each/8, root(schema...), chunks...), Options{MaxPage: each}, row.columns*row.most<<20); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// A description has the memory of a reader: of the chosen columns, by their first pages and dictionaries. As many
// read at once as have room together.
func TestHeld(t *testing.T) {
	t.Parallel()
	const each, columns = 8 << 20, 12
	for _, row := range []struct {
		name       string
		dictionary bool
		fields     [][]string
		held, jobs int
	}{{"pages", false, nil, columns * each, 1}, {"dictionaries", true, nil, columns * each, 1}, {"chosen", false, [][]string{{"c3"}, {"c5"}}, 2 * each, 3}} {
		parts, open := convertertest.InMemory(".parquet", zeroColumns(t, columns, each, pq.Snappy, row.dictionary))
		s, err := openSource(t.Context(), parts, Options{Fields: row.fields}, open)
		if err != nil {
			t.Fatal(err)
		}
		d := s.Describe()
		if d.Held < int64(row.held) || d.Held > int64(row.held+columns*readWindow) || d.AtOnce(100) != row.jobs || d.AtOnce(2) != min(2, row.jobs) {
			t.Errorf("%s: a reader holds %d bytes, %d of 100 at once", row.name, d.Held, d.AtOnce(100))
		}
	}
}

// zeros are endless.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// What the columns hold together is limited: many that each decompress to a page below the limit are refused before they
// take more, and read with a larger limit.
func TestColumnsAtOnce(t *testing.T) {
	need.Time(t, "columns of 8 MiB in turn")
	const each, columns = 8 << 20, 12
	for _, dictionary := range []bool{false, true} {
		data := zeroColumns(t, columns, each, pq.Snappy, dictionary)
		for _, row := range []struct {
			limit int64
			err   string
		}{{3*each + 1000, "pages and dictionaries of 335544"}, {each - 1, "a page of"}, {columns*each + 1<<10, ""}} {
			err := firstRow(t, data, Options{MaxPage: row.limit}, int(2*row.limit)+columns*(1<<20)+32<<20)
			if row.err == "" {
				if err != nil {
					t.Errorf("limit %d: %v", row.limit, err)
				}
				continue
			}
			var at *converters.Error
			if !errors.Is(err, converters.ErrLimit) || !strings.Contains(fmt.Sprint(err), row.err) || !errors.As(err, &at) || !strings.HasPrefix(at.Hint, "option max-page-size") {
				t.Errorf("limit %d, dictionaries %v: %v, want %q", row.limit, dictionary, err, row.err)
			}
		}
	}
}

// A dictionary that is refused leaves no memory counted: another part is read by the same reader.
func TestRefusedDictionary(t *testing.T) {
	t.Parallel()
	const values = 1000
	text := pq.Element{Name: "s", Type: pq.Bytes, Converted: pq.Text}
	file := func(words []byte) []byte {
		return fileOf(1, root(text), pq.Chunk{Type: pq.Bytes, Values: 1, Pages: []pq.Page{
			{Kind: pq.Dictionary, Values: values, Body: words}, {Values: 1, Encoding: pq.RLEDictionary, Body: []byte{1, 1 << 1, 0}}}})
	}
	words := pq.Strings(strings.Split(strings.Repeat("word ", values-1)+"word", " ")...)
	bad := slices.Clone(words)
	bad[len(bad)-8] = 5 // of the last word, which has four bytes
	parts, open := convertertest.InMemory(".parquet", file(words), file(bad))
	s, err := openSource(t.Context(), parts, Options{MaxPage: 2 * int64(len(words))}, open)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := indexOf(t, s, 1); !errors.Is(err, converters.ErrMalformed) {
			t.Fatal(err)
		}
		if offs, err := indexOf(t, s, 0); len(offs) != 1 || err != nil {
			t.Fatalf("after a refused part: %d rows, %v", len(offs), err)
		}
	}
}

// Pages that become small again make room for those of other columns.
func TestColumnsInTurn(t *testing.T) {
	t.Parallel()
	const large = 4 << 20
	page := func(values int) pq.Page {
		b := make([]byte, 8*values)
		return pq.Page{Values: values, Body: s2.EncodeSnappy(nil, b), Expanded: len(b)}
	}
	// The first column has its large page first, the second one behind it.
	big, small := large/8, 1000
	a := pq.Chunk{Type: pq.Int64, Codec: pq.Snappy, Values: big + big, Pages: []pq.Page{page(big)}}
	b := pq.Chunk{Type: pq.Int64, Codec: pq.Snappy, Values: big + big, Pages: nil}
	for left := big; left > 0; left -= small {
		a.Pages, b.Pages = append(a.Pages, page(min(small, left))), append(b.Pages, page(min(small, left)))
	}
	b.Pages = append(b.Pages, page(big))
	number := func(name string) pq.Element { return pq.Element{Name: name, Type: pq.Int64, Converted: pq.None} }
	data := fileOf(2*big, root(number("a"), number("b")), a, b)
	rows, err := contents(t, data, Options{MaxPage: large + large/4})
	if err != nil || len(rows) != 2*big || !slices.Equal(rows[0], []string{"", "a:i0", "b:i0"}) {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}
