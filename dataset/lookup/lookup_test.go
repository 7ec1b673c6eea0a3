package lookup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// key is the key of sample i: each tenth has the one of the sample before it.
func key(i int) string {
	if i%10 == 9 {
		i--
	}
	return fmt.Sprintf("dir/%06d", i)
}

// made makes a dataset of n small samples and returns its directory.
func made(t testing.TB, encoding string, n, shards int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "out")
	madeIn(t, dir, encoding, n, shards)
	return dir
}

// madeIn replaces what is in a directory.
func madeIn(t testing.TB, dir, encoding string, n, shards int) {
	t.Helper()
	part := make([]converters.Sample, n)
	for i := range part {
		part[i] = converters.Sample{Key: key(i), Fields: []converters.Field{
			{Name: "txt", Value: converters.Bytes(bytes.Repeat([]byte{'a' + byte(i%26)}, i%40))},
			{Name: "cls", Value: converters.Bytes(fmt.Append(nil, i%3))},
		}}
	}
	_, err := shardtest.Convert(t.Context(), &memsource.Source{Data: [][]converters.Sample{part}}, dir, shardtest.ConvertOptions{
		Encode: encode.Options{Encoding: encoding}, Sizes: plan.Sizes{Shards: shards}, Write: write.Options{Overwrite: true},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// opened opens a dataset.
func opened(t testing.TB, path string) *Dataset {
	t.Helper()
	d, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// numbers are the samples that have a key.
func numbers(t testing.TB, d *Dataset, key string) []int64 {
	t.Helper()
	var all []int64
	var rows []Row
	for r, err := range d.Find(t.Context(), key, true) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, *r)
	}
	for _, r := range rows {
		if r.Key != key { // whatever was read after it
			t.Fatalf("sample %d has the key %q, not %q", r.Number, r.Key, key)
		}
		all = append(all, r.Number)
	}
	return all
}

// checkKeys looks some keys up.
func checkKeys(t *testing.T, d *Dataset, n int) {
	t.Helper()
	for i := 0; i < n; i += 1 + n/97 {
		want := []int64{int64(i)}
		if i%10 == 8 {
			want = append(want, int64(i)+1)
		}
		if i%10 == 9 {
			continue
		}
		if got := numbers(t, d, key(i)); !slices.Equal(got, want) {
			t.Fatalf("%s is %v, want %v", key(i), got, want)
		}
	}
	for _, none := range []string{"", "dir", "dir/000009", "x"} {
		if got := numbers(t, d, none); got != nil {
			t.Errorf("%q is %v", none, got)
		}
	}
}

// Keys are found in a dataset and in a shard of it. A damaged index is told of where nothing is found, or if the whole is wanted.
func TestFind(t *testing.T) {
	t.Parallel()
	const n = 20_000
	dir := made(t, "msgpack", n, 2)
	checkKeys(t, opened(t, dir), n)
	one := opened(t, filepath.Join(dir, "PART_00001.ffr"))
	if got, want := numbers(t, one, key(n-3)), int64(n-3)-one.manifest.Shards[0].Samples; !slices.Equal(got, []int64{want}) {
		t.Errorf("sample %v of its shard, want %d", got, want)
	}
	index := filepath.Join(dir, "index", "PART_00001.arrow")
	text, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	flip(t, index, int64(bytes.Index(text, []byte(key(n-5))))+9)
	for _, row := range []struct {
		key         string
		whole       bool
		rows, fault int
	}{
		{key(n - 5), false, 0, 1}, {key(5), false, 1, 0}, {key(5), true, 0, 1},
	} {
		rows, fault := 0, 0
		for _, err := range opened(t, dir).Find(t.Context(), row.key, row.whole) {
			if err == nil {
				rows++
			} else if place.KindOf(err) == place.Corrupt {
				fault++
			}
		}
		if rows != row.rows || fault != row.fault {
			t.Errorf("%s, whole %t: %d samples and %d faults, want %d and %d", row.key, row.whole, rows, fault, row.rows, row.fault)
		}
	}
	if err := os.Truncate(index, 5000); err != nil {
		t.Fatal(err)
	}
	for _, err := range opened(t, dir).Find(t.Context(), key(n-5), false) {
		if place.KindOf(err) != place.Corrupt {
			t.Errorf("an index that was cut: %v", err)
		}
	}
}

// A key that the index alone has is not believed: the record's own, or the checksum of the index, decides.
func TestFoundKey(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"msgpack", "raw:cls"} {
		dir := made(t, encoding, 100, 1)
		index := filepath.Join(dir, "index", "PART_00000.arrow")
		text, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		for _, damaged := range []bool{false, true} {
			if damaged { // sample 7 gets the key of sample 5
				flip(t, index, int64(bytes.Index(text, []byte(key(7)))+len(key(7))-1))
			}
			d, found := opened(t, dir), 0
			for r, err := range d.Find(t.Context(), key(5), false) {
				if err != nil {
					t.Fatal(err)
				}
				_, err = d.Record(t.Context(), r)
				if err != nil && place.KindOf(err) != place.Corrupt {
					t.Error(err)
				}
				if right := err == nil; right != (!damaged || r.Number == 5 && encoding == "msgpack") {
					t.Errorf("%s, damaged %t: sample %d: %v", encoding, damaged, r.Number, err)
				}
				found++
			}
			if damaged != (found == 2) {
				t.Errorf("%s, damaged %t: %d samples", encoding, damaged, found)
			}
		}
	}
}

// A row outlives the batch of its index.
func TestFoundRows(t *testing.T) {
	t.Parallel()
	d := opened(t, made(t, "msgpack", 20_000, 1))
	if got := numbers(t, d, key(0)); !slices.Equal(got, []int64{0}) {
		t.Error(got)
	}
}

// Walk, Row and Record say what package record reads, with and without a manifest.
func TestRecords(t *testing.T) {
	t.Parallel()
	const n = 9000
	dir := made(t, "msgpack", n, 2)
	r, err := record.Open(dir, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, ours := range []bool{true, false} {
		if !ours {
			if err := errors.Join(os.Remove(filepath.Join(dir, "manifest.json")), os.RemoveAll(filepath.Join(dir, ".ffconvert"))); err != nil {
				t.Fatal(err)
			}
		}
		d, err := Open(dir, Options{Encoding: "msgpack"})
		if err != nil {
			t.Fatal(err)
		}
		if keyed, err := d.Keyed(); keyed != ours || err != nil {
			t.Fatal(keyed, err)
		}
		i := 0
		for row, err := range d.Walk(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			_, want, _ := r.Extent(i)
			if row.Number != int64(i) || row.At != want || ours && (row.Key != key(i) || !row.Labeled || row.Label != int64(i%3)) {
				t.Fatalf("sample %d: %+v, want %+v", i, row, want)
			}
			i++
		}
		if i != n {
			t.Fatalf("%d samples", i)
		}
		i = 0
		err = d.WalkRecords(t.Context(), nil, func(row *Row, data []byte) error {
			want, err := r.Read(i, nil)
			if err != nil || !bytes.Equal(data, want) {
				t.Fatalf("sample %d: %q, want %q", i, data, want)
			}
			s, err := d.Decode(row, data)
			if err != nil || s.Key != key(i) || len(s.Fields) != 2 {
				t.Fatal(s, err)
			}
			i++
			return nil
		})
		if err != nil || i != n {
			t.Fatal(i, err)
		}
		for _, i := range []int64{0, 1, 8191, 8192, n - 1} {
			row, err := d.Row(i, true)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := r.Read(int(i), nil)
			if data, err := d.Record(t.Context(), row); err != nil || !bytes.Equal(data, want) || ours && row.Key != key(int(i)) {
				t.Fatalf("sample %d: %v, %+v", i, err, row)
			}
		}
		for _, i := range []int64{-1, n} {
			if _, err := d.Row(i, false); !errors.Is(err, ErrRange) {
				t.Errorf("sample %d: %v", i, err)
			}
		}
	}
}

// A flipped bit of a record, of the header or of an index is told as corruption.
func TestFlips(t *testing.T) {
	t.Parallel()
	dir := made(t, "msgpack", 100, 1)
	part, index := filepath.Join(dir, "PART_00000.ffr"), filepath.Join(dir, "index", "PART_00000.arrow")
	at, err := opened(t, dir).Row(50, true)
	if err != nil {
		t.Fatal(err)
	}
	all := func() error {
		d, err := Open(dir, Options{})
		if err != nil {
			return err
		}
		row, err := d.Row(50, false)
		if err == nil {
			_, err = d.Record(t.Context(), row)
		}
		return err
	}
	walk := func() error {
		for _, err := range opened(t, dir).Walk(t.Context()) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	told := func() error {
		d, err := Open(dir, Options{})
		if err != nil {
			return err
		}
		row, err := d.Row(50, true)
		if err != nil {
			return err
		}
		return d.CheckIndex(t.Context(), row)
	}
	for _, row := range []struct {
		name, file string
		off        int64
		find       func() error
	}{
		{"index of a row", index, -400, told},
		{"record", part, at.At.Off + 3, all},
		{"checksum", part, 12 + 4*50, all},
		{"offset", part, 12 + 4*100 + 8*50, all},
		{"header checksum", part, 0, all},
		{"index", index, -400, walk},
		{"index begin", index, 20, walk},
		{"index end", index, -12, walk},
	} {
		flip(t, row.file, row.off)
		if err := row.find(); place.KindOf(err) != place.Corrupt {
			t.Errorf("%s: %v", row.name, err)
		}
		flip(t, row.file, row.off)
	}
	if err := errors.Join(all(), walk(), told()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(part); err != nil {
		t.Fatal(err)
	}
	if err := all(); place.KindOf(err) != place.Unfinished {
		t.Error(err)
	}
}

func flip(t *testing.T, name string, off int64) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if off < 0 {
		off += int64(len(data))
	}
	data[off] ^= 2
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
