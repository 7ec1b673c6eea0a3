package convert_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// of is a conversion of sources of a format.
func of(t *testing.T, name, out string, choice choose.Options, sources ...string) *convert.Conversion {
	t.Helper()
	f, known := format.Named(name)
	if !known {
		t.Fatalf("no format %s", name)
	}
	return &convert.Conversion{Reader: f.Reader(), Sources: sources, Out: out, Options: convert.Options{Sizes: plan.Sizes{Shards: 3}, Choice: choice}}
}

// tars are the ten tars of testdata.
func tars() string { return filepath.Join("..", "testdata", "shards-{000..009}.tar") }

// written writes a dataset and returns it as a set of records, which have their keys.
func written(t *testing.T, c *convert.Conversion) map[string]int {
	t.Helper()
	done, err := c.Write(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(c.Out, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	all := make(map[string]int)
	for i := range r.Len() {
		b, err := r.Read(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		all[string(b)]++
	}
	if int64(r.Len()) != done.Samples {
		t.Errorf("%d records, %d samples", r.Len(), done.Samples)
	}
	return all
}

// The sides of a split, merged, are the whole as a set of records; slices that meet are the whole to the byte.
func TestSplitMerge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	whole := of(t, "tar", filepath.Join(dir, "whole"), choose.Options{}, tars())
	want := written(t, whole)
	rng := rand.New(rand.NewPCG(18, 0))
	for i := range 4 {
		out := func(name string) string { return filepath.Join(dir, fmt.Sprint(name, i)) }
		a := 1 + rng.IntN(8)
		split := of(t, "tar", out("sides"), choose.Options{Split: fmt.Sprintf("a=0.%d,b=0.%d,c=0.1", a, 9-a), Seed: rng.Uint64()}, tars())
		sides, err := split.Sides(t.Context())
		if err != nil || len(sides) != 3 {
			t.Fatalf("%d sides, %v", len(sides), err)
		}
		var dirs []string
		n := 0
		for _, s := range sides {
			s.Sizes = plan.Sizes{Shards: 1}
			if _, err := s.Write(t.Context()); errors.Is(err, plan.ErrEmpty) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			dirs = append(dirs, s.Out)
			n++
		}
		merged := written(t, of(t, "ffr", out("merged"), choose.Options{}, dirs...))
		if !maps.Equal(merged, want) {
			t.Errorf("%s of seed %d: %d records, want %d", split.Choice.Split, split.Choice.Seed, len(merged), len(want))
		}
		at := 1 + rng.IntN(118)
		lower, upper := of(t, "tar", out("lower"), choose.Options{Slice: fmt.Sprintf(":%d", at)}, tars()), of(t, "tar", out("upper"), choose.Options{Slice: fmt.Sprintf("%d:", at)}, tars())
		lower.Sizes, upper.Sizes = plan.Sizes{Shards: 1}, plan.Sizes{Shards: 1}
		if len(written(t, lower))+len(written(t, upper)) != len(want) {
			t.Errorf("slices at %d do not meet", at)
		}
		again := of(t, "ffr", out("again"), choose.Options{}, lower.Out, upper.Out)
		if written(t, again); !t.Failed() {
			sameShards(t, whole.Out, again.Out)
		}
	}
}

// stopper ends a conversion when its first shard is finished.
type stopper struct{ stop context.CancelFunc }

func (stopper) Start(string, int64)                             {}
func (stopper) Add(int64, int64)                                {}
func (stopper) Planned(int, int, int64)                         {}
func (stopper) Moved(int64)                                     {}
func (stopper) Begun(string)                                    {}
func (s stopper) Finished(dataset.ManifestShard, float64, bool) { s.stop() }
func samplesOf(choice choose.Options) func(*testing.T, string) *convert.Conversion {
	return func(t *testing.T, out string) *convert.Conversion { return of(t, "tar", out, choice, tars()) }
}

// A conversion that is stopped in the middle goes on, and makes what it would have made.
func TestChoiceResumes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, choice := range []choose.Options{
		{Limit: 70}, {Slice: "3:100:2"}, {Where: "label!=1"}, {Sample: "0.5", Seed: 3}, {Split: "a=0.6,b=0.4", Side: "a"}, {SplitBy: "label", Value: "2"}, {Sort: "size", Where: "jpg.size>0"},
	} {
		once, stopped := filepath.Join(dir, fmt.Sprint("once", i)), filepath.Join(dir, fmt.Sprint("stopped", i))
		make := samplesOf(choice)
		written(t, make(t, once))
		ctx, cancel := context.WithCancel(t.Context())
		c := make(t, stopped)
		c.Workers, c.Progress = 1, stopper{cancel}
		if _, err := c.Write(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("%v: stopped with %v", &choice, err)
		}
		other := make(t, stopped)
		other.Choice.Limit = 7
		if _, err := other.Write(t.Context()); err == nil {
			t.Errorf("%v: goes on with a limit of 7", &choice)
		}
		done, err := make(t, stopped).Write(t.Context())
		if err != nil || done.Kept == 0 || done.Kept == done.Shards {
			t.Fatalf("%v: %d of %d shards kept, %v", &choice, done.Kept, done.Shards, err)
		}
		sameShards(t, once, stopped)
		m, err := dataset.ReadManifest(stopped)
		if err != nil || m.Choice.String() != choice.String() {
			t.Errorf("the manifest has %v, %v", m.Choice, err)
		}
	}
}

// Remote parts are indexed as local ones are, before samples are chosen; tasks fetch what their shards need.
func TestChoiceRemote(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join("..", "testdata"))))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	for i, choice := range []choose.Options{{Slice: "20:80"}, {Where: "label=1", Limit: 20}, {Sort: "key", Sample: "0.5"}} {
		local, remote, tasks := filepath.Join(dir, fmt.Sprint("local", i)), filepath.Join(dir, fmt.Sprint("remote", i)), filepath.Join(dir, fmt.Sprint("tasks", i))
		want := written(t, of(t, "tar", local, choice, tars()))
		c := conversion(t, server.URL, remote)
		c.Choice = choice
		if got := written(t, c); !reflect.DeepEqual(got, want) {
			t.Errorf("%v: %d records, want %d", &choice, len(got), len(want))
		}
		sameShards(t, local, remote)
		c = conversion(t, server.URL, tasks)
		c.Choice = choice
		if _, err := c.Plan(t.Context()); err != nil {
			t.Fatal(err)
		}
		how := convert.Conversion{Out: tasks, Options: conversion(t, server.URL, tasks).Options}
		for k := range 2 {
			if _, err := how.Run(t.Context(), plan.Task{K: k, N: 2}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := (convert.Conversion{Out: tasks, Options: convert.Options{Verify: true}}).Finish(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		sameShards(t, local, tasks)
	}
	split := conversion(t, server.URL, filepath.Join(dir, "split"))
	split.Choice.Split = "a=0.5,b=0.5"
	if _, err := split.Sides(t.Context()); err == nil {
		t.Error("a split fetches its sources twice")
	}
	split.Input.CacheDir = filepath.Join(dir, "cache")
	if sides, err := split.Sides(t.Context()); err != nil || len(sides) != 2 {
		t.Errorf("%d sides, %v", len(sides), err)
	}
	aligned := conversion(t, server.URL, filepath.Join(dir, "aligned"))
	aligned.Choice, aligned.Cut = choose.Options{Limit: 3}, convert.CutParts
	if _, err := aligned.Write(t.Context()); !errors.Is(err, convert.ErrNotAligned) {
		t.Errorf("part-aligned: %v", err)
	}
}

// A limit fetches the parts that have its samples, each once, and no others; so do a repair and the tasks of its plan, which
// hold a part until its shards are written.
func TestLimitFetches(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	fetched := make(map[string]int)
	files := http.FileServer(http.Dir(filepath.Join("..", "testdata")))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.Header.Get("Range") != "bytes=0-0" {
			mu.Lock()
			fetched[strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/shards-00"), ".tar")]++
			mu.Unlock()
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	told := func() string {
		mu.Lock()
		defer mu.Unlock()
		var each []string
		for _, name := range slices.Sorted(maps.Keys(fetched)) {
			each = append(each, fmt.Sprintf("%s:%d", name, fetched[name]))
		}
		clear(fetched)
		return strings.Join(each, " ")
	}
	dir := t.TempDir()
	local, out, tasks := filepath.Join(dir, "local"), filepath.Join(dir, "out"), filepath.Join(dir, "tasks")
	choice := choose.Options{Limit: 30} // twelve of each part
	written(t, of(t, "tar", local, choice, tars()))
	c := conversion(t, server.URL, out)
	c.Choice = choice
	if seen, err := c.Preview(t.Context()); err != nil || !seen.Fetch.Fewer {
		t.Errorf("preview %+v, %v", seen, err)
	}
	told()
	c = conversion(t, server.URL, out)
	c.Choice = choice
	written(t, c)
	if got := told(); got != "0:1 1:1 2:1 3:1" {
		t.Errorf("a conversion fetches %s", got)
	}
	sameShards(t, local, out)
	if err := os.Truncate(filepath.Join(out, "PART_00002.ffr"), 100); err != nil {
		t.Fatal(err)
	}
	how := convert.Conversion{Out: out, Options: conversion(t, server.URL, out).Options}
	if _, err := how.Repair(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if got := told(); got != "0:1 1:1 2:1" {
		t.Errorf("a repair fetches %s", got)
	}
	c = conversion(t, server.URL, tasks)
	c.Choice = choice
	if _, err := c.Plan(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := told(); got != "0:1 1:1 2:1 3:1" {
		t.Errorf("a plan fetches %s", got)
	}
	how.Out = tasks
	if _, err := how.Run(t.Context(), plan.Task{}); err != nil {
		t.Fatal(err)
	}
	if _, err := (convert.Conversion{Out: tasks}).Finish(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	// A shard of a few kB may be written before the next one asks for the part that they share, which is gone by then.
	if got := told(); got != "0:1 1:1 2:1" && got != "0:1 1:2 2:1" {
		t.Errorf("a task fetches %s", got)
	}
	sameShards(t, local, tasks)
	for _, dir := range []string{out, tasks} {
		if left, _ := filepath.Glob(filepath.Join(dir, dataset.WorkDir, "cache", "*")); len(left) > 0 {
			t.Errorf("left in the cache: %v", left)
		}
	}
}
