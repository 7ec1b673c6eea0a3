package faults

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

// readShard reads an FFRecord file.
func readShard(path string) ([][]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseShard(path, b)
}

// parseShard reads FFRecord bytes by their definition, and nothing but that:
//
//	u32 CRC of what follows up to the samples · i64 N · u32[N] CRCs · i64[N] offsets · samples
func parseShard(path string, b []byte) ([][]byte, error) {
	if len(b) < 12 {
		return nil, fmt.Errorf("%s has %d bytes", path, len(b))
	}
	n := int(binary.LittleEndian.Uint64(b[4:]))
	if n < 0 || n > (len(b)-12)/12 {
		return nil, fmt.Errorf("%s claims %d samples in %d bytes", path, n, len(b))
	}
	if sum := crc32.ChecksumIEEE(b[4 : 12+12*n]); sum != binary.LittleEndian.Uint32(b) {
		return nil, fmt.Errorf("%s: the header's CRC is %08x", path, sum)
	}
	offset := func(i int) int {
		if i == n {
			return len(b)
		}
		return int(binary.LittleEndian.Uint64(b[12+4*n+8*i:]))
	}
	if offset(0) != 12+12*n {
		return nil, fmt.Errorf("%s: the first sample is at %d", path, offset(0))
	}
	samples := make([][]byte, n)
	for i := range samples {
		if offset(i+1) < offset(i) || offset(i+1) > len(b) {
			return nil, fmt.Errorf("%s: sample %d ends at %d", path, i, offset(i+1))
		}
		samples[i] = b[offset(i):offset(i+1)]
		if sum := crc32.ChecksumIEEE(samples[i]); sum != binary.LittleEndian.Uint32(b[12+4*i:]) {
			return nil, fmt.Errorf("%s: the CRC of sample %d is %08x", path, i, sum)
		}
	}
	return samples, nil
}

// A dataset is tars drawn at random, and the samples that they hold, in order.
type dataset struct {
	tars    []string
	samples []map[string]any
}

var (
	keyParts = []string{"a", "img", "0001", "x y", "ü", "日本", "A", "-", "__", "'\"", "%s", "\\", "\t", "😀", "=", "~", "train", "PART_00000"}
	suffixes = []string{"jpg", "cls", "json", "seg.png", "", "JPG2", "tar", "ffr", "x y", "é", ".b", "txt", "__key", "1"}
)

// draw draws a dataset: keys of all scripts, directories, empty and large members, tars
// without a sample, and members that belong to none.
func draw(rng *rand.Rand, dir string) (*dataset, error) {
	d := &dataset{}
	word := func() string {
		var b strings.Builder
		for range 1 + rng.IntN(3) {
			b.WriteString(keyParts[rng.IntN(len(keyParts))])
		}
		return b.String()
	}
	parts, empty := 1+rng.IntN(4), rng.IntN(8)
	for p := range parts {
		var members []member
		count := rng.IntN(25)
		if p == empty {
			count = 0
		}
		if p == 0 && count == 0 {
			count = 1 // a dataset without any sample is refused
		}
		for i := range count {
			key := fmt.Sprintf("%s%d", word(), i)
			for range rng.IntN(3) {
				key = word() + "/" + key
			}
			if strings.HasPrefix(key, "__") {
				key = "k" + key // what begins so may be metadata
			}
			sample := map[string]any{"__key__": key}
			for _, s := range rng.Perm(len(suffixes))[:1+rng.IntN(4)] {
				size := []int{0, 1, rng.IntN(100), 512, rng.IntN(5000), 4096, rng.IntN(70_000)}[rng.IntN(7)]
				data := noise(rng, size)
				members = append(members, member{key + "." + suffixes[s], data})
				sample[strings.ToLower(suffixes[s])] = data
			}
			if rng.IntN(10) == 0 {
				members = append(members, member{fmt.Sprintf("%d.x/none", i), []byte("in no sample")})
			}
			d.samples = append(d.samples, sample)
		}
		path := filepath.Join(dir, fmt.Sprintf("%d.tar", p))
		if err := writeTar(path, members); err != nil {
			return nil, err
		}
		d.tars = append(d.tars, path)
	}
	return d, nil
}

// convert converts a dataset and returns the shards' names.
func (d *dataset) convert(out string, flags ...string) ([]string, error) {
	r, err := run(append(append([]string{"tar", "--progress", "none"}, flags...), append(slices.Clone(d.tars), out)...)...)
	if err == nil && r.code != 0 {
		err = errors.New(r.String())
	}
	if err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(out, "*.ffr"))
	slices.Sort(names)
	return names, err
}

// check reads shards back and compares them with what was drawn.
func (d *dataset) check(shards []string) error {
	i := 0
	for _, path := range shards {
		records, err := readShard(path)
		if err != nil {
			return fmt.Errorf("%w: %w", errBad, err)
		}
		for _, rec := range records {
			dec := msgpack.NewDecoder(bytes.NewReader(rec))
			got, err := dec.DecodeMap()
			if err != nil {
				return fmt.Errorf("%w: record %d: %w", errBad, i, err)
			}
			if i == len(d.samples) {
				return fmt.Errorf("%w: more than the %d samples drawn", errBad, i)
			}
			if !reflect.DeepEqual(got, d.samples[i]) {
				return fmt.Errorf("%w: record %d has key %q and fields %q, want %q and %q", errBad, i, got["__key__"], slices.Sorted(maps.Keys(got)), d.samples[i]["__key__"], slices.Sorted(maps.Keys(d.samples[i])))
			}
			i++
		}
	}
	if i != len(d.samples) {
		return fmt.Errorf("%w: %d of %d samples", errBad, i, len(d.samples))
	}
	return nil
}

// TestFaultF2 converts datasets drawn at random and reads them back; and some with one
// worker and with sixteen, which must give the same bytes.
func TestFaultF2(t *testing.T) {
	slow(t)
	t.Parallel()
	n := cases(1000, 24)
	sum := each(t, spread(n, n), func(i int, dir string) error {
		rng := rand.New(rand.NewPCG(uint64(i), 22))
		d, err := draw(rng, dir)
		if err != nil {
			return err
		}
		shards := 1 + rng.IntN(min(6, len(d.samples)))
		names, err := d.convert(filepath.Join(dir, "out"), "--shards", fmt.Sprint(shards), "-j", fmt.Sprint(1+rng.IntN(4)))
		if err == nil && len(names) != shards {
			err = fmt.Errorf("%d shards, want %d", len(names), shards)
		}
		if err == nil {
			err = d.check(names)
		}
		return err
	})
	t.Logf("F2 %v", sum)
	m := cases(20, 3)
	workers := each(t, spread(m, m), func(i int, dir string) error {
		rng := rand.New(rand.NewPCG(uint64(i), 23))
		d, err := draw(rng, dir)
		if err != nil {
			return err
		}
		flags := []string{"--shards", fmt.Sprint(min(len(d.samples), 12))}
		if i%3 == 2 {
			flags = append(flags, "--shuffle", "--seed", fmt.Sprint(i))
		}
		var trees [2]tree
		for j, workers := range []string{"1", "16"} {
			out := filepath.Join(dir, "out"+workers)
			if _, err := d.convert(out, append(flags, "-j", workers)...); err != nil {
				return err
			}
			if trees[j], err = readTree(out); err != nil {
				return err
			}
		}
		return trees[1].differ(trees[0])
	})
	t.Logf("F2 [workers] %v # 1 against 16", workers)
}
