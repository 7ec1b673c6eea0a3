package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/parquettest"
)

// cleanMain is a filter of scripts, the command ffclean. Of three samples it drops one and answers one with two. The
// field n is made anew.
func cleanMain() {
	sorted, err := cbor.CanonicalEncOptions().EncMode() // a Go map has another order each time
	if err != nil {
		panic(err)
	}
	in, out := cbor.NewDecoder(os.Stdin), sorted.NewEncoder(os.Stdout)
	for {
		var s map[string]any
		if in.Decode(&s) != nil {
			return
		}
		number, err := strconv.Atoi(s["__key__"].(string))
		if err != nil {
			os.Exit(1)
		}
		s["n"] = number % 6
		switch number % 3 {
		case 0:
			out.Encode([]any{})
		case 1:
			out.Encode(s)
		case 2:
			delete(s, "__key__")
			out.Encode([]any{s, s})
		}
	}
}

// Samples of every format pass through a filter unchanged, if it answers each with itself.
func TestFilterFormats(t *testing.T) {
	t.Parallel()
	need.Time(t, "two conversions of each format")
	need.Shell(t)
	dir := need.Files(t, map[string]string{
		"images.parquet": parquettest.TwoImages(), "lines.jsonl": "{\"a\": [1, {\"b\": null}], \"c\": 1.5}\n{\"a\": true, \"d\": \"text\"}\n",
		"more.jsonl": "{\"a\": 7}\n",
	})
	data, err := filepath.Abs(filepath.Join("..", "..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) (all []string) {
		for _, name := range names {
			all = append(all, filepath.Join(data, name))
		}
		return all
	}
	if out := ffconvert(t, dir, "tar", at("shards-000.tar")[0], "old"); out.status != 0 {
		t.Fatal(out)
	}
	sources := map[string][]string{
		"arrow": at("saved/train"), "cbor": at("shapes.cbors"), "csv": at("points"), "ffr": {"old"}, "folder": at("shapes"), "jsonl": {"lines.jsonl", "more.jsonl"},
		"mds": at("mds"), "ofrecord": at("ofrecords"), "parquet": {"images.parquet"}, "tar": at("shards-000.tar", "shards-001.tar"),
		"tfrecord": at("tfrecords/shapes-00000-of-00002", "tfrecords/shapes-00001-of-00002"),
	}
	for _, f := range formats {
		from := sources[f.Name]
		if from == nil {
			t.Errorf("no samples of the format %s pass through a filter here", f.Name)
			continue
		}
		plain, filtered := f.Name+"-plain", f.Name+"-filtered"
		for _, how := range [][]string{{plain}, {filtered, "--filter", "cat"}} {
			args := append(append([]string{f.Name, "--shards=2", "--shuffle", "--encode=msgpack"}, how[1:]...), from...)
			if out := ffconvert(t, dir, append(args, how[0])...); out.status != 0 {
				t.Fatal(out)
			}
		}
		for _, name := range []string{"PART_00000.ffr", "PART_00001.ffr"} {
			want, err := os.ReadFile(filepath.Join(dir, plain, name))
			got, err2 := os.ReadFile(filepath.Join(dir, filtered, name))
			if err != nil || err2 != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %s of the filter differs: %v, %v", f.Name, name, err, err2)
			}
		}
	}
}
