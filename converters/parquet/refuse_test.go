package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
	"github.com/ffconvert/ffconvert/internal/fuzz"
	"github.com/ffconvert/ffconvert/internal/test/arrowjs"
	"github.com/ffconvert/ffconvert/internal/test/need"
	pq "github.com/ffconvert/ffconvert/internal/test/parquettest"
)

// fileOf is a file of one row group.
func fileOf(rows int, schema []pq.Element, chunks ...pq.Chunk) []byte {
	var b bytes.Buffer
	w := pq.NewWriter(&b)
	w.Group(rows, chunks...)
	if err := w.Close(schema, nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// root is a schema of these columns.
func root(columns ...pq.Element) []pq.Element {
	return append([]pq.Element{{Name: "schema", Type: pq.Group, Children: len(columns), Converted: pq.None}}, columns...)
}

// contents indexes and reads a part in memory. An error is that of the first of Open, Index and Read that has one.
func contents(t testing.TB, data []byte, opts Options) (rows [][]string, err error) {
	t.Helper()
	return contentsFrom(t, data, opts, flowFrom)
}

// contentsFrom is contents where pages from some size on are decompressed piece by piece.
func contentsFrom(t testing.TB, data []byte, opts Options, from int64) (rows [][]string, err error) {
	t.Helper()
	parts, open := convertertest.InMemory(".parquet", data)
	s, err := openSource(t.Context(), parts, opts, open)
	if err != nil {
		return nil, err
	}
	s.flowFrom = from
	offs, err := indexOf(t, s, 0)
	if err != nil {
		return nil, err
	}
	for sample, err := range s.Read(t.Context(), converters.Run{Count: int64(len(offs))}) {
		if err != nil {
			t.Errorf("Index accepts what Read refuses: %v", err)
			return rows, err
		}
		rows = append(rows, arrowjs.Row(sample))
	}
	return rows, nil
}

func int64s(all ...uint64) (b []byte) {
	for _, v := range all {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func TestRefused(t *testing.T) {
	t.Parallel()
	number := pq.Element{Name: "n", Type: pq.Int64, Converted: pq.None}
	name := pq.Element{Name: "s", Type: pq.Bytes, Converted: pq.Text}
	column := func(kind, codec int, pages ...pq.Page) pq.Chunk {
		return pq.Chunk{Type: kind, Codec: codec, Values: 2, Pages: pages}
	}
	one := func(schema pq.Element, codec int, pages ...pq.Page) []byte {
		return fileOf(2, root(schema), column(schema.Type, codec, pages...))
	}
	two := pq.Page{Values: 2, Body: int64s(1, 2)}
	good := one(number, pq.Plain, two)
	texts := func(s ...string) pq.Page { return pq.Page{Values: 2, Body: pq.Strings(s...)} }
	renamed := func(name string) pq.Element { e := number; e.Name = name; return e }
	for _, row := range []struct {
		name string
		data []byte
		opts Options
		kind error
		text string
	}{
		{"empty", nil, Options{}, converters.ErrTruncated, "0 bytes"},
		{"cut", good[:len(good)-1], Options{}, converters.ErrTruncated, "does not end with PAR1"},
		{"another file", append([]byte("RIFF"), good[4:]...), Options{}, converters.ErrMalformed, "does not begin with PAR1"},
		{"encrypted", append([]byte("PARE"), good[4:]...), Options{}, converters.ErrUnsupported, "encrypted"},
		{"a long footer", slices.Concat(good[:len(good)-8], []byte{255, 255, 255, 0}, []byte("PAR1")), Options{}, converters.ErrMalformed, "a footer of 16777215 bytes"},
		{"a footer over the limit", good, Options{MaxFooter: 10}, converters.ErrLimit, "a footer of"},
		{"no columns", fileOf(2, root()), Options{}, converters.ErrMalformed, "no columns"},
		{"a column twice", fileOf(2, root(number, number), column(pq.Int64, 0, two), column(pq.Int64, 0, two)), Options{}, converters.ErrDuplicate, `"n"`},
		{"a column too few", fileOf(2, root(number, name), column(pq.Int64, 0, two)), Options{}, converters.ErrMalformed, "1 columns, the schema has 2"},
		{"another type", fileOf(2, root(number), column(pq.Double, 0, two)), Options{}, converters.ErrMalformed, "the schema says 2"},
		{"other rows", fileOf(3, root(number), column(pq.Int64, 0, two)), Options{}, converters.ErrMalformed, "2 values, the row group 3 rows"},
		{"a deep schema", fileOf(0, nested(100)), Options{}, converters.ErrLimit, "nests deeper"},
		{"a number as the key", one(renamed("__key__"), 0, two), Options{}, converters.ErrUnsupported, "is not text"},
		{"intervals", one(pq.Element{Name: "i", Type: pq.Fixed, Length: 12, Converted: 21}, 0, two), Options{}, converters.ErrUnsupported, "intervals"},
		{"a map of structs as keys", fileOf(2, root(pq.Element{Name: "m", Type: pq.Group, Children: 1, Converted: pq.Map}, pq.Element{Name: "kv", Type: pq.Group, Repetition: pq.Repeated, Children: 1, Converted: pq.None},
			pq.Element{Name: "key", Type: pq.Group, Children: 1, Converted: pq.None}, number)), Options{}, converters.ErrUnsupported, "keys that are neither text nor numbers"},
		{"an encoding of tomorrow", one(number, 0, pq.Page{Values: 2, Encoding: 10, Body: int64s(1, 2)}), Options{}, converters.ErrUnsupported, "encoding 10"},
		{"LZO", one(number, 3, two), Options{}, converters.ErrUnsupported, "LZO"},
		{"unknown codec", one(number, 99, two), Options{}, converters.ErrMalformed, "compression 99"},
		{"no pages", one(number, 0), Options{}, converters.ErrMalformed, "has 0 bytes at 0"},
		{"a page too few", one(number, 0, pq.Page{Values: 1, Body: int64s(1)}), Options{}, converters.ErrMalformed, "end 1 values early"},
		{"a page too many", one(number, 0, pq.Page{Values: 3, Body: int64s(1, 2, 3)}), Options{}, converters.ErrMalformed, "a page of 3 values"},
		{"values too few", one(number, 0, pq.Page{Values: 2, Body: int64s(1)}), Options{}, converters.ErrMalformed, "end early"},
		{"two sizes", one(number, 0, pq.Page{Values: 2, Body: int64s(1, 2), Expanded: 17}), Options{}, converters.ErrMalformed, "of 16 and of 17 bytes"},
		{"an unknown encoding", one(number, 0, pq.Page{Values: 2, Encoding: 77, Body: int64s(1, 2)}), Options{}, converters.ErrUnsupported, "encoding 77"},
		{"repetition levels of BIT_PACKED", one(pq.Element{Name: "n", Type: pq.Int64, Repetition: pq.Repeated, Converted: pq.None}, 0, pq.Page{Values: 2, RepPacked: true, Body: int64s(1, 2)}), Options{}, converters.ErrUnsupported, "BIT_PACKED"},
		{"definition levels of BIT_PACKED", one(pq.Element{Name: "n", Type: pq.Int64, Repetition: pq.Optional, Converted: pq.None}, 0, pq.Page{Values: 2, DefPacked: true, Body: int64s(1, 2)}), Options{}, converters.ErrUnsupported, "BIT_PACKED"},
		{"LZ4 that says 2 GB", one(number, 5, pq.Page{Values: 2, Body: []byte{127, 255, 255, 255, 0, 0, 0, 1, 0}, Expanded: 1<<31 - 1}), Options{MaxPage: 1 << 40}, converters.ErrMalformed, "another size"},
		{"LZ4 that is none", one(number, 5, pq.Page{Values: 2, Body: []byte{0, 0, 0, 16, 0, 0, 0, 99, 0}, Expanded: 16}), Options{}, converters.ErrMalformed, "does not decompress"},
		{"Brotli that is none", one(number, 4, pq.Page{Values: 2, Body: []byte{255, 255, 255}, Expanded: 1<<31 - 1}), Options{MaxPage: 1 << 40}, converters.ErrMalformed, "does not decompress"},
		{"a time of no Spark", fileOf(1, root(pq.Element{Name: "t", Type: pq.Int96, Converted: pq.None}), pq.Chunk{Type: pq.Int96, Values: 1, Pages: []pq.Page{{Values: 1, Body: slices.Concat(int64s(0), []byte{255, 255, 255, 0})}}}), Options{}, converters.ErrUnsupported, "beyond 64 bits of nanoseconds"},
		{"no dictionary", one(number, 0, pq.Page{Values: 2, Encoding: 8, Body: []byte{1, 4, 0}}), Options{}, converters.ErrMalformed, "no dictionary"},
		{"beyond the dictionary", one(number, 0, pq.Page{Kind: pq.Dictionary, Values: 1, Body: int64s(5)}, pq.Page{Values: 2, Encoding: 8, Body: []byte{1, 4, 1}}), Options{}, converters.ErrMalformed, "index 1 into a dictionary of 1"},
		{"two dictionaries", one(number, 0, pq.Page{Kind: pq.Dictionary, Values: 1, Body: int64s(5)}, pq.Page{Kind: pq.Dictionary, Values: 1, Body: int64s(5)}, two), Options{}, converters.ErrMalformed, "second dictionary"},
		{"a dictionary of more than it has", one(number, 0, pq.Page{Kind: pq.Dictionary, Values: 1 << 30, Body: int64s(5)}, two), Options{}, converters.ErrMalformed, "1073741824 values in 8 bytes"},
		{"a dictionary of a fixed size, with sizes", one(pq.Element{Name: "f", Type: pq.Fixed, Length: 3, Converted: pq.None}, 0,
			pq.Page{Kind: pq.Dictionary, Values: 2, Body: pq.Strings("abc", "def")}, pq.Page{Values: 2, Encoding: 8, Body: []byte{1, 4, 1}}), Options{}, converters.ErrMalformed, "2 values in 14 bytes"},
		{"texts of more than there are", one(name, 0, pq.Page{Values: 2, Body: append(pq.Strings("a"), 255, 255, 255, 255, 'b')}), Options{}, converters.ErrMalformed, "end early"},
		{"text that is not UTF-8", one(name, 0, texts("a", "\xff")), Options{}, converters.ErrMalformed, "not UTF-8"},
		{"a value over the limit", one(name, 0, texts("a", "12345678901")), Options{MaxValue: 10}, converters.ErrLimit, "a value of 11 bytes"},
		{"a page over the limit", one(number, 0, two), Options{MaxPage: 15}, converters.ErrLimit, "a page of 16 bytes"},
		{"snappy that is none", one(number, pq.Snappy, pq.Page{Values: 2, Body: []byte{16, 255, 255}, Expanded: 16}), Options{}, converters.ErrMalformed, "does not decompress"},
		{"snappy that says 2 GB", one(number, pq.Snappy, pq.Page{Values: 2, Body: []byte{255, 255, 255, 255, 7, 0}, Expanded: 1<<31 - 1}), Options{MaxPage: 1 << 40}, converters.ErrMalformed, "another size"},
		{"zstd that says 2 GB", one(number, 6, pq.Page{Values: 2, Body: []byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0, 255, 255, 255, 127, 1, 0, 0}, Expanded: 1<<31 - 1}), Options{MaxPage: 1 << 40}, converters.ErrMalformed, "does not decompress"},
		{"lz4 that says 2 GB", one(number, 7, pq.Page{Values: 2, Body: []byte{0}, Expanded: 1<<31 - 1}), Options{MaxPage: 1 << 40}, converters.ErrMalformed, "another size"},
		{"levels beyond the largest", one(pq.Element{Name: "n", Type: pq.Int64, Repetition: pq.Optional, Converted: pq.None}, 0, pq.Page{Values: 2, Body: append([]byte{3, 0, 0, 0, 4, 2}, int64s(1, 2)...)}), Options{}, converters.ErrMalformed, "page"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := contents(t, row.data, row.opts)
			var at *converters.Error
			if !errors.Is(err, row.kind) || !strings.Contains(fmt.Sprint(err), row.text) {
				t.Fatalf("error %v, want %v with %q", err, row.kind, row.text)
			}
			if !errors.As(err, &at) || at.Where != "part-0.parquet" || at.Off < 0 || at.Entry == "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("error without a place: %+v", at)
			}
			if row.name == "a time of no Spark" && !strings.Contains(at.Hint, "option fields") {
				t.Errorf("the hint %q", at.Hint)
			}
			if errors.Is(err, converters.ErrLimit) && !strings.HasPrefix(at.Hint, "option max-") && row.name != "a deep schema" {
				t.Errorf("the hint %q", at.Hint)
			}
		})
	}
}

// nested is a schema of structs in structs.
func nested(depth int) []pq.Element {
	var all []pq.Element
	for range depth {
		all = append(all, pq.Element{Name: "x", Type: pq.Group, Children: 1, Converted: pq.None})
	}
	return append(all, pq.Element{Name: "n", Type: pq.Int64, Converted: pq.None})
}

// With a CRC no cut and no changed byte in a page, or in its header, gives other values.
func TestDamagedPages(t *testing.T) {
	t.Parallel()
	for _, codec := range []int{pq.Plain, pq.Snappy} {
		var b bytes.Buffer
		w := pq.NewWriter(&b)
		w.Group(3, pq.Images([][]byte{{1, 2, 3}, {}, {5}}, []string{"a.jpg", "", "c"}, []int64{1, -1, 1 << 40}, codec, true)...)
		footer := b.Len()
		if err := w.Close(pq.ImageSchema(), nil); err != nil {
			t.Fatal(err)
		}
		data := b.Bytes()
		want, err := contents(t, data, Options{})
		if err != nil || len(want) != 3 {
			t.Fatal(want, err)
		}
		damaged(t, data, func(at int, rows [][]string) {
			if at < footer && !slices.EqualFunc(rows, want, slices.Equal) {
				t.Errorf("codec %d: byte %d changed: %v, want %v", codec, at, rows, want)
			}
		})
	}
}

// damaged cuts and changes a file everywhere. It wants errors with a place, or rows, of which there are not more than there
// were.
func damaged(t *testing.T, data []byte, accepted func(at int, rows [][]string)) {
	t.Helper()
	for n := range data {
		if rows, err := contents(t, data[:n], Options{}); err == nil {
			t.Errorf("cut to %d of %d bytes: %d rows", n, len(data), len(rows))
		}
	}
	for at := range data {
		for bit := range 8 {
			changed := bytes.Clone(data)
			changed[at] ^= 1 << bit
			rows, err := contents(t, changed, Options{})
			var placed *converters.Error
			switch {
			case err == nil:
				accepted(at, rows)
			case !errors.As(err, &placed) || placed.Where == "" || placed.Off < 0:
				t.Errorf("byte %d changed: no place: %v", at, err)
			}
		}
	}
}

// Nor does damage of files that others wrote make more than an error, or other values.
func TestDamagedForeign(t *testing.T) {
	t.Parallel()
	need.Time(t, "every cut and many changed bytes of five files")
	dir, want := arrowjs.Write(t, "parquet", 5)
	for _, name := range []string{"plain", "words", "snappy", "gzip", "lz4", "zstd"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join(dir, name+".parquet"))
			if err != nil {
				t.Fatal(err)
			}
			step := max(len(data)/300, 1)
			for at := 0; at < len(data); at += step {
				if at%(7*step) == 0 {
					if _, err := contents(t, data[:at], Options{}); err == nil {
						t.Fatalf("cut to %d of %d bytes: accepted", at, len(data))
					}
				}
				bit := byte(1) << (at / step % 8)
				data[at] ^= bit
				rows, err := contents(t, data, Options{})
				pieces, other := rows, err
				if name == "gzip" || name == "zstd" {
					pieces, other = contentsFrom(t, data, Options{}, 1)
				}
				if (err == nil) != (other == nil) || !slices.EqualFunc(rows, pieces, slices.Equal) {
					t.Errorf("byte %d changed: %d rows, %v; piece by piece %d rows, %v", at, len(rows), err, len(pieces), other)
				}
				data[at] ^= bit
				if placed, ok := errors.AsType[*converters.Error](err); err != nil && (!ok || placed.Off < 0) {
					t.Errorf("byte %d changed: no place: %v", at, err)
				}
				if err == nil && len(rows) != len(want) {
					t.Errorf("byte %d changed: %d rows", at, len(rows))
				}
			}
		})
	}
}

