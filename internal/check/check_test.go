package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/cbor"
	"github.com/ffconvert/ffconvert/converters/csv"
	"github.com/ffconvert/ffconvert/converters/folder"
	"github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/encode"
)

// waived is a tar source with everything waived that can be, as the command opens it.
var waived = tar.Options{AllowMissingTrailer: true, Concatenated: true, KeepDuplicates: true}

// Every rule that tars can meet, and beside each a dataset that does not meet it.
func TestTars(t *testing.T) {
	t.Parallel()
	good := tarOf("good.tar", "000.jpg=x", "000.cls=1", "001.jpg=y", "001.cls=2")
	text := func(rec encode.Options) Options { return Options{Encode: rec} }
	for _, row := range []struct {
		name  string
		files []file
		opts  Options
		want  []string
	}{
		{name: "nothing wrong", files: []file{good, tarOf("b.tar", "b/000.jpg=x", "b/000.cls=1")}},

		{"cut", []file{tarOf("a.tar", "k.jpg=x").cut(700), good}, Options{}, []string{
			`error: a.tar: offset 0: "k.jpg": truncated: the file ends in the padding behind the member [truncated]`}},
		{"cut among sound ones", []file{good, tarOf("a.tar", "k.jpg=x", "l.jpg=y").cut(1300), tarOf("c.tar", "c.jpg=x", "c.cls=1")}, Options{}, []string{
			`error: a.tar: offset 1024: truncated: the file ends where a header should be, at 1300 bytes [truncated]`}},
		{"empty file", []file{{"a.tar", nil}, good}, Options{}, []string{
			`error: a.tar: offset 0: truncated: the file is empty [truncated]`}},
		{"damaged header", []file{tarOf("a.tar", "k.jpg=x").flip(3), good}, Options{}, []string{
			`error: a.tar: offset 0: malformed: the header checksum is wrong [malformed]`}},
		{"duplicate suffix", []file{tarOf("a.tar", "k.jpg=x", "k.JPG=y"), good}, Options{}, []string{
			`error: a.tar: offset 1024: "k.JPG": duplicate field "jpg" in sample "k" [duplicate]`}},
		{"same suffix in two samples", []file{tarOf("a.tar", "k.jpg=x", "k.cls=1", "l.jpg=y", "l.cls=1")}, Options{}, nil},
		{"a field of a sample's own name", []file{tarOf("a.tar", "k.__key__=x"), good}, Options{}, []string{
			`error: a.tar: offset 0: "k.__key__": not supported: a field named __key__, which is a sample's own [unsupported]`}},

		{"no trailer", []file{good.cut(-1024)}, Options{}, []string{
			`error: good.tar: offset 4096: missing end of archive (option allow-missing-trailer, if no member is missing) [missing-trailer]`}},
		{"no trailer, accepted", []file{good.cut(-1024)}, Options{Accepted: []string{MissingTrailer}}, []string{
			`note: good.tar: offset 4096: missing end of archive [missing-trailer]`}},
		{"appended", []file{good.and(tarOf("", "002.jpg=x", "002.cls=1"))}, Options{}, []string{
			`error: good.tar: offset 5120: appended archive (option concatenated reads both) [concatenated]`}},
		{"key that came back", []file{tarOf("a.tar", "k.jpg=x", "l.jpg=y", "k.jpg=x")}, Options{}, []string{
			`error: a.tar: offset 2048: "k": key that came back (option on-duplicate-key keep) [duplicate-key]`}},
		{"key that came back, another hint", []file{tarOf("a.tar", "k.jpg=x", "l.jpg=y", "k.jpg=x")}, Options{Hints: map[string]string{DuplicateKey: "sort it"}}, []string{
			`error: a.tar: offset 2048: "k": key that came back (sort it) [duplicate-key]`}},

		{"odd fields", []file{tarOf("a.tar", "k.jpg=x", "l.jpg=x", "l.cls=1", "l.txt=t", "m.png=x", "m.cls=1"), good}, Options{}, []string{
			`warning: a.tar: offset 0: "k": it lacks cls; most samples, 2, have cls, jpg [odd-fields]`,
			`warning: a.tar: offset 1024: "l": it has txt too; most samples, 2, have cls, jpg [odd-fields]`,
			`warning: a.tar: offset 4096: "m": it has png in place of jpg; most samples, 2, have cls, jpg [odd-fields]`}},
		{"odd fields in two parts", []file{good, tarOf("a.tar", "a.jpg=x"), tarOf("b.tar", "b.jpg=x"), tarOf("c.tar", "c.jpg=x", "c.cls=1")}, Options{}, []string{
			`warning: a.tar: offset 0: "a": it lacks cls; most samples, 3, have cls, jpg; 2 times [odd-fields]`}},
		{"the order of fields is not odd", []file{tarOf("a.tar", "k.jpg=x", "k.cls=1", "l.cls=1", "l.jpg=x")}, Options{}, nil},
		{"a field that was asked for", []file{tarOf("a.tar", "k.jpg=x"), good}, text(encode.Options{Fields: "jpg,cls"}), []string{
			`error: a.tar: offset 0: "k": field missing: no cls, the sample has ["jpg"] (option missing skip leaves such samples out) [missing-field]`}},
		{"fields that were not asked for", []file{tarOf("a.tar", "k.jpg=x", "k.txt=t", "l.jpg=x")}, text(encode.Options{Fields: "jpg"}), nil},
		{"left out", []file{tarOf("a.tar", "k.jpg=x"), good}, text(encode.Options{Fields: "cls", Missing: encode.MissingSkip}), []string{
			`note: a.tar: offset 0: "k": left out: it lacks a required field [left-out]`}},
		{"an encoding that it does not fit", []file{tarOf("a.tar", "k.jpg=x", "k.cls=1", "l.jpg=x", "l.cls=1")}, text(encode.Options{Encoding: "raw"}), []string{
			`error: a.tar: offset 0: "k": not supported: raw takes a sample of one field, this has ["jpg" "cls"]; name one with raw:FIELD; 2 times [unsupported]`}},

		{"empty field", []file{tarOf("a.tar", "k.jpg=", "l.jpg=x", "m.jpg="), tarOf("b.tar", "n.jpg=")}, Options{}, []string{
			`warning: a.tar: offset 0: "k": field "jpg" is empty, in 2 parts; 3 times [empty-field]`}},
		{"empty part", []file{tarOf("a.tar"), tarOf("b.tar", "README=x"), good}, Options{}, []string{
			`warning: a.tar: it has no samples [empty-part]`,
			`warning: b.tar: it has no samples [empty-part]`,
			`warning: b.tar: offset 0: "README": skipped: name without key [skipped-file]`}},
		{"no samples at all", []file{tarOf("a.tar"), tarOf("b.tar", "README=x")}, Options{}, []string{
			`error: a.tar: there are no samples to convert [empty-dataset]`,
			`warning: a.tar: it has no samples [empty-part]`,
			`warning: b.tar: it has no samples [empty-part]`,
			`warning: b.tar: offset 0: "README": skipped: name without key [skipped-file]`}},
		{"all samples left out", []file{good}, text(encode.Options{Fields: "png", Missing: encode.MissingSkip}), []string{
			`error: good.tar: there are no samples to convert [empty-dataset]`,
			`note: good.tar: offset 0: "000": left out: it lacks a required field; 2 times [left-out]`}},
		{"passed over", []file{tarOf("a.tar", "d/=", "k.jpg=x", ".DS_Store=x", "l.jpg->k.jpg", "__meta__=x", "e/=")}, Options{}, []string{
			`warning: a.tar: offset 2560: "l.jpg": skipped: symbolic link [skipped-link]`,
			`note: a.tar: offset 0: "d/": skipped: directory; 2 times [skipped]`,
			`note: a.tar: offset 1536: ".DS_Store": skipped: name without key [skipped]`,
			`note: a.tar: offset 3072: "__meta__": skipped: metadata name [skipped]`}},

		{"names of webdataset", []file{tarOf("a.tar", "j.jpg=x", "k.jpg=x", "k.__bad__=x", "k.cls=1", "l.jpg=x", "l.__bad__=", "m.jpg=x", "m.__local_path__=x")}, Options{}, []string{
			`warning: a.tar: offset 5632: "m": field named __local_path__ [reserved-field]`,
			`warning: a.tar: offset 1024: "k": skipped: sample marked __bad__ [reserved-field]`,
			`warning: a.tar: offset 4096: "l": field "__bad__" is empty [empty-field]`,
			`warning: a.tar: offset 4096: "l": it has __bad__ too; most samples, 1, have jpg [odd-fields]`,
			`warning: a.tar: offset 5632: "m": it has __local_path__ too; most samples, 1, have jpg [odd-fields]`}},

		{"one key in two parts", []file{tarOf("a.tar", "k.jpg=x"), tarOf("b.tar", "l.jpg=x", "k.jpg=y")}, Options{}, []string{
			`warning: b.tar: offset 1024: "k": the key is also in a.tar [repeated-key]`}},
		{"one key three times", []file{tarOf("a.tar", "k.jpg=x"), tarOf("b.tar", "k.jpg=x", "l.jpg=y", "k.jpg=x")}, Options{}, []string{
			`error: b.tar: offset 2048: "k": key that came back (option on-duplicate-key keep) [duplicate-key]`,
			`warning: b.tar: offset 0: "k": the key is also in a.tar [repeated-key]`}},
		{"only case", []file{tarOf("a.tar", "k/Ab.jpg=x", "k/aB.jpg=x"), tarOf("b.tar", "K/ab.jpg=x", "k/ac.jpg=x")}, Options{}, []string{
			`warning: a.tar: offset 1024: "k/aB": the key differs only in upper and lower case from "k/Ab" [case-collision]`,
			`warning: b.tar: offset 0: "K/ab": the key differs only in upper and lower case from "k/Ab" in a.tar [case-collision]`}},
		{"only case, beyond ASCII", []file{tarOf("a.tar", "STRASSE-ä.jpg=x", "strasse-Ä.jpg=x", "straße-ä.jpg=x")}, Options{}, []string{
			`warning: a.tar: offset 1024: "strasse-Ä": the key differs only in upper and lower case from "STRASSE-ä" [case-collision]`}},
		{"odd keys", []file{tarOf("a.tar", "../k.jpg=x", "/etc/k.jpg=x", "k\n.jpg=x", " k.jpg=x", "d/.hidden.jpg=x", "a/../../l.jpg=x")}, Options{}, []string{
			`warning: a.tar: offset 0: "../k": the key leads to a directory above, by ..; 2 times [odd-key]`,
			`warning: a.tar: offset 1024: "/etc/k": the key is an absolute path [odd-key]`,
			`warning: a.tar: offset 2048: "k\n": the key has control characters [odd-key]`,
			`warning: a.tar: offset 3072: " k": the key begins or ends with a space [odd-key]`,
			`warning: a.tar: offset 4096: "d/": the key ends in a slash: the files are hidden ones, such as ._a.jpg of macOS [odd-key]`,
			`warning: a.tar: offset 4096: "d/": it has hidden.jpg in place of jpg; most samples, 5, have jpg [odd-fields]`}},
		{"keys that are not odd", []file{tarOf("a.tar", "./k.jpg=x", "a b/c-d_e/0.jpg=x", "grüß/ä.jpg=x", "x..y/k.jpg=x")}, Options{}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := check(t, tar.Open(partsOf(t, row.files...), waived), row.opts)
			compare(t, got, row.want)
		})
	}
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFolders(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		files []string // name=content; name/ is a directory
		opts  folder.Options
		want  []string
	}{
		{"nothing wrong", []string{"a/0.jpg=x", "b/0.jpg=x"}, folder.Options{}, nil},
		{"passed over", []string{"a/0.jpg=x", "a/.DS_Store=x", "b/0.jpg=x", "b/.DS_Store=x", "b/.git/", "labels.txt=x", ".hidden=x"}, folder.Options{}, []string{
			`warning: f/labels.txt: "labels.txt": skipped: file outside a class [skipped-file]`,
			`note: f: ".hidden": skipped: hidden file, in 3 parts; 3 times [skipped]`,
			`note: f/b: "b/.git": skipped: hidden directory [skipped]`}},
		{"not selected", []string{"a/0.jpg=x", "a/0.txt=x"}, folder.Options{Ext: []string{"jpg"}}, []string{
			`note: f/a: "a/0.txt": skipped: extension not selected [skipped]`}},
		{"an empty class", []string{"a/0.jpg=x", "b/"}, folder.Options{}, []string{
			`warning: f/b: it has no samples [empty-part]`}},
		{"a class of hidden files", []string{"a/0.jpg=x", "b/.0.jpg=x"}, folder.Options{}, []string{
			`warning: f/b: it has no samples [empty-part]`,
			`note: f/b: "b/.0.jpg": skipped: hidden file [skipped]`}},
		{"hidden files alone, flat", []string{".a=x", "b/0.jpg=x"}, folder.Options{Flat: true}, []string{
			`note: f: ".a": skipped: hidden file [skipped]`}},
		{"an empty folder, flat", []string{"a/", "b/0.jpg=x"}, folder.Options{Flat: true}, []string{
			`warning: f/a: it has no samples [empty-part]`}},
		{"an empty file", []string{"a/0.jpg=", "b/0.jpg=x"}, folder.Options{}, []string{
			`warning: f/a: "a/0": field "jpg" is empty [empty-field]`}},
		{"one key", []string{"a/0.jpg=x", "a/0.json=x"}, folder.Options{KeepDuplicates: true}, []string{
			`error: f/a: "a/0": key that came back (option on-duplicate-key keep) [duplicate-key]`,
			`warning: f/a: "a/0": it has json in place of jpg; most samples, 1, have cls, jpg [odd-fields]`}},
		{"one sample", []string{"a/0.jpg=x", "a/0.json=x"}, folder.Options{Group: true}, nil},
		{"only case", []string{"a/x.jpg=x", "a/X.jpg=x", "A/x.jpg=x"}, folder.Options{}, []string{
			`warning: f/a: "a/X": the key differs only in upper and lower case from "A/x" in f/A [case-collision]`,
			`warning: f/a: "a/x": the key differs only in upper and lower case from "A/x" in f/A [case-collision]`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			for _, f := range row.files {
				name, data, isFile := strings.Cut(f, "=")
				path := filepath.Join(root, name)
				must(os.MkdirAll(filepath.Dir(path), 0o700))
				if isFile {
					must(os.WriteFile(path, []byte(data), 0o600))
				} else {
					must(os.MkdirAll(path, 0o700))
				}
			}
			src, err := folder.Open(t.Context(), []converters.Part{{Name: "f", Path: root}}, row.opts)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, check(t, src, Options{}), row.want)
		})
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		files []file
		rec   encode.Options
		want  []string
	}{
		{name: "nothing wrong", files: []file{{"part-0", []byte("1,2\n3,4\n")}, {"part-1", []byte("5,6\n")}}},
		{"rows alike that lack a field", []file{{"part-0", []byte("1,2\n3,4\n5,6\n")}}, encode.Options{Fields: "x"}, []string{
			`error: part-0: offset 0: field missing: no x, the sample has ["row"]; 3 times (option missing skip leaves such samples out) [missing-field]`}},
		{"rows alike that are left out", []file{{"part-0", []byte("1,2\n3,4\n5,6\n")}}, encode.Options{Fields: "x", Missing: encode.MissingSkip}, []string{
			`error: part-0: there are no samples to convert [empty-dataset]`,
			`note: part-0: offset 0: left out: it lacks a required field; 3 times [left-out]`}},
		{"empty lines", []file{{"part-0", []byte("1,2\n\n3,4\n\n")}}, encode.Options{}, []string{
			`warning: part-0: offset 4: skipped: empty line; 2 times [empty-line]`}},
		{"a bad value among sound parts", []file{{"part-0", []byte("1,2\n")}, {"part-1", []byte("1,x\n")}, {"part-2", []byte("1,2\n")}}, encode.Options{}, []string{
			`error: part-1: offset 2: "row 1, column c1": malformed: "x" is not float64 (option dtype c1=str) [malformed]`}},
		{"a part without rows", []file{{"part-0", []byte("1,2\n")}, {"part-1", nil}}, encode.Options{}, []string{
			`warning: part-1: it has no samples [empty-part]`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			src, err := csv.Open(partsOf(t, row.files...), csv.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, deep := range []bool{false, true} {
				compare(t, check(t, src, Options{Deep: deep, Encode: row.rec}), row.want)
			}
		})
	}
}

