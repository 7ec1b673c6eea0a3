package parquet

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/internal/fuzz"
	pq "github.com/ffconvert/ffconvert/internal/parquettest"
)

// zeroColumns is a file of columns that each decompress to bytes zeros, as one page or as a dictionary and a page.
func zeroColumns(t *testing.T, columns, bytes int, dictionary bool) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	values := bytes / 8
	zeros := z.EncodeAll(make([]byte, bytes), nil)
	pages := []pq.Page{{Values: values, Body: zeros, Expanded: bytes}}
	if dictionary {
		index := z.EncodeAll([]byte{1, 1 << 1, 0}, nil)
		pages = []pq.Page{{Kind: pq.Dictionary, Values: values, Body: zeros, Expanded: bytes}, {Values: 1, Encoding: pq.RLEDictionary, Body: index, Expanded: 3}}
		values = 1
	}
	var schema []pq.Element
	var chunks []pq.Chunk
	for i := range columns {
		schema = append(schema, pq.Element{Name: fmt.Sprint("c", i), Type: pq.Int64, Converted: pq.None})
		chunks = append(chunks, pq.Chunk{Type: pq.Int64, Codec: pq.Zstd, Values: values, Pages: pages})
	}
	return fileOf(values, root(schema...), chunks...)
}

// What the columns hold together is limited: many that each decompress to a page below the limit are refused before they
// take more, and read with a larger limit.
func TestColumnsAtOnce(t *testing.T) {
	const each, columns = 8 << 20, 12
	for _, dictionary := range []bool{false, true} {
		data := zeroColumns(t, columns, each, dictionary)
		for _, row := range []struct {
			limit int64
			err   string
		}{{3*each + 1000, "pages and dictionaries of 335544"}, {each - 1, "a page of"}, {columns*each + 1<<10, ""}} {
			parts, open := convertertest.InMemory(".parquet", data)
			s, err := openSource(parts, Options{MaxPage: row.limit}, open)
			if err != nil {
				t.Fatal(err)
			}
			var rows int
			fuzz.WantAllocated(t, int(2*row.limit)+columns*(1<<20)+32<<20, func() {
				rows = 0
				for _, err = range s.Index(t.Context(), 0) {
					if rows++; err != nil || rows == 1 {
						break
					}
				}
			})
			if row.err == "" {
				if err != nil || rows != 1 {
					t.Errorf("limit %d: %d rows, %v", row.limit, rows, err)
				}
				continue
			}
			var at *converters.Error
			if !errors.Is(err, converters.ErrLimit) || !strings.Contains(fmt.Sprint(err), row.err) || !errors.As(err, &at) || !strings.HasPrefix(at.Hint, "Options.MaxPage") {
				t.Errorf("limit %d, dictionaries %v: %v, want %q", row.limit, dictionary, err, row.err)
			}
		}
	}
}

// Pages that become small again make room for those of other columns.
func TestColumnsInTurn(t *testing.T) {
	t.Parallel()
	const large = 4 << 20
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	page := func(values int) pq.Page {
		b := make([]byte, 8*values)
		return pq.Page{Values: values, Body: z.EncodeAll(b, nil), Expanded: len(b)}
	}
	// The first column has its large page first, the second one behind it.
	big, small := large/8, 1000
	a := pq.Chunk{Type: pq.Int64, Codec: pq.Zstd, Values: big + big, Pages: []pq.Page{page(big)}}
	b := pq.Chunk{Type: pq.Int64, Codec: pq.Zstd, Values: big + big, Pages: nil}
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
