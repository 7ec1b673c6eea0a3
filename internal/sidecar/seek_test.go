package sidecar_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/sidecar"
)

// uneven has batches of different numbers of rows: keys of 40 KB end a batch early.
func uneven(i int) converters.Sample {
	s := sample(i)
	if i > 9000 && i < 9900 {
		s.Key += strings.Repeat("x", 40_000)
	}
	return s
}

// Whatever row is skipped to, forwards or backwards, the rows from it on are the same as one after another, after a few reads.
func TestSkipTo(t *testing.T) {
	t.Parallel()
	const n = 60_000
	all := map[string]func(i int) converters.Sample{"uneven batches": uneven}
	for name, sample := range kinds {
		all[name] = sample
	}
	for name, sample := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, _ := index(t, n, sample)
			want, err := rows(data, 0, n)
			if err != nil {
				t.Fatal(err)
			}
			counted := &counter{Reader: bytes.NewReader(data)}
			r, err := sidecar.Open(counted, int64(len(data)))
			if err != nil {
				t.Fatal(err)
			}
			r.SourceOffs = true
			rng := rand.New(rand.NewPCG(1, 2))
			for _, first := range []int{0, n - 1, 8191, 8192, 59_999, 16_384, 1, 9000, 9001, 9500, 9899, 9900, rng.IntN(n), rng.IntN(n), rng.IntN(n)} {
				counted.reads = 0
				r.SkipTo(int64(first))
				if counted.reads > 40 {
					t.Errorf("row %d takes %d reads", first, counted.reads)
				}
				for i := first; i < min(n, first+10_000); i++ {
					if row, err := r.Next(); err != nil || *row != want[i] {
						t.Fatalf("from row %d: row %d is %+v, %v; want %+v", first, i, row, err, want[i])
					}
				}
				r.SkipTo(int64(first))
				if row, err := r.Row(int64(first)); err != nil || *row != want[first] {
					t.Fatalf("row %d alone: %+v, %v", first, row, err)
				}
			}
			for _, none := range []int64{n, n + 1, -1, 1 << 60} {
				r.SkipTo(none)
				if row, err := r.Next(); err == nil {
					t.Errorf("row %d is %+v", none, row)
				}
			}
		})
	}
}

// A damaged footer, or none, leads to the same rows; damage elsewhere to an error or to some row.
func TestSkipToHostile(t *testing.T) {
	t.Parallel()
	const n = 30_000
	for name, sample := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, _ := index(t, n, sample)
			want, err := rows(data, 20_000, 1)
			if err != nil {
				t.Fatal(err)
			}
			read := func(data []byte) (sidecar.Row, error) {
				r, err := sidecar.Open(bytes.NewReader(data), int64(len(data)))
				if err != nil {
					return sidecar.Row{}, err
				}
				r.SourceOffs = true
				r.SkipTo(20_000)
				row, err := r.Next()
				if err != nil {
					return sidecar.Row{}, err
				}
				return *row, nil
			}
			footer := len(data) - 10 - int(binary.LittleEndian.Uint32(data[len(data)-10:]))
			step := 7
			if testing.Short() {
				step = 101
			}
			for bit := 8 * footer; bit < 8*len(data); bit += step {
				data[bit/8] ^= 1 << (bit % 8)
				if got, err := read(data); err != nil || got != want[0] {
					t.Fatalf("bit %d of the footer: %+v, %v", bit-8*footer, got, err)
				}
				data[bit/8] ^= 1 << (bit % 8)
			}
			for _, cut := range []int{1, 5, 9, 10, 11, len(data) - footer} {
				if got, err := read(data[:len(data)-cut]); err != nil || got != want[0] {
					t.Errorf("%d bytes less: %+v, %v", cut, got, err)
				}
			}
			rng := rand.New(rand.NewPCG(3, 4))
			for range 300 {
				for range 1 + rng.IntN(3) { // more and more damage
					data[rng.IntN(len(data))] ^= byte(1 << rng.IntN(8))
				}
				_, err := read(data)
				r, late := sidecar.Open(bytes.NewReader(data), int64(len(data)))
				if late == nil {
					_, late = r.Find(t.Context(), []string{"dir/20000", "none"}, n)
				}
				for _, err := range []error{err, late} {
					if err != nil && !errors.Is(err, sidecar.ErrMalformed) {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// Find finds each row by its key, and all rows that have one of several keys.
func TestFind(t *testing.T) {
	t.Parallel()
	const n = 10_000
	data, _ := index(t, n, func(i int) converters.Sample {
		s := uneven(i)
		if i%1000 == 7 {
			s.Key = "same"
		}
		return s
	})
	r, err := sidecar.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	all := func(keys ...string) (found []int64) {
		r.SkipTo(0)
		r.SourceOffs = true
		for {
			i, err := r.Find(t.Context(), keys, n)
			if err != nil {
				t.Fatal(err)
			}
			if i == n {
				return found
			}
			if row, err := r.Row(i); err != nil || !slices.Contains(keys, row.Key) || !row.Placed || row.SourceOff < 0 {
				t.Fatalf("row %d is %+v, %v; want a key of %q", i, row, err, keys)
			}
			found = append(found, i)
		}
	}
	for _, i := range []int64{0, 1, 4095, 4096, 8191, 8192, 9001, 9027, 9500, 9899, n - 1} {
		if got := all(uneven(int(i)).Key); !slices.Equal(got, []int64{i}) {
			t.Errorf("the key of row %d is found in %d", i, got)
		}
	}
	if got := all("same", "dir/6", "none", ""); len(got) != 11 || got[0] != 6 || got[1] != 7 || got[10] != 9007 {
		t.Errorf("several keys are found in %d", got)
	}
	if got := all("dir", "dir/7", "dir/9500", "dir/10000"); got != nil {
		t.Errorf("keys that are not there are found in %d", got)
	}
}
