package faults

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// A conversion is a command that rows disturb, and what it leaves when nothing does.
type conversion struct {
	name string // of its part of a row
	args func(out string) []string
	want tree
	from []string // its sources, where another test copies them
	cold []string // files to remove from the page cache before each run

	files bool // an exported folder: each file outside our directory is whole once it has its name
}

// conversions returns one of each format, with one worker, so that the k-th call is the
// same each time. The first is of tars, which makes every call that there is.
func conversions(t *testing.T) []conversion {
	t.Helper()
	all, err := everyFormat()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var everyFormat = sync.OnceValues(func() ([]conversion, error) {
	in := filepath.Join(base, "in-formats")
	writers := []struct {
		name  string
		write func(dir string) (names []string, err error)
	}{{"folder", writeFolder}, {"csv", writeCSV}, {"cbor", writeCBOR}, {"ffr", writeFFR}}
	want, err := reference()
	all := []conversion{{name: "tar", args: func(out string) []string { return convert(out, "-j1") }, want: want, from: sources}}
	for _, w := range writers {
		if err != nil {
			return nil, err
		}
		c := conversion{name: w.name}
		if c.from, err = w.write(filepath.Join(in, w.name)); err != nil {
			return nil, err
		}
		c.args = func(out string) []string { return formatArgs(w.name, c.from, out) }
		out := filepath.Join(base, "reference-"+w.name)
		c.want, err = referenceOf(out, c.args(out))
		all = append(all, c)
	}
	return all, err
})

// formatArgs returns the arguments of a conversion of any format.
func formatArgs(format string, from []string, out string) []string {
	args := append([]string{format, "--shards", "3", "--progress", "none", "-j1"}, from...)
	return append(args, out)
}

// writeFolder writes two classes of small files.
func writeFolder(dir string) ([]string, error) {
	rng := rand.New(rand.NewPCG(5, 1))
	for i := range 12 {
		name := filepath.Join(dir, []string{"cat", "dog"}[i/6], fmt.Sprintf("%02d.jpg", i))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(name, noise(rng, rng.IntN(9000)), 0o644); err != nil {
			return nil, err
		}
	}
	return []string{dir}, nil
}

// writeCSV writes two parts of rows of numbers.
func writeCSV(dir string) ([]string, error) {
	rng := rand.New(rand.NewPCG(5, 2))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for i := range 2 {
		var b strings.Builder
		for range 100 {
			fmt.Fprintf(&b, "%d,%g,%g\n", rng.IntN(10), rng.NormFloat64(), rng.Float64())
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("part-%d", i)), []byte(b.String()), 0o644); err != nil {
			return nil, err
		}
	}
	return []string{dir}, nil
}

// writeCBOR writes two files of maps.
func writeCBOR(dir string) (names []string, err error) {
	rng := rand.New(rand.NewPCG(5, 3))
	mode, err := cbor.CoreDetEncOptions().EncMode() // sorted: the same bytes each time
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for i := range 2 {
		var b []byte
		for j := range 12 {
			size := rng.IntN(9000)
			if i == 1 && j == 6 {
				size = 3 << 20 // its shard has aligned blocks, which go past the page cache
			}
			item, err := mode.Marshal(map[string]any{
				"__key__": fmt.Sprintf("%d/%02d", i, j), "jpg": noise(rng, size), "box": []int{j, i, -j},
			})
			if err != nil {
				return nil, err
			}
			b = append(b, item...)
		}
		name := filepath.Join(dir, fmt.Sprintf("%d.cbor", i))
		if err := os.WriteFile(name, b, 0o644); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// writeFFR writes a dataset of FFRecord shards, and reads it: shards go past the page cache, and calls about sources
// that are not in it may fail unseen.
func writeFFR(dir string) ([]string, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	_, err := referenceOf(dir, convertFrom(sources, dir, "--shards", "2"))
	return []string{dir}, err
}

// records returns the number of samples that a shard's header claims.
func records(shard []byte) uint64 { return binary.LittleEndian.Uint64(shard[4:12]) }

// TestFormats: each conversion has three shards with samples in each, or its rows would
// prove nothing.
func TestFormats(t *testing.T) {
	slow(t)
	t.Parallel()
	for _, c := range conversions(t) {
		for i := range 3 {
			name := fmt.Sprintf("PART_%05d.ffr", i)
			if shard := c.want[name]; len(shard) < 100 || records(shard) == 0 {
				t.Errorf("%s: %s has %d bytes", c.name, name, len(shard))
			}
		}
		if c.want["PART_00003.ffr"] != nil || c.want["manifest.json"] == nil {
			t.Errorf("%s: not three shards and a manifest", c.name)
		}
	}
}
