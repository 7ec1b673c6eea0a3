package lookup

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
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

// opened opens a dataset, in which keys are searched by a table.
func opened(t testing.TB, path string) *Dataset {
	t.Helper()
	d, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d.few = 0
	return d
}

// numbers are the samples that have a key.
func numbers(t testing.TB, d *Dataset, key string) []int64 {
	t.Helper()
	var all []int64
	var rows []Row
	for r, err := range d.Find(t.Context(), key) {
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

func TestFind(t *testing.T) {
	t.Parallel()
	const n = 20_000
	dir := made(t, "msgpack", n, 2)
	d := opened(t, dir)
	name := filepath.Join(dir, dataset.KeysName)
	d.few = n
	checkKeys(t, d, 50)
	if _, err := os.Stat(name); err == nil {
		t.Error("a small dataset has a table")
	}
	d.few = 0
	checkKeys(t, d, n)
	sound, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	checkKeys(t, opened(t, dir), n)
	if tmp, err := filepath.Glob(filepath.Join(dir, ".ffconvert/tmp/*")); err != nil || len(tmp) > 0 {
		t.Error(tmp, err)
	}
	for _, at := range []int{0, 8, 45, 50, 57, pageSize + 1, 2*pageSize - 1, 2*pageSize - 6, 7 * pageSize, len(sound) - 1, len(sound) - 20} {
		damaged := bytes.Clone(sound)
		damaged[at] ^= 4
		if err := os.WriteFile(name, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		checkKeys(t, opened(t, dir), n)
	}
	if err := os.WriteFile(name, sound[:len(sound)-100], 0o644); err != nil {
		t.Fatal(err)
	}
	checkKeys(t, opened(t, dir), n)
	if now, err := os.ReadFile(name); err != nil || !bytes.Equal(now, sound) {
		t.Error("a damaged table was not made anew", err)
	}
	index := filepath.Join(dir, "index", "PART_00001.arrow")
	text, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	at := int64(bytes.Index(text, []byte(key(n-5)))) + 9
	flip(t, index, at)
	fault := error(nil)
	for _, err := range opened(t, dir).Find(t.Context(), key(n-5)) {
		fault = err
	}
	if place.KindOf(fault) != place.Corrupt {
		t.Errorf("a damaged key: %v", fault)
	}
	flip(t, index, at)
	one := opened(t, filepath.Join(dir, "PART_00001.ffr"))
	if got, want := numbers(t, one, key(n-3)), int64(n-3)-one.manifest.Shards[0].Samples; !slices.Equal(got, []int64{want}) {
		t.Errorf("sample %v of its shard, want %d", got, want)
	}
}

// A row outlives the batch of its index.
func TestFoundRows(t *testing.T) {
	t.Parallel()
	d := opened(t, made(t, "msgpack", 20_000, 1))
	d.few = d.Len()
	if got := numbers(t, d, key(0)); !slices.Equal(got, []int64{0}) {
		t.Error(got)
	}
}

// A table of another dataset is not used, and one that cannot be written is not needed.
func TestFindWithoutTable(t *testing.T) {
	t.Parallel()
	const n = 300
	other, dir := made(t, "cbor", n-10, 1), made(t, "cbor", n, 1)
	checkKeys(t, opened(t, other), n-10)
	if err := os.Rename(filepath.Join(other, dataset.KeysName), filepath.Join(dir, dataset.KeysName)); err != nil {
		t.Fatal(err)
	}
	checkKeys(t, opened(t, dir), n)
	work := filepath.Join(dir, ".ffconvert")
	if err := os.RemoveAll(work); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(work, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	checkKeys(t, opened(t, dir), n)
	madeIn(t, other, "cbor", n, 1)
	checkKeys(t, opened(t, other), n)
	madeIn(t, other, "cbor", n, 1)
	if _, err := os.Stat(filepath.Join(other, dataset.KeysName)); !errors.Is(err, os.ErrNotExist) {
		t.Error("the table of a dataset that was replaced is there", err)
	}
}

// The table does not depend on how many entries are sorted at once.
func TestPasses(t *testing.T) {
	t.Parallel()
	d := opened(t, made(t, "msgpack", 5000, 2))
	var want []byte
	for _, most := range []int{1 << 20, 4000, 1500} {
		f, err := os.Create(filepath.Join(t.TempDir(), "keys"))
		if err != nil {
			t.Fatal(err)
		}
		b := builder{d: d, ctx: t.Context(), most: most}
		if err := errors.Join(b.write(f), f.Close()); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d at once make another table", most)
		}
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
		err = d.WalkRecords(t.Context(), func(row *Row, data []byte) error {
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
			if data, err := d.Record(row); err != nil || !bytes.Equal(data, want) || ours && row.Key != key(int(i)) {
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
			_, err = d.Record(row)
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
		return d.CheckIndex(row)
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

// Whatever a table says, a sample that is found has the key.
func FuzzTable(f *testing.F) {
	dir := made(f, "msgpack", 700, 2)
	numbers(f, opened(f, dir), "none")
	sound, err := os.ReadFile(filepath.Join(dir, dataset.KeysName))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(0, []byte{})
	f.Add(pageSize+100, []byte{1, 2, 3})
	f.Add(3*pageSize+3, []byte("wrong"))
	f.Add(len(sound)-18, []byte{255, 255})
	d := opened(f, dir)
	f.Fuzz(func(t *testing.T, at int, change []byte) {
		data := bytes.Clone(sound)
		if at < 0 || at > len(data) {
			return
		}
		copy(data[at:], change)
		correct(data)
		name := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		x := &table{file: file}
		if x.load(d.keys) != nil {
			return
		}
		for _, i := range []int{0, 8, 350, 699} {
			d.findIn(t.Context(), x, key(i), 0, func(r *Row) bool {
				if r.Key != key(i) || r.Number < 0 || r.Number >= d.Len() {
					t.Errorf("sample %d has the key %q, not %q", r.Number, r.Key, key(i))
				}
				return true
			})
		}
	})
}

// correct makes the checksums of a table those of its bytes.
func correct(data []byte) {
	put := func(at, from, to int) { binary.LittleEndian.PutUint32(data[at:], crc32.ChecksumIEEE(data[from:to])) }
	put(headSum, 0, headSum)
	for at := pageSize; at < len(data); at += pageSize {
		put(at+pageSize-4, at, at+pageSize-4)
	}
}
