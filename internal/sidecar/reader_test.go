package sidecar_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/sidecar"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/record"
)

// sample is sample i of the usual index: with a key, and a class unless i is divisible by 3.
func sample(i int) converters.Sample {
	s := converters.Sample{Key: fmt.Sprintf("dir/%d", i), Fields: []converters.Field{{Name: "bin", Value: converters.Bytes(make([]byte, i%7))}}}
	if i%3 > 0 {
		s.Fields = append(s.Fields, converters.Field{Name: "cls", Value: converters.Bytes(fmt.Append(nil, i%5))})
	}
	return s
}

// alike is a sample without a key, of the same size as all others, so that the index has a rule for the places.
func alike(i int) converters.Sample {
	return converters.Sample{Fields: []converters.Field{{Name: "bin", Value: converters.Bytes([]byte{byte(i), byte(i >> 8)})}}}
}

// kinds are samples whose indexes differ in their columns.
var kinds = map[string]func(i int) converters.Sample{
	"keys and classes": sample,
	"classes, no nulls": func(i int) converters.Sample {
		s := sample(i)
		s.Key, s.Fields = "", append(s.Fields[:1], converters.Field{Name: "cls", Value: converters.Bytes(fmt.Append(nil, i%5))})
		return s
	},
	"places": func(i int) converters.Sample { s := sample(i); s.Key, s.Fields = "", s.Fields[:1]; return s },
	"a rule": alike,
	"a rule, and classes": func(i int) converters.Sample {
		s := alike(i)
		s.Fields = append(s.Fields, converters.Field{Name: "cls", Value: converters.Bytes(fmt.Append(nil, i%3))})
		return s
	},
}

// index converts n samples into one shard and returns the bytes of its index, and the shard's path.
func index(t testing.TB, n int, sample func(i int) converters.Sample) (data []byte, shardPath string) {
	t.Helper()
	part := make([]converters.Sample, n)
	for i := range part {
		part[i] = sample(i)
	}
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := shardtest.Convert(t.Context(), &memsource.Source{Data: [][]converters.Sample{part}}, dir, shardtest.ConvertOptions{}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(dataset.IndexName("PART_00000.ffr"))))
	if err != nil {
		t.Fatal(err)
	}
	return data, filepath.Join(dir, "PART_00000.ffr")
}

// rows reads n rows from row first on.
func rows(data []byte, first, n int) (all []sidecar.Row, err error) {
	r, err := sidecar.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	r.SourceOffs = true
	row, err := r.Row(int64(first))
	for {
		if err != nil {
			return nil, err
		}
		if all = append(all, *row); len(all) == n {
			return all, nil
		}
		row, err = r.Next()
	}
}

