package golden

import (
	"compress/gzip"
	"crypto/sha256"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

const digestsFile = "testdata/digests.txt"

const digestsHead = `# The SHA-256 of what ffconvert writes: conversion, file, digest. The bytes are the same with 1 and with
# 16 workers. Of manifest.json four members are left out: tool, created, verified_from (what was
# seen of this machine's cache), and sha256 (of the three).
# Written by: go test ./internal/golden -run TestDigests -update
`

// A conversion is a command line without OUT and -j.
type conversion struct {
	name string
	args []string
}

// conversions are every source by every cut, and what else decides bytes.
func conversions() []conversion {
	tars := []string{"--shards", "3", "shards-<000..009>.tar"}
	points := []string{"--shards", "3", "points"}
	items := []string{"--shards", "2", "shapes.cbors", "more.cbors"}
	const exact, whole, shuffled = "exact", "whole", "shuffled"
	sources := []struct {
		name string
		args []string
		cuts []string
	}{
		{"tar", append([]string{"tar"}, tars...), []string{exact, whole, shuffled}},
		{"tar-gz", []string{"tar", "--shards", "2", "tars/shards-000.tgz", "tars/shards-000.tar.zst", "shards-001.tar"}, []string{exact, whole, shuffled}},
		{"tar-decoded", append([]string{"tar", "--encode", "msgpack", "--decode", "--rename", "image=jpg;png", "--fields", "image,cls"}, tars...), []string{exact}},
		{"tar-cbor", append([]string{"tar", "--encode", "cbor", "--decode"}, tars...), []string{exact}},
		{"tar-pickle", append([]string{"tar", "--encode", "pickle"}, tars...), []string{exact}},
		{"tar-raw", append([]string{"tar", "--encode", "raw:jpg", "--missing", "skip"}, tars...), []string{exact, whole}},
		{"tar-arrow", append([]string{"tar", "--encode", "arrow", "--fields", "jpg;png,cls"}, tars...), []string{exact, shuffled}},
		{"tar-dialects", []string{"tar", "tars/gnutar-posix.tar", "tars/gnutar-gnu.tar", "tars/python-pax.tar", "tars/bsdtar-binary.tar"}, []string{exact}},
		{"tar-shard-size", []string{"tar", "--shard-size", "64KiB", "shards-<000..009>.tar"}, []string{exact, whole}},
		{"tar-chosen", append([]string{"tar", "--where", "label!=1 and key~[0-7]$", "--slice", "3:60:2", "--limit", "25", "--missing", "skip", "--fields", "jpg,cls"}, tars...), []string{exact, shuffled}},
		{"tar-sampled", append([]string{"tar", "--sample", "0.4", "--seed", "7", "--sort", "size"}, tars...), []string{exact}},
		{"folder-chosen", []string{"folder", "--shards", "2", "--where", "class!=glyphs", "--limit", "11", "shapes"}, []string{exact}},
		{"csv-chosen", append([]string{"csv", "--slice", "20:150:3"}, points...), []string{exact}},
		{"folder", []string{"folder", "--shards", "3", "shapes"}, []string{exact, shuffled}}, // it has no parts to cut at
		{"folder-flat", []string{"folder", "--flat", "--shards", "3", "shapes"}, []string{exact}},
		{"folder-pixels", []string{"folder", "--tensor", "jpg", "shapes"}, []string{exact}},
		{"folder-resized", []string{"folder", "--tensor", "jpg", "--resize", "48x40", "--encode", "raw:jpg", "shapes"}, []string{exact}},
		{"folder-group", []string{"folder", "--group", "--decode", "--shards", "2", "shapes"}, []string{exact}},
		{"csv", append([]string{"csv"}, points...), []string{exact, whole, shuffled}},
		{"csv-gz", []string{"csv", "--shards", "2", "points/part-0", "part-1.csv.gz", "points/part-2"}, []string{exact, whole}},
		{"csv-msgpack", append([]string{"csv", "--encode", "msgpack", "--columns", "x,y,inside", "--dtype", "x=float64,y=float32,inside=int64"}, points...), []string{exact}},
		{"csv-arrow", append([]string{"csv", "--encode", "arrow", "--rows-per-sample", "7"}, points...), []string{exact, whole, shuffled}},
		{"cbor", append([]string{"cbor"}, items...), []string{exact, whole, shuffled}},
		{"cbor-msgpack", append([]string{"cbor", "--encode", "msgpack"}, items...), []string{exact, whole}},
		{"cbor-arrow", append([]string{"cbor", "--encode", "arrow", "--fields", "image,cls"}, items...), []string{exact}},
		{"parquet", []string{"parquet", "--shards", "2", "shapes.parquet", "more.parquet"}, []string{exact, whole, shuffled}},
		{"parquet-raw", []string{"parquet", "--encode", "raw:image", "--shards", "2", "shapes.parquet", "more.parquet"}, []string{exact}},
		{"msgpack", []string{"cbor", "--format", "msgpack", "--shards", "2", "a.msgpack", "b.msgpack"}, []string{exact, shuffled}},
		{"jsonl", []string{"jsonl", "--shards", "2", "docs.jsonl", "docs.jsonl.gz"}, []string{exact, whole, shuffled}},
		{"jsonl-files", []string{"jsonl", "--shards", "2", "pictures/metadata.jsonl"}, []string{exact, shuffled}},
		{"tfrecord", []string{"tfrecord", "--shards", "2", "tfrecords"}, []string{exact, whole, shuffled}},
		{"tfrecord-raw", []string{"tfrecord", "--shards", "2", "--encode", "raw", "tfrecords/shapes-00000.zlib", "tfrecords/shapes-00001-of-00002"}, []string{exact, whole}},
		{"tfrecord-lists", []string{"tfrecord", "--lists", "all", "--encode", "cbor", "tfrecords"}, []string{exact}},
		{"arrow", []string{"arrow", "--shards", "2", "saved/train"}, []string{exact, whole, shuffled}},
		{"arrow-raw", []string{"arrow", "--encode", "raw:image", "--shards", "2", "saved/train", "saved/test"}, []string{exact, whole}},
		{"mds", []string{"mds", "--shards", "2", "mds"}, []string{exact, whole, shuffled}},
		{"ofrecord", []string{"ofrecord", "--shards", "2", "ofrecords"}, []string{exact, whole, shuffled}},
		{"ofrecord-continued", []string{"ofrecord", "--continued", "--shards", "2", "ofrecords-cut"}, []string{exact}},
		{"spec", []string{"spec", "--shards", "3", "dataset.yaml"}, []string{exact, shuffled}},
		{"spec-files", []string{"spec", "--shards", "3", "files.yaml"}, []string{exact, whole, shuffled}},
	}
	flags := map[string][]string{whole: {"--whole-parts"}, shuffled: {"--shuffle", "--seed", "7"}}
	var all []conversion
	for _, s := range sources {
		for _, cut := range s.cuts {
			all = append(all, conversion{s.name + "/" + cut, slices.Concat(s.args[:1], flags[cut], s.args[1:])})
		}
	}
	return all
}

// Every file that a conversion leaves has the digest that it had, with any number of workers.
func TestDigests(t *testing.T) {
	need.Time(t, "two conversions for each digest")
	t.Parallel()
	dir := filepath.Join(base, "digests")
	writeInputs(t, dir)
	all := conversions()
	got := make([]string, len(all))
	t.Run("each", func(t *testing.T) {
		limit := make(chan bool, 8) // a conversion mostly waits for fsync
		for i, c := range all {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				limit <- true
				defer func() { <-limit }()
				got[i] = convertTwice(t, dir, c)
			})
		}
	})
	if t.Failed() {
		return
	}
	if *update {
		if err := os.WriteFile(digestsFile, []byte(digestsHead+strings.Join(got, "")), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if partial() {
		return
	}
	text, err := os.ReadFile(digestsFile)
	if err != nil {
		t.Fatal(err)
	}
	compareLines(t, strings.Split(string(text), "\n"), strings.Split(digestsHead+strings.Join(got, ""), "\n"))
}

// partial reports whether -run names some of the subtests only.
func partial() bool { return strings.Contains(flag.Lookup("test.run").Value.String(), "/") }

// compareLines tells which lines came and went.
func compareLines(t *testing.T, want, got []string) {
	t.Helper()
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("-%s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("+%s", line)
		}
	}
}

