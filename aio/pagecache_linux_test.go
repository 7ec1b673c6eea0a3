package aio

import (
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// What a batch takes from the page cache of the system is what was read into it before, no more.
func TestPageCacheLinux(t *testing.T) {
	t.Parallel()
	const size = 64 * pageSize
	path, data := testFile(t, size)
	_, f := openCached(t, path, Options{})
	b := f.buffered.os
	if name := MountType(f.fd); !slices.Contains(onDevice, name) {
		need.Missing(t, "a file system on a device, not "+name)
	}
	if !inCache(b, 0, size) {
		need.Missing(t, "cachestat(2)")
	}
	for _, row := range []struct {
		name  string
		has   []int64 // pages to read into the page cache
		taken []int64 // pages of which ReadBatch takes 300 bytes from there
	}{
		{"nothing", nil, nil},
		{"some", []int64{3, 4, 60}, []int64{3, 4, 60}},
	} {
		evict(t, b)
		for _, p := range row.has {
			if _, err := b.ReadAt(make([]byte, 1), p*pageSize); err != nil {
				t.Fatal(err)
			}
		}
		var taken []int64
		for p := range int64(size / pageSize) {
			r, err := NewReader(Options{})
			if err != nil {
				t.Fatal(err)
			}
			q := []Request{{File: f, Off: p*pageSize + 77, Buf: make([]byte, 300)}}
			if err := r.ReadBatch(t.Context(), q); err != nil || string(q[0].Buf) != string(data[q[0].Off:q[0].end()]) {
				t.Fatalf("page %d: error %v", p, err)
			}
			if r.Stats().Cached > 0 {
				taken = append(taken, p)
			}
			f.answers.Store(0)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		if f.direct() && !slices.Equal(taken, row.taken) {
			t.Errorf("%s: pages %v from the page cache, want %v", row.name, taken, row.taken)
		}
	}
	evict(t, b)
	b.ReadAt(make([]byte, 1), 8*pageSize)
	if inCache(b, 7*pageSize+5, pageSize) || inCache(b, 8*pageSize-1, 2) || !inCache(b, 8*pageSize, pageSize) || inCache(b, 8*pageSize, pageSize+1) || inCache(b, size, 1) {
		t.Error("a range with a page that is not there counts as cached, or one page does not")
	}
}

// evict removes a file from the page cache, and reads of f read nothing ahead.
func evict(t *testing.T, f *os.File) {
	t.Helper()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	for _, advice := range []int{unix.FADV_DONTNEED, unix.FADV_RANDOM} {
		if err := unix.Fadvise(int(f.Fd()), 0, 0, advice); err != nil {
			t.Fatal(err)
		}
	}
}