// An index of three batches says what the header of its shard says, and keys and classes.
func TestReader(t *testing.T) {
	t.Parallel()
	const n = 20_000
	data, path := index(t, n, sample)
	all, err := rows(data, 0, n)
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(path, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i, row := range all {
		_, e, err := r.Extent(i)
		if err != nil || row.Key != fmt.Sprintf("dir/%d", i) || row.Labeled != (i%3 > 0) || row.Labeled && row.Label != int64(i%5) ||
			!row.Placed || row.Off != e.Off || row.Size != e.Size || row.CRC != e.CRC {
			t.Fatalf("row %d: %+v, %v", i, row, err)
		}
	}
	for _, first := range []int{0, 1, 8191, 8192, 8193, 16_383, 16_384, n - 1} {
		some, err := rows(data, first, min(n-first, 9000))
		if err != nil || !slices.Equal(some, all[first:first+len(some)]) {
			t.Errorf("from row %d: %v", first, err)
		}
	}
	for _, bad := range [][2]int{{n, 1}, {n - 1, 2}, {1 << 40, 1}} {
		if _, err := rows(data, bad[0], bad[1]); !errors.Is(err, sidecar.ErrMalformed) {
			t.Errorf("%d rows from %d: %v", bad[1], bad[0], err)
		}
	}
}

// found reads n rows, each by itself, from the last to the first.
func found(data []byte, n int) ([]sidecar.Row, error) {
	r := bytes.NewReader(data)
	f, err := sidecar.OpenFinder(r, r.Size(), int64(n))
	if err != nil {
		return nil, err
	}
	all := make([]sidecar.Row, n)
	for i := n - 1; i >= 0; i-- {
		x := f.Rows(r, int64(i), 1)
		x.SourceOffs = true
		row, err := x.Next()
		if err != nil {
			return nil, err
		}
		all[i] = *row
	}
	return all, nil
}

// arrowRows reads n rows with Arrow's own reader.
func arrowRows(data []byte, n int) (all []sidecar.Row, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	in, err := ipc.NewReader(bytes.NewReader(data[8:]))
	if err != nil {
		return nil, err
	}
	defer in.Release()
	for len(all) < n && in.Next() {
		b := in.Record()
		for i := range min(int(b.NumRows()), n) {
			row := sidecar.Row{Source: -1, SourceOff: -1}
			ruled(b.Schema(), int64(len(all)), &row)
			for c, f := range b.Schema().Fields() {
				switch col := b.Column(c); f.Name {
				case "key":
					row.Key = strings.Clone(col.(*array.String).Value(i))
				case "label":
					if row.Labeled = col.IsValid(i); row.Labeled {
						row.Label = col.(*array.Int64).Value(i)
					}
				case "offset":
					row.Placed, row.Off = true, col.(*array.Int64).Value(i)
				case "length":
					row.Size = col.(*array.Int64).Value(i)
				case "crc32":
					row.CRC = col.(*array.Uint32).Value(i)
				case "source":
					row.Source = col.(*array.Int32).Value(i)
				case "source_offset":
					row.SourceOff = col.(*array.Int64).Value(i)
				}
			}
			all = append(all, row)
		}
	}
	if len(all) < n {
		return nil, fmt.Errorf("%d rows: %w", len(all), errors.Join(in.Err(), io.EOF))
	}
	return all[:n], nil
}

// ruled enters where row n comes from by the rule of an index, if it has one.
func ruled(s *arrow.Schema, n int64, row *sidecar.Row) {
	about := s.Metadata()
	text, ok := about.GetValue("ffconvert")
	if !ok {
		return
	}
	var rule struct{ Runs [][]int64 }
	if err := json.Unmarshal([]byte(text), &rule); err != nil {
		panic(err)
	}
	for _, run := range rule.Runs {
		if run[0] <= n {
			row.Source = int32(run[1])
		}
		if run[0] == n {
			row.SourceOff = run[3]
		}
	}
}

// A rule that makes no sense is an error, wherever a run begins.
func TestRule(t *testing.T) {
	t.Parallel()
	data, _ := index(t, 40_000, alike)
	const sound = `"runs":[[0,0,0,0],[32768,0,32768,`
	at := bytes.Index(data, []byte(sound))
	if at < 0 {
		t.Fatalf("the rule has no %s", sound)
	}
	for _, row := range []struct{ runs, want string }{
		{sound, ""},
		{`"runs":[[1,0,0,0],[32768,0,32768,`, "run 0"},
		{`"runs":[[0,0,0,0],[    0,0,32768,`, "run 1"},
		{`"runs":[[0,0,0,0],[32768,-1,3276,`, "run 1"},
		{`"runs":[[0,0,0,0],[3,99999999999,`, "run 1"},
		{`"runs":[[0,0,0,0],[   x,0,32768,`, "its rule"},
	} {
		changed := bytes.Clone(data)
		copy(changed[at:], row.runs)
		_, err := rows(changed, 0, 1)
		if (err == nil) != (row.want == "") || err != nil && (!errors.Is(err, sidecar.ErrMalformed) || !strings.Contains(err.Error(), row.want)) {
			t.Errorf("%s: %v", row.runs, err)
		}
	}
	for _, n := range []int{0, 1, 32_767, 32_768, 32_769, 39_999} {
		got, err := rows(data, n, 1)
		want := sidecar.Row{SourceOff: -1}
		if n == 32_768 {
			want.SourceOff = int64(n)
		} else if n == 0 {
			want.SourceOff = 0
		}
		if err != nil || got[0] != want {
			t.Errorf("row %d: %+v, %v", n, got, err)
		}
	}
}

// Rows are those that Arrow's reader reads, in order or one by one, whatever columns an index has.
func TestRows(t *testing.T) {
	t.Parallel()
	for name, sample := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const n = 17_000
			data, _ := index(t, n, sample)
			want, err := arrowRows(data, n)
			if err != nil {
				t.Fatal(err)
			}
			for how, read := range map[string]func() ([]sidecar.Row, error){
				"in order":   func() ([]sidecar.Row, error) { return rows(data, 0, n) },
				"one by one": func() ([]sidecar.Row, error) { return found(data, n) },
			} {
				got, err := read()
				if err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				for i := range want {
					if got[i] != want[i] {
						t.Fatalf("%s, row %d: %+v, want %+v", how, i, got[i], want[i])
					}
				}
			}
		})
	}
}