// convertTwice converts with 1 worker and with 16, wants the same of both, and returns the lines
// of the conversion.
func convertTwice(t *testing.T, dir string, c conversion) string {
	t.Helper()
	var lines [2]string
	for i, workers := range []string{"1", "16"} {
		out := filepath.Join("out", strings.ReplaceAll(c.name, "/", "-")+"-"+workers)
		succeed(t, dir, slices.Concat(c.args[:1], []string{"-q", "-j", workers}, c.args[1:], []string{out})...)
		for _, sum := range digests(t, filepath.Join(dir, out)) {
			lines[i] += c.name + " " + sum + "\n"
		}
	}
	if lines[0] != lines[1] {
		compareLines(t, strings.Split(lines[0], "\n"), strings.Split(lines[1], "\n"))
		t.Fatal("1 worker and 16 workers wrote different bytes")
	}
	return lines[0]
}

// ofThisRun are the members of a manifest that tell of the run and not of the dataset.
var ofThisRun = regexp.MustCompile(`(?m)^  "(tool|created|verified_from|sha256)": "[^"]*",?\n`)

// digests returns the name and digest of each file of a dataset, the journal and the lock aside.
func digests(t *testing.T, out string) []string {
	t.Helper()
	var sums []string
	err := filepath.WalkDir(out, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "journal" || d.Name() == "lock" {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if d.Name() == "manifest.json" {
			if n := len(ofThisRun.FindAll(data, -1)); n != 4 {
				return fmt.Errorf("%s has %d members that tell of the run, want 4", name, n)
			}
			data = ofThisRun.ReplaceAll(data, nil)
		}
		rel, err := filepath.Rel(out, name)
		sums = append(sums, fmt.Sprintf("%s %x", filepath.ToSlash(rel), sha256.Sum256(data)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

// writeInputs copies testdata, makes what it does not have, and gives all one time.
func writeInputs(t *testing.T, dir string) {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(os.CopyFS(dir, os.DirFS(filepath.Join(root, "testdata"))))
	write := func(name string, data []byte) { check(os.WriteFile(filepath.Join(dir, name), data, 0o644)) }
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		check(err)
		return data
	}
	write("more.cbors", read("shapes.cbors"))
	write("part-1.csv.gz", gzipped(t, read("points/part-1")))
	write("a.msgpack", messages(t, 0, 9))
	write("b.msgpack", messages(t, 9, 16))
	write("docs.jsonl", []byte(docsJSONL))
	write("docs.jsonl.gz", gzipped(t, []byte(docsJSONL)))
	check(os.CopyFS(filepath.Join(dir, "pictures"), os.DirFS(filepath.Join(dir, "shapes"))))
	write("pictures/metadata.jsonl", pictureLines(t, filepath.Join(dir, "pictures")))
	write("shapes.parquet", parquetOf(t, filepath.Join(dir, "shapes"), "shapes/circle/000.jpg", 1))
	write("more.parquet", parquetOf(t, filepath.Join(dir, "shapes"), "", 0))
	write("dataset.yaml", []byte(datasetYAML))
	write("files.yaml", []byte(filesYAML))
	check(setTimes(dir))
}

func gzipped(t *testing.T, data []byte) []byte {
	t.Helper()
	var b strings.Builder
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return []byte(b.String())
}

// docsJSONL has a value of every kind, and an empty line.
const docsJSONL = `{"__key__": "a", "text": "gr\u00fc\u00df \ud83d\ude00", "n": 7, "x": 0.5}
{"__key__": "b", "list": [1, 2.0, null, true, {"y": "z"}], "bytes": {"$bytes": "/9j/"}}

{"large": 18446744073709551615, "small": -9223372036854775808}
{}
`

// pictureLines are lines of a metadata.jsonl about half of the pictures of a folder.
func pictureLines(t *testing.T, dir string) []byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i, name := range names {
		if below, err := filepath.Rel(dir, name); err != nil {
			t.Fatal(err)
		} else if i%2 == 0 {
			fmt.Fprintf(&b, "{\"file_name\": %q, \"caption\": \"picture %d\"}\n", filepath.ToSlash(below), i)
		}
	}
	return []byte(b.String())
}

// messages is a stream of MessagePack maps that hold what samples hold.
func messages(t *testing.T, from, to int) []byte {
	t.Helper()
	var b strings.Builder
	enc := msgpack.NewEncoder(&b)
	enc.SetSortMapKeys(true)
	for i := from; i < to; i++ {
		sample := map[string]any{
			"__key__": fmt.Sprintf("%03d", i), "cls": i % 3, "image": []byte(strings.Repeat("x", 100*i)),
			"score": float64(i) / 7, "tags": []string{"a", "grüß"}, "box": map[string]any{"h": -i, "w": 1 << i},
		}
		if err := enc.Encode(sample); err != nil {
			t.Fatal(err)
		}
	}
	return []byte(b.String())
}

const datasetYAML = `seed: 7
dataset:
  - name: photos
    shards: shards-{000..003}.tar
    rename: {image: jpg;png}
    fields: image,cls
  - name: more photos
    shards: shards-{004..009}.tar
    fraction: 0.33
    rename: {image: jpg;png}
    fields: image,cls
  - name: shapes
    format: folder
    shards: shapes
    repeat: 1.5
    rename: {image: jpg}
  - name: points
    format: csv
    shards: points
    options: {dtype: float32, columns: [x, y, z]}
`

const filesYAML = `dataset:
  - shards: [shards-000.tar, tars/shards-000.tgz]
    repeat: 2
  - format: cbor
    shards: shapes.cbors
  - format: csv
    shards: points
    fraction: 0.5
`
