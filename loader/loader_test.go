package loader_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/loader"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

func sizes(l *loader.Loader) (n []int64) {
	for _, f := range l.Files() {
		n = append(n, f.Samples)
	}
	return n
}

// TestModes: an epoch is what package order says, and each sample is the one it is said to be.
func TestModes(t *testing.T) {
	t.Parallel()
	dir := made(t, "raw:bin", 0, 107, 4)
	groups := make([]int64, 107)
	for i := range groups {
		groups[i] = int64(i % 5)
	}
	for _, tt := range []struct {
		name        string
		order       loader.Order
		rank, world int
	}{
		{"global", loader.Order{Batch: 8}, 0, 1},
		{"sequential", loader.Order{Batch: 8, Mode: loader.Sequential, Ends: loader.Short}, 0, 1},
		{"resample", loader.Order{Batch: 16, Mode: loader.Resample}, 1, 2},
		{"window", loader.Order{Batch: 10, Mode: loader.Window(20), Ends: loader.Pad}, 2, 3},
		{"interleave", loader.Order{Batch: 10, Mode: loader.Interleave(3), Ends: loader.Pad}, 2, 3},
		{"group", loader.Order{Batch: 8, Mode: loader.Group, Groups: groups}, 0, 1},
		{"larger than the dataset", loader.Order{Batch: 300, Ends: loader.Pad}, 0, 2},
		{"of no step", loader.Order{Batch: 300}, 0, 2},
		{"more ranks than samples", loader.Order{Batch: 2, Ends: loader.Short}, 3, 64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.order.Seed = 5
			l := opened(t, loader.Options{Order: tt.order, Rank: tt.rank, World: tt.world, Epoch: 3}, dir)
			for number := uint64(3); number < 6; number++ {
				want := ordered(t, sizes(l), tt.order, number, tt.rank, tt.world)
				if got := epoch(t, l); !reflect.DeepEqual(got, want) {
					t.Fatalf("epoch %d: %v, want %v", number, got, want)
				}
				if s := l.State(); s.Position != l.Steps()*tt.order.Batch || s.Epoch != number {
					t.Errorf("the state after the epoch is %+v", s)
				}
				if again := epoch(t, l); again != nil {
					t.Errorf("after its end the epoch has %v", again)
				}
				if err := l.SetEpoch(number + 1); err != nil || l.Epoch() != number+1 {
					t.Fatal(l.Epoch(), err)
				}
			}
		})
	}
}

// TestSeveral: datasets are one, in the order given, and single files and other people's shards are datasets.
func TestSeveral(t *testing.T) {
	t.Parallel()
	a, b, c := made(t, "raw:bin", 0, 30, 2), made(t, "raw:bin", 30, 21, 3), made(t, "raw:bin", 51, 5, 1)
	others := t.TempDir() // without a manifest
	for _, name := range []string{"PART_00000.ffr", "PART_00001.ffr", "PART_00002.ffr"} {
		if err := os.Rename(filepath.Join(b, name), filepath.Join(others, name)); err != nil {
			t.Fatal(err)
		}
	}
	dirs := []string{a, others, filepath.Join(c, "PART_00000.ffr")}
	l := opened(t, loader.Options{Order: loader.Order{Batch: 7}}, dirs...)
	if l.Len() != 56 || l.Steps() != 8 || len(l.Files()) != 6 {
		t.Fatalf("%d samples in %d files, %d steps", l.Len(), len(l.Files()), l.Steps())
	}
	if steps := epoch(t, l); len(steps) != 8 {
		t.Errorf("%d steps", len(steps))
	}
	turned := opened(t, loader.Options{}, dirs[1], dirs[0], dirs[2])
	if turned.State().Dataset == l.State().Dataset {
		t.Error("datasets in another order have the same digest")
	}
}

