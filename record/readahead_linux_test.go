package record

import (
	"math/rand/v2"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A shard that the page cache did not have is not read into it by random batches, but for the header.
func TestReadBatchLeavesPageCache(t *testing.T) {
	t.Parallel()
	const count = 100_000
	samples, sample := make([][]byte, count), noise(1, 300)
	for i := range samples {
		samples[i] = sample
	}
	path := onDisk(t, "a.ffr", shardOf(t, samples...))
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cached := func() int64 { // pages
		t.Helper()
		var stat unix.Cachestat_t
		if err := unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{}, &stat, 0); err != nil {
			need.Missing(t, err)
		}
		return int64(stat.Cache)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	if cached() > 0 {
		need.Missing(t, "a file system whose files leave the page cache")
	}
	r := openBatches(t, path, batchOptions[0])
	header := payloadOff(count)/int64(os.Getpagesize()) + 1
	if n := cached(); n > header+4 {
		t.Errorf("after Open %d pages are cached, the header has %d", n, header)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	indices := make([]int, 128)
	for range 100 {
		for k := range indices {
			indices[k] = rng.IntN(count)
		}
		if _, err := r.ReadBatch(t.Context(), indices, nil); err != nil {
			t.Fatal(err)
		}
	}
	s := r.BatchStats()
	if n := cached(); s.Direct && n > header+4 {
		t.Errorf("after 100 batches %d pages are cached, the header has %d", n, header)
	}
	if s.Direct && s.Cached > s.Bytes/10 {
		t.Errorf("of a cold file, %d bytes of %d came from the page cache", s.Cached, s.Bytes)
	}
}