func TestItems(t *testing.T) {
	t.Parallel()
	item := func(key, name, data string) string {
		return "\xa2\x67__key__" + string(rune(0x60+len(key))) + key + string(rune(0x60+len(name))) + name + "\x40" + data
	}
	for _, row := range []struct {
		name string
		data string
		opts cbor.Options
		want []string
	}{
		{"nothing wrong", "\x01\x61x\x80", cbor.Options{Items: true}, nil},
		{"cut", "\x01\x61x\x82\x01", cbor.Options{Items: true}, []string{
			`error: a.cbor: offset 3: "item 2": truncated: byte 1 of the item wants 2 more, the part has 1 [truncated]`}},
		{"reserved head", "\x01\x1f", cbor.Options{Items: true}, []string{
			`error: a.cbor: offset 1: "item 1": malformed: near byte 1 of the item: the byte 0x1f begins no item [malformed]`}},
		{"empty field", item("k", "jpg", ""), cbor.Options{}, []string{
			`warning: a.cbor: offset 0: "k": field "jpg" is empty [empty-field]`}},
		{"empty sample", "\xa1\x67__key__\x61k", cbor.Options{}, []string{
			`warning: a.cbor: offset 0: "k": it has no fields [empty-sample]`}},
		{"one key twice in a part", "\xa2\x67__key__\x61k\x61n\x01\xa2\x67__key__\x61k\x61n\x02", cbor.Options{}, []string{
			`warning: a.cbor: offset 14: "k": the key was in this part before [repeated-key]`}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			src := cbor.Open(partsOf(t, file{"a.cbor", []byte(row.data)}), row.opts)
			compare(t, check(t, src, Options{Encode: encode.Options{Encoding: "cbor"}}), row.want)
		})
	}
}