// One row takes a few small reads, and rows outside of the index are errors.
func TestFinder(t *testing.T) {
	t.Parallel()
	const n = 20_000
	data, _ := index(t, n, sample)
	f, err := sidecar.OpenFinder(bytes.NewReader(data), int64(len(data)), n)
	if err != nil {
		t.Fatal(err)
	}
	counted := &counter{Reader: bytes.NewReader(data)}
	if row, err := f.Rows(counted, 12_345, 1).Next(); err != nil || row.Key != "dir/12345" || counted.reads > 8 || counted.bytes > 64 {
		t.Errorf("%+v, %v, %d bytes in %d reads", row, err, counted.bytes, counted.reads)
	}
	for _, bad := range [][2]int64{{n, 1}, {-1, 1}, {0, 0}, {1 << 40, 1}} {
		if _, err := f.Rows(counted, bad[0], bad[1]).Next(); !errors.Is(err, sidecar.ErrMalformed) {
			t.Errorf("rows %v: %v", bad, err)
		}
	}
	if _, err := sidecar.OpenFinder(counted, int64(len(data)), n+1); !errors.Is(err, sidecar.ErrMalformed) {
		t.Errorf("one row more: %v", err)
	}
	if _, err := f.Rows(bytes.NewReader(data[:len(data)/8]), n-1, 1).Next(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a file that was cut since: %v", err)
	}
}

// A counter counts reads.
type counter struct {
	*bytes.Reader
	reads, bytes int
}

func (c *counter) ReadAt(b []byte, off int64) (int, error) {
	c.reads, c.bytes = c.reads+1, c.bytes+len(b)
	return c.Reader.ReadAt(b, off)
}

// An index that is cut or changed gives an error, or the rows that Arrow's reader reads, in little memory.
func TestReaderHostile(t *testing.T) {
	t.Parallel()
	const n = 40
	for name, sample := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, _ := index(t, n, sample)
			step := 13
			if testing.Short() {
				step = 101
			}
			flipped, equal := make([]byte, len(data)), 0
			for bit := 0; bit < 8*len(data); bit += step {
				copy(flipped, data)
				flipped[bit/8] ^= 1 << (bit % 8)
				inOrder, err := rows(flipped, 0, n)
				single, also := found(flipped, n)
				for _, err := range []error{err, also} {
					if err != nil && !errors.Is(err, sidecar.ErrMalformed) {
						t.Fatalf("bit %d: %v", bit, err)
					}
				}
				if (err == nil) != (also == nil) || !slices.Equal(inOrder, single) {
					t.Fatalf("bit %d: in order %v, one by one %v", bit, err, also)
				}
				if err != nil {
					continue // Arrow's reader may allocate what the index says
				}
				if want, err := arrowRows(flipped, n); err == nil {
					if equal++; !slices.Equal(inOrder, want) {
						t.Fatalf("bit %d: other rows than Arrow's", bit)
					}
				}
			}
			if equal == 0 {
				t.Error("no changed index is read")
			}
			for cut := 0; cut < len(data)/2; cut += step {
				if _, err := rows(data[:cut], 0, n); !errors.Is(err, sidecar.ErrMalformed) {
					t.Fatalf("%d bytes: %v", cut, err)
				}
			}
		})
	}
}

// What an index says of its sizes decides no allocation.
func TestReaderMemory(t *testing.T) {
	data, _ := index(t, 40, sample)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tries := uint64(0)
	for bit := 0; bit < 8*len(data); bit += 7 {
		tries++
		flipped := bytes.Clone(data)
		flipped[bit/8] ^= 1 << (bit % 8)
		_, _ = rows(flipped, 0, 40)
		_, _ = found(flipped, 40)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / tries; each > 256<<10 {
		t.Errorf("%d bytes are allocated for an index of %d", each, len(data))
	}
}

// An error of the file stays what it is.
func TestReaderError(t *testing.T) {
	t.Parallel()
	data, _ := index(t, 40, sample)
	broken := errors.New("the device is gone")
	for left := range 12 {
		r, err := sidecar.Open(&failing{bytes.NewReader(data), left, broken}, int64(len(data)))
		if err == nil {
			_, err = r.Next()
		}
		if left < 7 && !errors.Is(err, broken) {
			t.Errorf("read %d fails: %v", left, err)
		}
		if r, err = sidecar.Open(&failing{bytes.NewReader(data), left, broken}, int64(len(data))); err == nil {
			_, err = r.Row(20)
		}
		if left < 5 && !errors.Is(err, broken) {
			t.Errorf("read %d of a row fails: %v", left, err)
		}
	}
}

// A failing reader fails after some reads.
type failing struct {
	*bytes.Reader
	left int
	err  error
}

func (f *failing) ReadAt(b []byte, off int64) (int, error) {
	if f.left--; f.left < 0 {
		return 0, f.err
	}
	return f.Reader.ReadAt(b, off)
}
