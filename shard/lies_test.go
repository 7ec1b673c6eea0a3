package shard

import (
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
)

// An index with sizes that are not so, under right CRCs, gives no dataset: samples have those that
// they were planned with, or nothing is finished.
func TestIndexedLies(t *testing.T) {
	t.Parallel()
	src, found, _ := indexedFixture(t, 6, 2, 40)
	spec, err := encode.Parse(encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	enc := Encodings{Specs: []*encode.Spec{spec}}
	index, err := IndexEach(t.Context(), src, enc, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, lie := range map[string]func(i int, cost int64) int64{
		"larger":           func(i int, cost int64) int64 { return cost + int64(i%3) },
		"in another order": func(i int, _ int64) int64 { return index[1].costOf(39 - i) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			untrue := PartIndex{Part: index[1].Part}
			for i, cost := range index[1].costs(0, index[1].n) {
				off, _ := index[1].at(i)
				untrue.add(off, lie(i, cost)-tableRow)
			}
			dir := t.TempDir()
			out, err := OpenOutput(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			if err := out.SaveIndexed(Task{}, indexedOptions, found, converters.Description{}, enc, []int{0, 1}, []PartIndex{index[0], untrue}); err != nil {
				t.Fatal(err)
			}
			x, err := out.Indexed(indexedOptions, found)
			if err != nil || x.Len() != 2 {
				t.Fatal(x.Unused, err)
			}
			all, err := IndexRest(t.Context(), src, enc, []int{0, 1}, x, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			opts := Options{Source: indexedOptions.Source, Encode: spec.Options(), Sizes: Sizes{Shards: 3}}
			plan, err := NewPlan(all, opts)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Write(t.Context(), src, plan, out, WriteOptions{Workers: 2}); err == nil || has(t, out, ManifestName) {
				t.Errorf("it was written: %v", err)
			}
		})
	}
}
