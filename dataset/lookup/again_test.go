package lookup

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/record"
)

// A damagedLink opens files of the disk as an object store does. What is asked for the first times comes with another byte: a
// range of the header, each 512th byte of a shard, an index.
type damagedLink struct {
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

func (l *damagedLink) open(path string) (dataset.File, int64, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	if strings.HasSuffix(path, ".arrow") { // fetched whole
		if l.damages(path, 0) {
			data[len(data)/2] ^= 1
		}
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
			l := &damagedLink{times: times, came: map[string]map[int64]int{}}
			d, err := Open(dir, Options{Open: l.open})
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
