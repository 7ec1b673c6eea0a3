package dataset_test

import (
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// An index with sizes that are not so, under right CRCs, gives no dataset: samples have those that
// they were planned with, or nothing is finished.
func TestIndexedLies(t *testing.T) {
	t.Parallel()
	src, found, _ := dataset.IndexedFixture(t, 6, 2, 40)
	spec, err := encode.Parse(encode.Options{})
	if err != nil {
		t.Fatal(err)
	}
	enc := plan.Encodings{Specs: []*encode.Spec{spec}}
	index, err := plan.Index(t.Context(), src, plan.IndexOptions{Encodings: enc, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	for name, lie := range map[string]func(i int, cost int64) int64{
		"larger":           func(i int, cost int64) int64 { return cost + int64(i%3) },
		"in another order": func(i int, _ int64) int64 { return index[1].CostOf(39 - i) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			untrue := plan.PartIndex{Part: index[1].Part}
			for i, cost := range index[1].Costs(0, index[1].N) {
				off, _ := index[1].At(i)
				untrue.Add(off, lie(i, cost)-plan.TableRow)
			}
			dir := t.TempDir()
			out, err := dataset.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			x, err := out.Indexed(dataset.IndexedOptions, found)
			if err != nil {
				t.Fatal(err)
			}
			if err := x.Save(plan.Task{}, converters.Description{}, enc, map[int]plan.PartIndex{0: index[0], 1: untrue}); err != nil {
				t.Fatal(err)
			}
			x, err = out.Indexed(dataset.IndexedOptions, found)
			if err != nil || x.Len() != 2 {
				t.Fatal(x.Unused, err)
			}
			all, err := plan.Index(t.Context(), src, plan.IndexOptions{Encodings: enc, Only: []int{0, 1}, Known: x.Get, Workers: 1})
			if err != nil {
				t.Fatal(err)
			}
			opts := plan.Options{Recipe: plan.Recipe{Source: dataset.IndexedOptions.Source, Encode: spec.Options()}, Sizes: plan.Sizes{Shards: 3}}
			plan, err := plan.New(all, opts)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := write.All(t.Context(), write.Local(src), plan, out, write.Options{Workers: 2}); err == nil || shardtest.Has(t, out, dataset.ManifestName) {
				t.Errorf("it was written: %v", err)
			}
		})
	}
}