// No bytes make a source panic, or allocate more than they warrant; Index and Read agree.
func FuzzParquet(f *testing.F) {
	f.Add(images(0, 2, pq.Plain, true)[:0])
	for _, c := range pq.Cases() {
		f.Add(c.Data)
	}
	for _, codec := range []int{pq.Plain, pq.Snappy} {
		f.Add(fileOf(2, pq.ImageSchema(), pq.Images([][]byte{{1, 2, 3}, {}}, []string{"a", ""}, []int64{1, -1}, codec, false)...))
	}
	numbers, _ := numbersOf(9, numberColumn{kind: pq.Double, page: 5, codec: pq.Snappy, repetition: pq.Optional, whole: true}, numberColumn{kind: pq.Double, page: 4, dictionary: true})
	f.Add(numbers)
	f.Fuzz(func(t *testing.T, data []byte) {
		opts := Options{MaxFooter: 1 << 20, MaxPage: 1 << 20, MaxValue: 1 << 20, Pack: len(data)%3 == 0}
		parts, open := convertertest.InMemory(".parquet", data)
		s, err := openSource(t.Context(), parts, opts, open)
		if err != nil {
			return
		}
		s.flowFrom = int64(len(data) % 2 * flowFrom)
		n := int64(0)
		fuzz.WantAllocated(t, 2*columns.MostWindow+16<<20+1000*len(data), func() {
			n = 0
			for _, err = range s.Index(t.Context(), 0) {
				if n++; err != nil || n > 1000 {
					break
				}
			}
		})
		if err != nil || n > 1000 {
			return
		}
		read := int64(0)
		for _, err := range s.Read(t.Context(), converters.Run{Count: n}) {
			if err != nil {
				t.Fatalf("Index has %d rows, Read: %v", n, err)
			}
			read++
		}
		if read != n {
			t.Fatalf("Index has %d rows, Read %d", n, read)
		}
	})
}
