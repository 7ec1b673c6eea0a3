package convert_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/test/versitygw"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// conversion is one of ten tars of a web server, part-aligned as remote sources are by default.
func conversion(t *testing.T, url, out string) *convert.Conversion {
	t.Helper()
	f, known := format.Named("tar")
	if !known {
		t.Fatal("no tar")
	}
	return &convert.Conversion{
		Reader: f.Reader(), Sources: []string{url + "/shards-{000..009}.tar"}, Out: out,
		Options: convert.Options{
			Sizes: plan.Sizes{Shards: 3},
			Input: stage.Options{Options: input.Options{Remote: store.New(store.Options{}), LookupEnv: func(string) (string, bool) { return "", false }}},
		},
	}
}

// A program can convert a remote dataset by the package alone: at once, or by a plan, tasks and a
// finish, and repair it. Each way makes the same shards.
func TestRemote(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join("..", "testdata"))))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	once, byTasks := filepath.Join(dir, "once"), filepath.Join(dir, "tasks")

	preview, err := conversion(t, server.URL, once).Preview(t.Context())
	if err != nil || preview.Fetch == nil || preview.Fetch.Remote != 10 || len(preview.Plan.Shards) != 3 {
		t.Fatalf("%+v, %v", preview, err)
	}
	done, err := conversion(t, server.URL, once).Write(t.Context())
	if err != nil || done.Shards != 3 || done.Samples != 120 || !done.Verified {
		t.Fatalf("%+v, %v", done, err)
	}
	again, err := conversion(t, server.URL, once).Write(t.Context())
	if err != nil || again.Kept != 3 || !again.Already {
		t.Fatalf("%+v, %v", again, err)
	}

	if _, err := (convert.Conversion{Out: byTasks}).Run(t.Context(), plan.Task{N: 1}); !errors.Is(err, convert.ErrUnplanned) {
		t.Fatalf("without a plan: %v", err)
	}
	planned, err := conversion(t, server.URL, byTasks).Plan(t.Context())
	if err != nil || len(planned.Plan.Shards) != 3 || planned.Same {
		t.Fatalf("%+v, %v", planned, err)
	}
	how := convert.Conversion{Out: byTasks, Options: conversion(t, server.URL, byTasks).Options}
	for k := range 2 {
		if _, err := (convert.Conversion{Out: byTasks}).Finish(t.Context(), 0); !errors.Is(err, dataset.ErrMissing) {
			t.Errorf("finished with shards missing: %v", err)
		}
		if _, err := how.Run(t.Context(), plan.Task{K: k, N: 2}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := (convert.Conversion{Out: byTasks, Options: convert.Options{Verify: true}}).Finish(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	sameShards(t, once, byTasks)

	damaged := filepath.Join(byTasks, "PART_00001.ffr")
	if err := os.Truncate(damaged, 100); err != nil {
		t.Fatal(err)
	}
	told := 0
	repaired, err := how.Repair(t.Context(), func(problems []verify.Problem) error { told = len(problems); return nil })
	if err != nil || !slices.Equal(repaired.Rewritten, []string{"PART_00001.ffr"}) || told == 0 {
		t.Fatalf("%+v, %v, %d problems", repaired, err, told)
	}
	sameShards(t, once, byTasks)
}

// A program can convert from S3 by the package alone: the shards are the same as of local files.
func TestRemoteS3(t *testing.T) {
	t.Parallel()
	server := versitygw.Start(t)
	testdata, dir := filepath.Join("..", "testdata"), t.TempDir()
	names, err := filepath.Glob(filepath.Join(testdata, "shards-00[0-9].tar"))
	if err != nil || len(names) != 10 {
		t.Fatalf("%d tars, %v", len(names), err)
	}
	for _, name := range names {
		server.Put(t, "train", filepath.Base(name), name)
	}
	env := map[string]string{}
	for _, v := range server.Env() {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	local, fetched := conversion(t, testdata, filepath.Join(dir, "local")), conversion(t, "s3://train", filepath.Join(dir, "s3"))
	fetched.Sources = []string{"s3://train/shards-*.tar"}
	fetched.Input.Remote = store.New(store.Options{LookupEnv: func(key string) (string, bool) { v, ok := env[key]; return v, ok }})
	for _, c := range []*convert.Conversion{local, fetched} {
		c.Cut = convert.CutParts
		if done, err := c.Write(t.Context()); err != nil || done.Samples != 120 || !done.Verified {
			t.Fatalf("%+v, %v", done, err)
		}
	}
	sameShards(t, local.Out, fetched.Out)
}

// sameShards asserts that two datasets have three shards that are the same to the byte.
func sameShards(t *testing.T, a, b string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(a, "*.ffr"))
	if err != nil || len(names) != 3 {
		t.Fatalf("%d shards, %v", len(names), err)
	}
	for _, name := range names {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(b, filepath.Base(name)))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s differs: %v", filepath.Base(name), err)
		}
	}
}

// What would help is in the error, and no flag is named.
func TestAdvice(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.FileServer(http.Dir(filepath.Join("..", "testdata"))))
	t.Cleanup(server.Close)
	for _, row := range []struct {
		name   string
		change func(*convert.Conversion)
		want   string
	}{
		{"one shard is larger than the cache", func(c *convert.Conversion) { c.Input.Quota = 60000 }, "(raise option cache-size, or make more shards, by option shards or option shard-size, where it has several parts)"},
		{"all parts are", func(c *convert.Conversion) { c.Input.Quota, c.Cut = 60000, convert.CutSamples }, "(" + convert.MoreRoomForAll + ")"},
		{"shuffled, part-aligned", func(c *convert.Conversion) { c.Shuffle, c.Cut = &plan.Shuffle{Seed: 1}, convert.CutParts }, "(leave option whole-parts out; option exact cuts at samples)"},
	} {
		c := conversion(t, server.URL, filepath.Join(t.TempDir(), "out"))
		row.change(c)
		_, err := c.Write(t.Context())
		if err == nil || !strings.HasSuffix(err.Error(), row.want) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}
