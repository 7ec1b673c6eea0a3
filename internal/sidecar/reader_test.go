package sidecar_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/memsource"
	"github.com/ffconvert/ffconvert/internal/sidecar"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard"
)

// index converts n samples into one shard and returns the bytes of its index, and the shard's path.
func index(t testing.TB, n int) (data []byte, shardPath string) {
	t.Helper()
	part := make([]converters.Sample, n)
	for i := range part {
		part[i] = converters.Sample{Key: fmt.Sprintf("dir/%d", i), Fields: []converters.Field{{Name: "bin", Value: converters.Bytes(make([]byte, i%7))}}}
		if i%3 > 0 {
			part[i].Fields = append(part[i].Fields, converters.Field{Name: "cls", Value: converters.Bytes(fmt.Append(nil, i%5))})
		}
	}
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := shard.Convert(t.Context(), &memsource.Source{Data: [][]converters.Sample{part}}, dir, shard.ConvertOptions{}); err != nil {
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
	defer r.Close()
	if err := r.SkipTo(int64(first)); err != nil {
		return nil, err
	}
	for range n {
		row, err := r.Next()
		if err != nil {
			return nil, err
		}
		all = append(all, *row)
	}
	return all, nil
}

// An index of three batches says what the header of its shard says, and keys and classes.
func TestReader(t *testing.T) {
	t.Parallel()
	const n = 20_000
	data, path := index(t, n)
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

// An index that is cut or changed gives rows or an error, in little memory.
func TestReaderHostile(t *testing.T) {
	t.Parallel()
	data, _ := index(t, 40)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for bit := range 8 * len(data) {
		flipped := bytes.Clone(data)
		flipped[bit/8] ^= 1 << (bit % 8)
		if _, err := rows(flipped, bit%40, 40-bit%40); err != nil && !errors.Is(err, sidecar.ErrMalformed) {
			t.Fatalf("bit %d: %v", bit, err)
		}
	}
	for cut := range len(data) / 2 {
		if _, err := rows(data[:cut], 0, 40); !errors.Is(err, sidecar.ErrMalformed) {
			t.Fatalf("%d bytes: %v", cut, err)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / uint64(8*len(data)); each > 1<<20 {
		t.Errorf("%d bytes are allocated for an index of %d", each, len(data))
	}
}

// An error of the file stays what it is.
func TestReaderError(t *testing.T) {
	t.Parallel()
	data, _ := index(t, 40)
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
			err = r.SkipTo(20) // reads no rows of the batches before
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
