package csv

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/converters"
)

// An endless is a part that begins with head, goes on with fill repeated up to size
// bytes, and is nowhere in memory.
type endless struct {
	head, fill string
	size       int64
}

func (e endless) Close() error { return nil }

func (e endless) ReadAt(b []byte, off int64) (int, error) {
	n := int(min(int64(len(b)), e.size-off))
	at := 0
	if off < int64(len(e.head)) {
		at = copy(b[:n], e.head[off:])
	}
	if at < n {
		phase := int((off + int64(at) - int64(len(e.head))) % int64(len(e.fill)))
		at += copy(b[at:n], e.fill[phase:])
		from := at
		at += copy(b[at:n], e.fill)
		for at < n { // doubles what is there, in whole fills
			at += copy(b[at:n], b[from:from+(at-from)/len(e.fill)*len(e.fill)])
		}
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// openEndless opens parts that are all of one kind.
func openEndless(opts Options, parts ...endless) (*source, error) {
	var list []converters.Part
	for i, e := range parts {
		list = append(list, converters.Part{Name: "part-" + string(rune('0'+i)), Size: e.size})
	}
	return openSource(list, opts, func(p converters.Part, _ converters.Access) (converters.File, error) {
		return parts[p.Name[len(p.Name)-1]-'0'], nil
	})
}

// allocated returns how many bytes f allocates, all in all: more than it ever holds.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// E5: what has no end is refused before it is held. It is not parallel: allocations are
// counted.
func TestEndless(t *testing.T) {
	need.Time(t, "rows without an end")
	const small = 1 << 20
	size := int64(80 << 20)
	if heavy() {
		size = 1 << 30
	}
	cases, undetected := 0, 0
	for _, c := range []struct {
		name  string
		opts  Options
		parts []endless
		err   error
	}{
		{"a line", Options{}, []endless{{"1,2\n", "x", size}}, converters.ErrLimit},
		{"an unclosed quote", Options{}, []endless{{"1,2\n3,\"", "line\n", size}}, converters.ErrLimit},
		{"a line, low limit", Options{MaxRow: small}, []endless{{"", "1", size}}, converters.ErrLimit},
		{"an unclosed quote, low limit", Options{MaxRow: small}, []endless{{"\"", "1,2\n", size}}, converters.ErrLimit},
		{"an unclosed quote that ends in time", Options{}, []endless{{"1\n\"", "1\n", 20 << 20}}, converters.ErrTruncated},
		{"quotes without end", Options{MaxRow: small}, []endless{{"\"", "\"\"", size + 1}}, converters.ErrLimit},
		{"columns without end", Options{MaxRow: 4 * small}, []endless{{"", ",", size}}, converters.ErrLimit},
		{"columns without end, second part", Options{MaxRow: 4 * small}, []endless{{"1,2\n", "3,4\n", 4096}, {"", "1,", size}}, converters.ErrLimit},
		{"many columns", Options{}, []endless{{"", ",", 3 << 20}}, converters.ErrLimit},
		{"many columns, second part", Options{}, []endless{{"1,2\n", "3,4\n", 4096}, {"", "1,", 3 << 20}}, converters.ErrMalformed},
		{"a header line", Options{Header: true, MaxRow: small}, []endless{{"x,", "y", size}}, converters.ErrLimit},
		{"a line of text, second part", Options{MaxRow: small}, []endless{{"a\n", "b\n", 4096}, {"a\n", "b", size}}, converters.ErrLimit},
		{"a number of many digits", Options{}, []endless{{"1\n", "9", 3 << 20}}, converters.ErrMalformed},
		{"zeros", Options{}, []endless{{"1,2\n", "\x00", size}}, converters.ErrMalformed},
		{"zeros between quotes", Options{MaxRow: small}, []endless{{"\"", "\x00", size}}, converters.ErrLimit},
		{"CR", Options{}, []endless{{"1,2\r", "3,4\r", size}}, converters.ErrMalformed},
		{"one sample of all rows", Options{RowsPerSample: math.MaxInt64, MaxSample: small}, []endless{{"", "1,2\n", size}}, converters.ErrLimit},
		{"one table of all rows", Options{RowsPerSample: math.MaxInt64, MaxSample: small, Form: Table}, []endless{{"", "1,2\n", size}}, converters.ErrLimit},
		{"one table of all rows of text", Options{RowsPerSample: math.MaxInt64, MaxSample: small}, []endless{{"", "a,b\n", size}}, converters.ErrLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			limit := uint64(c.opts.MaxRow)
			if limit == 0 {
				limit = DefaultMaxRow
			}
			limit += 64 << 20
			var err error
			got := allocated(func() {
				var src *source
				src, err = openEndless(c.opts, c.parts...)
				for p := range c.parts {
					if err != nil {
						break
					}
					for _, err = range src.Index(t.Context(), p) {
						if err != nil {
							break
						}
					}
				}
			})
			if c.err == nil { // it is accepted, within a multiple of the row
				if err != nil || got > 8*limit {
					t.Errorf("%d bytes allocated, error %v", got, err)
				}
				return
			}
			cases++
			var placed *converters.Error
			if !errors.Is(err, c.err) || !errors.As(err, &placed) || placed.Off < 0 || got > limit {
				undetected++
				t.Errorf("%d bytes allocated, at most %d wanted; error %.200v, want %v", got, limit, err, c.err)
			}
		})
	}
	for n := range 8 { // a missing part, each one
		var names []string
		for i := range 8 {
			if i != n {
				names = append(names, partName(i))
			}
		}
		for _, naming := range []Naming{{Prefix: "part-", SuffixLength: -1}, {Prefix: "part-", SuffixLength: -1, Parts: 8}} {
			if n == 7 && naming.Parts == 0 {
				continue // nothing tells of it
			}
			cases++
			if _, err := naming.Arrange(names); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), partName(n)) {
				undetected++
				t.Errorf("without %s: error %v", partName(n), err)
			}
		}
	}
	t.Logf("E5 [csv] cases=%d undetected=%d lost=0", cases, undetected)
}