// TestDigest is that of docs/order.md, for files without a header checksum too.
func TestDigest(t *testing.T) {
	t.Parallel()
	dir := made(t, "raw:bin", 0, 40, 2)
	l := opened(t, loader.Options{}, dir)
	h := sha256.New()
	fmt.Fprintln(h, "ffconvert dataset 1")
	for _, f := range l.Files() {
		fmt.Fprintf(h, "%d %08x %d\n", f.Samples, f.HeaderCRC, f.Size)
	}
	want := fmt.Sprintf("%x", h.Sum(nil))[:32]
	if l.State().Dataset != want {
		t.Errorf("%s, want %s", l.State().Dataset, want)
	}
	legacy := t.TempDir()
	for _, f := range l.Files() {
		data, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		copy(data, "\x00\x00\x00\x00")
		if err := os.WriteFile(filepath.Join(legacy, filepath.Base(f.Path)), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := opened(t, loader.Options{Record: record.Options{AllowLegacy: true}}, legacy).State().Dataset; got != want {
		t.Errorf("without header checksums: %s, want %s", got, want)
	}
}

// TestFields: fields and keys are those of the samples, in every encoding.
func TestFields(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"msgpack", "cbor", "pickle"} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			first, second := made(t, encoding, 0, 60, 2), made(t, "cbor", 60, 40, 1)
			l := opened(t, loader.Options{Fields: []string{"cls", "bin"}, Keys: true}, first, second)
			n := 0
			for b, err := range l.Batches(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				for k, i := range b.Indices {
					cls, bin := b.Field(k, 0).Data(), b.Field(k, 1).Data()
					if string(cls) != fmt.Sprint(i%3) || string(bin) != string(content(i)) || b.Keys[k] != key(i) {
						t.Fatalf("sample %d: key %q, cls %q, bin %.40q", i, b.Keys[k], cls, bin)
					}
					n++
				}
			}
			if n != 96 {
				t.Errorf("%d samples of 96", n)
			}
		})
	}
}

// TestMixed: the records of one dataset may have several encodings, and raw ones that the caller knows.
func TestMixed(t *testing.T) {
	t.Parallel()
	src := &memsource.Source{Data: [][]converters.Sample{part(0, 30), part(30, 30), part(60, 30)}}
	for _, last := range []string{"pickle", "raw:bin"} {
		dir := t.TempDir()
		each := []encode.Options{{Encoding: "msgpack"}, {Encoding: "cbor"}, {Encoding: last, Fields: "bin"}}
		if _, err := shardtest.Write(t, src, shardtest.PlanEach(t, src, []int{0, 1, 2}, plan.Options{Sizes: plan.Sizes{Shards: 4}, Recipe: plan.Recipe{Shuffle: &plan.Shuffle{Seed: 3}}}, each...), dir, write.Options{}); err != nil {
			t.Fatal(err)
		}
		l := opened(t, loader.Options{Fields: []string{"bin"}, Keys: true, Order: loader.Order{Batch: 9}}, dir)
		seen := make(map[string]bool)
		for b, err := range l.Batches(t.Context()) {
			if err != nil {
				t.Fatal(last, err)
			}
			for k := range b.Len() {
				var i int64
				if _, err := fmt.Sscanf(b.Keys[k], "dir/%06d", &i); err != nil || string(b.Field(k, 0).Data()) != string(content(i)) {
					t.Fatalf("%s: key %q has %.40q: %v", last, b.Keys[k], b.Field(k, 0).Data(), err)
				}
				seen[b.Keys[k]] = true
			}
		}
		if len(seen) != 90 {
			t.Errorf("%s: %d samples", last, len(seen))
		}
	}
}

