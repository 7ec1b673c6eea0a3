package golden

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fixtureTime is the time of all files that tests prepare: plans and journals name it.
var fixtureTime = time.Unix(1_700_000_000, 0)

func setTimes(dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.Type()&fs.ModeSymlink != 0 {
			return err
		}
		return os.Chtimes(name, fixtureTime, fixtureTime)
	})
}

// writeFixture makes the files that each case of refusals has:
//
//	a.tar b.tar              12 samples each
//	a.tar.gz a.tar.zst       a.tar, compressed
//	imgs/                    a folder of 3 classes, 24 pictures
//	points/part-0 … part-3   rows of three numbers
//	ofrecords/part-0 part-1  24 OFRecords
//	saved/train/ saved/test/ 24 pictures and labels, as save_to_disk of Hugging Face has them
//	people.csv               a header, names and numbers
//	items.cbors              24 items
//	images.parquet           24 pictures and labels, and one that is a file of imgs
//	a.tfrecord               12 Examples
//	three.ffr                an FFRecord file that nothing else is known of
//	done/                    a finished dataset of a.tar and b.tar, 3 shards
//	table/                   a finished dataset of points, 2 shards
//	planned/                 a plan of a.tar and b.tar, 3 shards, none written
//	half/                    that plan with the first of two tasks done
//	tree/ tree.ffr           a small folder, and that packed
func writeFixture(t *testing.T, dir string) {
	t.Helper()
	data := filepath.Join(root, "testdata")
	for _, f := range []struct{ from, to string }{
		{"shards-000.tar", "a.tar"}, {"shards-001.tar", "b.tar"}, {"tars/shards-000.tgz", "a.tar.gz"}, {"tars/shards-000.tar.zst", "a.tar.zst"},
		{"shapes.cbors", "items.cbors"}, {"tfrecords/shapes-00000-of-00002", "a.tfrecord"}, {"ffrecord/three-samples.ffr", "three.ffr"},
	} {
		text, err := os.ReadFile(filepath.Join(data, f.from))
		if err == nil {
			err = os.MkdirAll(dir, 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, f.to), text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"shapes": "imgs", "points": "points", "ofrecords": "ofrecords", "saved": "saved"} {
		if err := os.CopyFS(filepath.Join(dir, to), os.DirFS(filepath.Join(data, from))); err != nil {
			t.Fatal(err)
		}
	}
	images := parquetOf(t, filepath.Join(dir, "imgs"), "imgs/circle/000.jpg", 1)
	if err := os.WriteFile(filepath.Join(dir, "images.parquet"), images, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"people.csv": "name,age\nada,36\nbob,41\n", "tree/readme": "read me\n", "tree/cats/tom.txt": "meow\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := setTimes(dir); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"tar", "-q", "--shards", "3", "a.tar", "b.tar", "done"},
		{"csv", "-q", "--shards", "2", "points", "table"},
		{"plan", "tar", "-q", "--shards", "3", "a.tar", "b.tar", "planned"},
		{"plan", "tar", "-q", "--shards", "3", "a.tar", "b.tar", "half"},
		{"run", "-q", "--task", "0/2", "half"},
		{"pack", "-q", "tree", "tree.ffr"},
	} {
		succeed(t, dir, args...)
	}
}

// sourcesOf are the sources of the datasets of the fixture: a case with one has the others too.
var sourcesOf = map[string][]string{
	"done": {"a.tar", "b.tar"}, "planned": {"a.tar", "b.tar"}, "half": {"a.tar", "b.tar"}, "table": {"points"},
}

// copyFixture copies the files and directories of the fixture that a text names.
func copyFixture(fixture, dir, text string) error {
	entries, err := os.ReadDir(fixture)
	if err != nil {
		return err
	}
	wanted := make(map[string]bool)
	for _, e := range entries {
		if strings.Contains(text, e.Name()) {
			wanted[e.Name()] = true
			for _, source := range sourcesOf[e.Name()] {
				wanted[source] = true
			}
		}
	}
	for name := range wanted {
		from, to := filepath.Join(fixture, name), filepath.Join(dir, name)
		if st, err := os.Stat(from); err != nil {
			return err
		} else if st.IsDir() {
			if err := os.CopyFS(to, os.DirFS(from)); err != nil {
				return err
			}
			continue
		}
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			return err
		}
	}
	return setTimes(dir)
}
