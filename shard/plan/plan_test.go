package plan

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
)

// ordinals lists the samples of a plan in writing order.
func ordinals(p *Plan) []sampleAt {
	var all []sampleAt
	for _, s := range p.Shards {
		for _, r := range s.Runs {
			for i := range r.Count {
				all = append(all, sampleAt{uint32(r.Part), uint32(r.First + i)})
			}
		}
	}
	return all
}

func TestNewPlanKeepsOrder(t *testing.T) {
	t.Parallel()
	src := memsource.New(1, 3, 100, 1000)
	plan := newPlan(t, src, encode.Options{}, Options{Sizes: Sizes{Shards: 7}})
	got := ordinals(plan)
	if len(got) != 300 || !slices.IsSortedFunc(got, func(a, b sampleAt) int {
		return int(a.part)*1000 + int(a.ordinal) - int(b.part)*1000 - int(b.ordinal)
	}) {
		t.Errorf("%d samples, in order %v", len(got), got)
	}
	if samples, _ := plan.Totals(); samples != 300 || len(plan.Shards) != 7 {
		t.Errorf("%d samples in %d shards", samples, len(plan.Shards))
	}
	again := newPlan(t, src, encode.Options{}, Options{Sizes: Sizes{Shards: 7}})
	a, _ := plan.Digest()
	b, _ := again.Digest()
	if a != b {
		t.Error("the same index and options gave another plan")
	}
}

func TestNewPlanShuffles(t *testing.T) {
	t.Parallel()
	src := memsource.New(1, 3, 100, 1000)
	seen := make(map[string]bool)
	for _, seed := range []uint64{0, 1, 2} {
		plan := newPlan(t, src, encode.Options{Fields: "cls", Missing: encode.MissingSkip}, Options{Sizes: Sizes{Shards: 4}, Recipe: Recipe{Shuffle: &Shuffle{seed}}})
		got := ordinals(plan)
		slices.SortFunc(got, func(a, b sampleAt) int {
			return int(a.part)*1000 + int(a.ordinal) - int(b.part)*1000 - int(b.ordinal)
		})
		if len(slices.Compact(got)) != 240 { // a fifth has no cls
			t.Errorf("seed %d: %d different samples, want 240", seed, len(got))
		}
		digest, _ := plan.Digest()
		seen[digest] = true
	}
	if len(seen) != 3 {
		t.Error("two seeds gave one plan")
	}
}

// The order drawn from a seed is part of the format: it must never change.
func TestPermute(t *testing.T) {
	t.Parallel()
	s := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	permute(s, 42)
	if want := []int{6, 2, 5, 3, 4, 7, 0, 1, 9, 8}; !slices.Equal(s, want) {
		t.Errorf("seed 42 gives %v, it has always given %v", s, want)
	}
}

func TestNewPlanRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		src   *memsource.Source
		sizes Sizes
		want  error
	}{
		{"nothing", &memsource.Source{}, Sizes{}, ErrEmpty},
		{"empty parts", &memsource.Source{Data: make([][]converters.Sample, 3)}, Sizes{}, ErrEmpty},
		{"only skipped", &memsource.Source{Data: make([][]converters.Sample, 1), Skips: []converters.Span{{Skip: "directory"}}}, Sizes{}, ErrEmpty},
		{"clash", memsource.New(1, 1, 3, 10), Sizes{Shards: 4}, errSizes},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			spec, _ := encode.Parse(encode.Options{})
			index, err := Index(context.Background(), row.src, IndexOptions{Encodings: OneEncoding(spec), Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := New(index, Options{Sizes: row.sizes}); !errors.Is(err, row.want) {
				t.Errorf("error %v, want %v", err, row.want)
			}
		})
	}
}

func TestIndexNamesTheSample(t *testing.T) {
	t.Parallel()
	spec, _ := encode.Parse(encode.Options{Fields: "cls"})
	_, err := Index(context.Background(), memsource.New(1, 2, 10, 10), IndexOptions{Encodings: OneEncoding(spec), Workers: 2})
	var at *converters.Error
	if !errors.As(err, &at) || !errors.Is(err, encode.ErrMissing) || at.Entry != "0/000004" || at.Where != "part-0" {
		t.Errorf("error %v", err)
	}
	if text := err.Error(); strings.Contains(text, "\n") || !strings.Contains(text, "; samples of 1 other part lack a field, too (") {
		t.Errorf("want one line for both parts, got %q", text)
	}
}