// TestRefused: what cannot be meant is refused, and nothing stays open.
func TestRefused(t *testing.T) {
	t.Parallel()
	dir, plain := made(t, "msgpack", 0, 20, 2), t.TempDir()
	data, err := os.ReadFile(filepath.Join(dir, "PART_00000.ffr"))
	if err := errors.Join(err, os.WriteFile(filepath.Join(plain, "a.ffr"), data, 0o644)); err != nil {
		t.Fatal(err)
	}
	gone := made(t, "raw:bin", 0, 20, 2)
	if err := os.Remove(filepath.Join(gone, "PART_00001.ffr")); err != nil {
		t.Fatal(err)
	}
	swapped := made(t, "raw:bin", 0, 20, 2)
	other, err := os.ReadFile(filepath.Join(swapped, "PART_00001.ffr"))
	if err := errors.Join(err, os.WriteFile(filepath.Join(swapped, "PART_00000.ffr"), other, 0o644)); err != nil {
		t.Fatal(err)
	}
	unfinished := t.TempDir()
	if err := os.Mkdir(filepath.Join(unfinished, dataset.WorkDir), 0o755); err != nil {
		t.Fatal(err)
	}
	eight := loader.Order{Batch: 8}
	for _, tt := range []struct {
		name string
		dirs []string
		opts loader.Options
		is   error
		want string
	}{
		{"nothing", nil, loader.Options{Order: eight}, nil, "no dataset was given"},
		{"no batch", []string{dir}, loader.Options{}, nil, "a batch of 0 samples"},
		{"rank", []string{dir}, loader.Options{Order: eight, Rank: 2, World: 2}, nil, "rank 2 of 2: want 0 to 1"},
		{"world", []string{dir}, loader.Options{Order: eight, World: -1}, nil, "rank 0 of -1"},
		{"epoch", []string{dir}, loader.Options{Order: eight, Epoch: math.MaxUint64}, nil, "epoch 18446744073709551615"},
		{"prefetch", []string{dir}, loader.Options{Order: eight, Prefetch: -1}, nil, "prefetch -1"},
		{"readers", []string{dir}, loader.Options{Order: eight, Readers: -1}, nil, "-1 readers"},
		{"memory", []string{dir}, loader.Options{Order: eight, Memory: -1}, nil, "memory of -1 bytes"},
		{"mode", []string{dir}, loader.Options{Order: loader.Order{Batch: 8, Mode: "x"}}, nil, `mode "x"`},
		{"no directory", []string{filepath.Join(dir, "none")}, loader.Options{Order: eight}, fs.ErrNotExist, "none"},
		{"a shard is missing", []string{gone}, loader.Options{Order: eight}, fs.ErrNotExist, "PART_00001.ffr"},
		{"a shard is another", []string{swapped}, loader.Options{Order: eight}, record.ErrHeader, "PART_00000.ffr"},
		{"unfinished", []string{unfinished}, loader.Options{Order: eight}, dataset.ErrUnfinished, ""},
		{"no keys", []string{plain}, loader.Options{Order: eight, Keys: true}, nil, "its samples have no keys"},
		{"no encoding", []string{plain}, loader.Options{Order: eight, Fields: []string{"cls"}}, nil, "set Options.Encoding"},
		{"bad encoding", []string{plain}, loader.Options{Order: eight, Fields: []string{"cls"}, Encoding: "xml"}, nil, "xml"},
	} {
		l, err := loader.Open(tt.dirs, tt.opts)
		if l != nil || err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	var unknown *decode.UnknownError
	if _, err := loader.Open([]string{plain}, loader.Options{Order: eight, Fields: []string{"cls"}, Encoding: "xml"}); !errors.As(err, &unknown) {
		t.Errorf("an encoding that does not exist: %v", err)
	}
	l := opened(t, loader.Options{Fields: []string{"cls", "clss"}}, dir)
	for b, err := range l.Batches(t.Context()) {
		if b != nil || err == nil || !strings.Contains(err.Error(), `it has no field "clss"; its fields are ["bin" "cls"]`) || !strings.Contains(err.Error(), ".ffr: sample ") {
			t.Fatalf("a field that is missing: %v", err)
		}
	}
}
