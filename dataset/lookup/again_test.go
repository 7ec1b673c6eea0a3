package lookup

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/record"
)

// A damagedLink opens files of the disk as an object store does. What is asked for the first times comes with another byte: a
// range of the header, each 512th byte of a shard.
type damagedLink struct {
	dir   string
	times int

	mu   sync.Mutex
	came map[string]map[int64]int // by path, by the byte
}

// damages reports whether what is at off comes damaged now.
func (l *damagedLink) damages(path string, off int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.came[path] == nil {
		l.came[path] = map[int64]int{}
	}
	l.came[path][off]++
	return l.came[path][off] <= l.times
}

func (l *damagedLink) open(name string) (dataset.File, int64, error) {
	path := filepath.Join(l.dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	if strings.HasSuffix(name, ".arrow") { // was compared
		return memory{bytes.NewReader(data)}, int64(len(data)), nil
	}
	n := int64(binary.LittleEndian.Uint64(data[4:]))
	return &link{memory{bytes.NewReader(data)}, l, path, 12 + 12*n}, int64(len(data)), nil
}

type memory struct{ *bytes.Reader }

func (memory) Close() error { return nil }

// A link is a shard that is read through a damagedLink.
type link struct {
	memory
	l       *damagedLink
	path    string
	payload int64 // where it begins
}

func (f *link) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.memory.ReadAt(p, off)
	if off < f.payload {
		if f.l.damages(f.path, -off) {
			p[n/2] ^= 1
		}
		return n, err
	}
	for at := (off + 511) / 512 * 512; at < off+int64(n); at += 512 {
		if f.l.damages(f.path, at) {
			p[at-off] ^= 1
		}
	}
	return n, err
}

// Each range of a shard that comes damaged is read again, however many there are. What stays damaged is told.
func TestDamagedLink(t *testing.T) {
	t.Parallel()
	dir := made(t, "msgpack", 300, 2)
	here := opened(t, dir)
	want := map[int64][]byte{}
	err := here.WalkRecords(t.Context(), nil, func(r *Row, data []byte) error {
		want[r.Number] = bytes.Clone(data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		read func(d *Dataset, use func(r *Row, data []byte) error) error
	}{
		{"a walk", func(d *Dataset, use func(*Row, []byte) error) error { return d.WalkRecords(t.Context(), nil, use) }},
		{"single samples", func(d *Dataset, use func(*Row, []byte) error) error {
			x := d.Records()
			defer x.Close()
			for n := range d.Len() {
				r, err := d.Row(n*71%d.Len(), n%2 == 0)
				if err != nil {
					return err
				}
				data, err := x.Read(t.Context(), r)
				if err == nil {
					err = use(r, data)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"samples in order", func(d *Dataset, use func(*Row, []byte) error) error {
			x := d.Records()
			defer x.Close()
			for n := range d.Len() {
				r, err := d.Row(n, n%3 > 0)
				if err != nil {
					return err
				}
				data, err := x.Read(t.Context(), r)
				if err == nil {
					err = use(r, data)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"places", func(d *Dataset, use func(*Row, []byte) error) error {
			records := d.Records()
			defer records.Close()
			for n := range d.Len() {
				r, err := d.Row(n, true)
				if err == nil {
					err = records.Locate(t.Context(), r)
				}
				if err != nil {
					return err
				}
				if r.At.Size != int64(len(want[n])) {
					t.Errorf("sample %d has %d bytes of %d", n, r.At.Size, len(want[n]))
				}
				if err := use(r, want[n]); err != nil {
					return err
				}
			}
			return nil
		}},
	} {
		for _, times := range []int{0, 1, rereads + 1} {
			l := &damagedLink{dir: dir, times: times, came: map[string]map[int64]int{}}
			d, err := Open(dir, Options{Open: l.open, URL: "s3://bucket/data"})
			if err != nil {
				t.Fatal(err)
			}
			read := 0
			err = row.read(d, func(r *Row, data []byte) error {
				if read++; !bytes.Equal(data, want[r.Number]) {
					t.Errorf("%s: sample %d is %q, not %q", row.name, r.Number, data, want[r.Number])
				}
				return nil
			})
			if err != nil && !strings.HasPrefix(err.Error(), "s3://bucket/data/PART_0000") {
				t.Errorf("%s: %v", row.name, err)
			}
			switch {
			case times <= 1 && (err != nil || read != len(want)):
				t.Errorf("%s, each range damaged %d times: %d samples, %v", row.name, times, read, err)
			case times > rereads && !isDamage(err):
				t.Errorf("%s, damaged for good: %v", row.name, err)
			}
		}
	}
	d, err := Open(dir, Options{}) // of the disk nothing is read twice
	if err != nil {
		t.Fatal(err)
	}
	flip(t, d.Files()[0].Path, 2)
	if err := d.WalkRecords(t.Context(), nil, func(*Row, []byte) error { return nil }); !errors.Is(err, record.ErrCorrupt) {
		t.Errorf("a damaged file: %v", err)
	}
}

// Records that are read in order take few requests, and no more bytes than what is asked for where they are not.
func TestReadAhead(t *testing.T) {
	t.Parallel()
	all := make([]sample, 3000)
	for i := range all {
		all[i].key = key(i)
	}
	d := madeOf(t, "msgpack", all)
	dir, requests := d.Dir, map[int64]int{}
	d, err := Open(dir, Options{URL: "s3://bucket/data", Open: func(name string) (dataset.File, int64, error) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		return counted{memory{bytes.NewReader(data)}, requests}, int64(len(data)), err
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ step, most int64 }{{1, 120}, {7, 600}} {
		clear(requests)
		x := d.Records()
		for n := int64(0); n < d.Len(); n += row.step {
			r, err := d.Row(n, false)
			if err == nil {
				_, err = x.Read(t.Context(), r)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		x.Close()
		asked, payload := 0, int64(0)
		for size, n := range requests {
			asked += n
			payload += size * int64(n)
		}
		if int64(asked) > row.most || row.step > 1 && payload > 60_000 {
			t.Errorf("each %d. sample: %d requests of %d bytes", row.step, asked, payload)
		}
	}
}

// A counted file counts the reads of each length.
type counted struct {
	memory
	reads map[int64]int
}

func (f counted) ReadAt(p []byte, off int64) (int, error) {
	f.reads[int64(len(p))]++
	return f.memory.ReadAt(p, off)
}
