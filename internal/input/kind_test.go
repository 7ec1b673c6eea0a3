package input

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tarOf is a tar of one file.
func tarOf(t testing.TB, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: name, Size: 3, Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// words are kinds as a line: ID, format and flags of each.
func words(found []Kind) string {
	var all []string
	for _, k := range found {
		all = append(all, strings.TrimSpace(fmt.Sprint(k.ID, " ", k.Format, " ", strings.Join(k.Flags, " "))))
	}
	return strings.Join(all, "|")
}

func TestFile(t *testing.T) {
	t.Parallel()
	ffr := "\x10\xea\x54\x31\x03\x00\x00\x00\x00\x00\x00\x00\x86\xa6\x10\x36\x00\x00\x00\x00\xe6\xc9\x41\x3b\x30\x00\x00\x00\x00\x00\x00\x00" + strings.Repeat("\x00", 40)
	for _, row := range []struct{ name, head, want string }{
		{"empty", "", ""},
		{"a", string(tarOf(t, "x.jpg")), "tar tar"},
		{"a.csv", string(tarOf(t, "GIF89a.jpg")), "tar tar"},
		{"a.csv", "a,b\n\xff\xfe,1\n", "csv csv"}, // MessagePack, too, as ASCII is
		{"a", "a,b\n\xff\xfe,1\n", "msgpack cbor --format msgpack|encoded"},
		{"a", "Gr\xfc\xdfe\naus K\xf6ln\n", "encoded"}, // Latin-1
		{"a", "h\xe9llo\nw\xf6rld\n", "msgpack cbor --format msgpack|encoded"},
		{"a", "h\xe9llo, no line break", "msgpack cbor --format msgpack"},
		{"a.mp", "h\xe9llo\nw\xf6rld\n", "msgpack cbor --format msgpack"},
		{"a", "\xe9\n\x01\x02", "cbor cbor|msgpack cbor --format msgpack"},
		{"a", "\x81\xa1x\xa6\xff line\n", "msgpack cbor --format msgpack"},
		{"a", string(tarOf(t, "PAR1")), "tar tar"},
		{"a", ffr, "ffrecord ffr"},
		{"a.tar", "\x69\xdf\x22\x65\x00\x00\x00\x00\x00\x00\x00\x00", "ffrecord ffr"},
		{"a", "\x01\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff", "ffrecord"},
		{"a", "\xff\xd8\xff\xe0\x00\x10JFIF\x00", "image"},
		{"a", "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR", "image"},
		{"a", "PK\x03\x04\x14\x00\x00\x00", "archive"},
		{"a", "PAR1\x15\x04\x15\x00", "parquet parquet"},
		{"a", "\x05\x00\x00\x00\x00\x00\x00\x00\xea\xb2\x04\x3ehello....", "tfrecord tfrecord"},
		{"a", "\x00\x00\x00\x00\x1a\x00\x00\x00{\"column_names\":1}  ", "mds mds"},
		{"a.mds.zstd", "\x00\x00\x00\x00\x1a\x00\x00\x00{\"column_names\":1}", "mds mds"},
		{"a", "\x0e\x00\x00\x00\x00\x00\x00\x00\x0a\x0c\x0a\x04name\x12\x04\x22\x02\x08\x01", "ofrecord ofrecord"},
		{"a", "\x0e\x00\x00\x00\x00\x00\x00\x00\x0a\x0c\x0a\x04na\x00e\x12\x04\x22\x02\x08\x01", "msgpack cbor --format msgpack"},
		{"a.jsonl", "{\"a\":\"\xff\"}\n", "jsonl jsonl"},
		{"a", "ARROW1\x00\x00\xff\xff\xff\xff", "arrow arrow"},
		{"a", "\xff\xff\xff\xff\x88\x03\x00\x00\x10\x00\x00\x00", "arrow arrow"},
		{"a.feather", "FEA1\x00\x00\x00\x00", "feather"},
		{"a", "\x93NUMPY\x01\x00v\x00", "numpy"},
		{"a", "\x89HDF\r\n\x1a\n\x00\x00", "hdf5"},
		{"a", "\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00}", "pickle"},
		{"a", `{"a": [1, 2]}`, "json"},
		{"a", "{\"a\": 1}\n{\"a\": 2}\n", "jsonl jsonl"},
		{"a", "1,2\n3,4\n", "csv csv"},
		{"a", "PAR1,x\n3,4\n", "csv csv"},
		{"a", "a\tb\nx\ty\n", "csv csv --delimiter tab"},
		{"a", "a;b\nx,y;z\n", "csv csv --delimiter ;"},
		{"a", "1.5\n2.5\n", "csv csv"},
		{"a.csv", "a\nb\n", "csv csv"},
		{"d/part-00", "a,b\n", "csv csv"},
		{"a", "some words, and\nothers\n", "text"},
		{"a", "\xa1\x61x\x01\xa1\x61x\x02", "cbor cbor"},
		{"a", "\x81\xa1x\x01\x81\xa1x\x02", "msgpack cbor --format msgpack"},
		{"a", "\x01\x02\x03", "cbor cbor|msgpack cbor --format msgpack"},
		{"a.cbors", "\x01\x02\x03", "cbor cbor"},
		{"a.mp.zst", "\x01\x02\x03", "msgpack cbor --format msgpack"},
		{"a.cbor", "BM\x01\x02\x03\x04\x01", "cbor cbor"}, // or a BMP
		{"a", "\xc1\xff\x00\x1c", ""},
	} {
		if got := words(KindOf(row.name, []byte(row.head), int64(len(row.head)))); got != row.want {
			t.Errorf("%s of %.20q: %s, want %s", row.name, row.head, got, row.want)
		}
	}
}

// What is cut off at the end of the head decides nothing.
func TestFileCut(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ item, want string }{
		{"\xa2\x61x\x19\x01\x00\x61y\x58\x40" + strings.Repeat("b", 64), "cbor cbor"},
		{"\x82\xa1x\xcd\x01\x00\xa1y\xc4\x40" + strings.Repeat("b", 64), "msgpack cbor --format msgpack"},
		{"1,ä€,3\n", "csv csv"},
	} {
		all := []byte(strings.Repeat(row.item, 3*HeadSize/len(row.item)))
		for cut := range len(row.item) {
			if got := words(KindOf("a", all[:HeadSize-cut], int64(len(all)))); got != row.want {
				t.Fatalf("%.10q, %d bytes: %s, want %s", row.item, HeadSize-cut, got, row.want)
			}
		}
	}
}