func partName(i int) string { return "part-" + string(rune('0'+i)) }

// What is held of rows that are read ahead does not grow with the run. It is not parallel:
// allocations are counted.
func TestAheadMemory(t *testing.T) {
	for _, opts := range []Options{{}, {Form: Fields}, {RowsPerSample: 100}} {
		const rows = 1 << 20 // 16 MiB of numbers
		src, err := openEndless(opts, endless{"", "1,2\n", 4 * rows})
		if err != nil {
			t.Fatal(err)
		}
		got := allocated(func() {
			for _, err := range src.Read(t.Context(), converters.Run{Count: rows / max(opts.RowsPerSample, 1)}) {
				if err != nil {
					t.Fatal(err)
				}
			}
		})
		if got > 4<<20 {
			t.Errorf("%+v: %d bytes allocated", opts, got)
		}
	}
}

// A row costs no allocation: what a run allocates does not grow with it. It is not
// parallel: allocations are counted.
func TestAllocs(t *testing.T) {
	data := pairs(4000)
	for _, c := range []struct {
		name string
		opts Options
	}{
		{"packed", Options{}}, {"many rows", Options{RowsPerSample: 16}}, {"float32", Options{DType: "float32"}}, {"fields", Options{Form: Fields}},
	} {
		src := inMemory(t, c.opts, data)
		per := max(c.opts.RowsPerSample, 1)
		walk := func(count int64) float64 {
			return testing.AllocsPerRun(10, func() {
				for _, err := range src.Read(t.Context(), converters.Run{Count: count}) {
					if err != nil {
						t.Fatal(err)
					}
				}
			})
		}
		const slack = 40 // under the race detector a pool forgets readers
		if few, many := walk(10/per+1), walk(4000/per); many > few+slack {
			t.Errorf("%s: a run of few samples has %v allocations, one of many %v", c.name, few, many)
		}
		index := testing.AllocsPerRun(10, func() {
			for _, err := range src.Index(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
			}
		})
		if index > slack {
			t.Errorf("%s: an index of 4000 rows has %v allocations", c.name, index)
		}
	}
}
