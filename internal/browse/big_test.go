//go:build bench

package browse

import (
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/lookup"
)

// TestBig measures a dataset that the environment names, for row B1 of internal/bench, which reads the figures: seconds by what
// was done, and rows a second of filters.
func TestBig(t *testing.T) {
	dir, figures := os.Getenv("FFCONVERT_BENCH_DATASET"), os.Getenv("FFCONVERT_BENCH_FIGURES")
	if dir == "" {
		t.Fatal("FFCONVERT_BENCH_DATASET names no dataset: make bench ROW=B1 makes one")
	}
	all := make(map[string][]float64)
	took := func(what string, work func() error) {
		began := time.Now()
		if err := work(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		all[what] = append(all[what], time.Since(began).Seconds())
	}
	var d *lookup.Dataset
	took("open", func() (err error) { d, err = lookup.Open(dir, lookup.Options{}); return err })
	meta, err := dataset.ReadMeta(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := newSearcher(d, meta.Classes)
	rnd := rand.New(rand.NewPCG(21, 0))
	page := func(q Query, from int64, most int) error {
		_, err := s.page(t.Context(), q, from, most, 0)
		return err
	}
	took("first page", func() error { return page(Query{}, 0, 60) })
	for range 31 {
		took("page", func() error { return page(Query{}, rnd.Int64N(d.Len()), 60) })
	}
	find := func(key string) error {
		for _, err := range d.Find(t.Context(), key, false) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	for range 31 {
		r, err := d.Row(rnd.Int64N(d.Len()), true)
		if err != nil {
			t.Fatal(err)
		}
		took("key", func() error { return find(r.Key) })
	}
	last, err := d.Row(d.Len()-1, true)
	if err != nil {
		t.Fatal(err)
	}
	class := Query{Where: whereClass(last.Label, "")}
	m, err := dataset.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		for name, q := range map[string]Query{"class": class, "prefix": {Where: "key~^" + last.Key}, "size": {Where: "size>=1GiB"}, "source": {Source: m.Sources[0].Name, Where: "size<=1"}} {
			took(name, func() error { return page(q, 0, int(d.Len())) })
		}
		took("survey", func() error { _, err := countSamples(t.Context(), d, meta.Classes, nil); return err })
	}
	took("keys", func() error { _, err := s.keys(t.Context(), class, io.Discard); return err })
	text, err := json.Marshal(all)
	if err == nil && figures != "" {
		err = os.WriteFile(figures, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", text)
}