// A sample costs the plan 8 bytes.
func TestIndexMemory(t *testing.T) {
	t.Parallel()
	spec, _ := encode.Parse(encode.Options{})
	index, err := Index(context.Background(), memsource.New(1, 1, 5000, 2), IndexOptions{Encodings: OneEncoding(spec), Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	if held := held(&index[0].places); held > 9*5000 {
		t.Errorf("%d bytes held for 5000 samples", held)
	}
}

func TestPlanFile(t *testing.T) {
	t.Parallel()
	plan := newPlan(t, memsource.New(1, 2, 20, 100), encode.Options{Rename: []string{"a=bin"}}, Options{
		Sizes:  Sizes{Shards: 3},
		Recipe: Recipe{Shuffle: &Shuffle{9}, Source: SourceSpec{Options: map[string]string{"x": "y"}}},
	})
	var file bytes.Buffer
	digest, err := plan.Write(&file)
	if err != nil {
		t.Fatal(err)
	}
	read, err := readText(file.String())
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := read.Digest(); again != digest {
		t.Errorf("digest %s became %s", digest, again)
	}
	for i := range file.Len() {
		if _, err := readText(file.String()[:i]); i < file.Len()-1 && !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut at %d: %v", i, err)
		}
		damaged := bytes.Clone(file.Bytes())
		damaged[i] ^= 1
		if p, err := readText(string(damaged)); !errors.Is(err, ErrDamaged) && i < file.Len()-1 {
			t.Fatalf("bit flipped at %d: %v, %v", i, p, err)
		}
	}
}

// A part that is many files is told from one whose files have other names, and the
// journal from one whose files have other times.
func TestFileTrace(t *testing.T) {
	t.Parallel()
	trace := func(names []string, size int64, at time.Time) Part {
		f := newFileTrace()
		for _, name := range names {
			f.add(&converters.Span{ModTime: at, Shape: &converters.Sample{Key: name, Fields: []converters.Field{{Name: "jpg", Value: converters.Opaque(size)}}}})
		}
		p := Part{Name: "d"}
		f.sum(&p)
		return p
	}
	then := time.Unix(1e9, 0)
	p := trace([]string{"a", "b"}, 7, then)
	if p.Size != 14 || !reflect.DeepEqual(p, trace([]string{"a", "b"}, 7, then)) {
		t.Errorf("two traces of the same files differ, or their size is not 14: %+v", p)
	}
	gap := newFileTrace()
	gap.add(&converters.Span{Off: 5, Shape: &converters.Sample{Key: "a", Fields: []converters.Field{{Name: "jpg", Value: converters.Opaque(7)}}}})
	if gap.sum(&p); p.Size != 12 {
		t.Errorf("7 bytes at offset 5 end at %d", p.Size)
	}
	p = trace([]string{"a", "b"}, 7, then)
	for name, other := range map[string]Part{
		"swapped": trace([]string{"b", "a"}, 7, then),
		"resized": trace([]string{"a", "b"}, 8, then),
		"joined":  trace([]string{"ab"}, 14, then),
	} {
		if other.Names == p.Names {
			t.Errorf("%s: the plan is the same", name)
		}
	}
	if later := trace([]string{"a", "b"}, 7, then.Add(1)); later.Names != p.Names || later.Modified == p.Modified {
		t.Error("files of other times: want the same plan and another journal")
	}
}

// Alike samples are counted as if each had been encoded.
func TestAlike(t *testing.T) {
	t.Parallel()
	spec, err := encode.Parse(encode.Options{Encoding: "raw:row"})
	if err != nil {
		t.Fatal(err)
	}
	src := &memsource.Table{Rows: 1000, Data: []converters.Part{{Name: "rows", Path: "none", Size: 16_000}}}
	index, err := Index(t.Context(), src, IndexOptions{Encodings: OneEncoding(spec), Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	a := index[0].Account
	if a.Entries != 1000 || a.Samples != 1000 || a.Fields != 1000 || a.Keys != 0 || !slices.Equal(a.Seen, FieldCounts{{"row", 1000, 16_000}}) {
		t.Errorf("account %+v", a)
	}
	if off, end := index[0].At(999); index[0].N != 1000 || end != 1000*(16+TableRow) || off != 999*16 {
		t.Errorf("%d samples that cost %d, the last at %d", index[0].N, end, off)
	}
}