func TestDirectory(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ files, want, what string }{
		{"", "empty", "an empty directory"},
		{"a.tar b.tar.gz", "tar tar", "a directory of 2 tars"},
		{"part-0 part-1", "csv csv", "a directory of 2 CSV parts"},
		{"a.cbors", "cbor cbor", "a directory of 1 CBOR file"},
		{"t-00000-of-00002 t-00001-of-00002.gz", "tfrecord tfrecord", "a directory of 2 TFRecord files"},
		{"cat/a.jpg dog/b.jpg .hidden", "folder folder", "a folder of 2 classes"},
		{"cat/a.txt", "folder folder", "a folder of 1 class"},
		{"a.jpg b.PNG", "folder folder --flat", "a directory of 2 images without classes"},
		{"a.tar cat/a.jpg", "tar tar|folder folder", "a directory of 1 tar"},
		{"a.csv b.tar", "tar tar|csv csv", "a directory of 1 tar"},
		{"PART_00000.ffr manifest.json index/x", "dataset ffr", "a dataset of 1 FFRecord shard"},
		{"a.ffr b.ffr", "dataset ffr", "a dataset of 2 FFRecord shards"},
		{"state.json data-0.arrow data-1.arrow cache-0.arrow", "arrow arrow", "a dataset of Hugging Face in 2 Arrow files"},
	} {
		dir := t.TempDir()
		for name := range strings.FieldsSeq(row.files) {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := KindOfDirectory(dir)
		if err != nil || words(got) != row.want || got[0].What != row.what {
			t.Errorf("%s: %s, %v, error %v; want %s, %s", row.files, words(got), got, err, row.want, row.what)
		}
	}
	if _, err := KindOfDirectory(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(err) {
		t.Errorf("no directory: %v", err)
	}
}

// FuzzKindOf: no bytes make it panic, and what proves a kind is its alone.
func FuzzKindOf(f *testing.F) {
	f.Add("a.csv", []byte("1,2\n"), false)
	f.Add("a", []byte("\xdf\xff\xff\xff\xff\xa1"), true)
	f.Add("a", append([]byte("\x71\x00\x00\x00\x00\x00\x00\x00\xd0\x7e\xd4\x73"), make([]byte, 200)...), true) // 4 × its number overflows
	f.Add("a", []byte("\x9b\xff\xff\xff\xff\xff\xff\xff\xff"), true)
	f.Fuzz(func(t *testing.T, name string, head []byte, cut bool) {
		size := int64(len(head))
		if cut {
			size += 1000
		}
		for _, size := range []int64{size, -1} {
			for _, k := range KindOf(name, head, size) {
				if k.ID == "" || k.What == "" {
					t.Errorf("%+v", k)
				}
			}
		}
	})
}
