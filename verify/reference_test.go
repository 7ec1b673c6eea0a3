package verify

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/record"
)

// The tests named TestReference… carry the names of faults that the reference implementation,
// HFAiLab/ffrecord 1.4.0, is known to have. docs/reliability.md lists them.

// The layout, once more and apart from package record: checksum u32, N i64, CRCs u32, offsets i64.
const headSize, rowSize = 12, 12

// found verifies a directory and returns what is wrong: kind and sample.
func found(t *testing.T, dir string, opts Options) []string {
	t.Helper()
	report, err := Dataset(t.Context(), dir, nil, nil, opts)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range report.Problems {
		got = append(got, fmt.Sprint(p.Kind, " ", p.Sample))
	}
	if (len(got) > 0) != errors.Is(report.Err(), ErrCorrupt) {
		t.Errorf("%q, and the error is %v", got, report.Err())
	}
	return got
}

// eachWay runs a test with each way to read.
func eachWay(t *testing.T, test func(t *testing.T, opts aio.Options)) {
	for _, o := range []aio.Options{{BlockSize: 4096}, {BlockSize: 4096, Backend: aio.Pread}, {}} {
		t.Run(fmt.Sprint(o.Backend, o.BlockSize), func(t *testing.T) {
			t.Parallel()
			test(t, o)
		})
	}
}

// The reference takes a header of zeros for that of an old file of no samples. Here a shard
// whose header was never written would be verified as sound, or as empty.
func TestReferenceZeroedHeaderOpensAsEmptyDataset(t *testing.T) {
	t.Parallel()
	need.Time(t, "the defects of another reader, in full size")
	eachWay(t, func(t *testing.T, o aio.Options) {
		for _, zeros := range []int{headSize, headSize + 20*rowSize, 4096, math.MaxInt} {
			for _, legacy := range []bool{false, true} {
				dir := t.TempDir()
				name := makeShards(t, dir, 2)[1].Name
				edit(t, dir, name, func(b []byte) []byte { clear(b[:min(zeros, len(b))]); return b })
				report, err := Dataset(t.Context(), dir, nil, nil, Options{AIO: o, Record: record.Options{AllowLegacy: legacy}})
				if err != nil || len(report.Problems) != 1 || report.Samples != 20 || !errors.Is(report.Err(), ErrCorrupt) {
					t.Fatalf("%d zeros, legacy %t: %+v, %v", zeros, legacy, report, err)
				}
				if p := report.Problems[0]; p.Shard != name || p.Kind != Header || !strings.Contains(p.Text, "unfinished") {
					t.Errorf("%d zeros, legacy %t: %+v", zeros, legacy, p)
				}
			}
		}
	})
}

// The reference compares CRCs as reads are completed, and reads nothing for an empty sample of a
// batch. Here verifying would not find that the CRC of one was changed.
func TestReferenceEmptySampleCRC(t *testing.T) {
	t.Parallel()
	need.Time(t, "the defects of another reader, in full size")
	eachWay(t, func(t *testing.T, o aio.Options) {
		for i := range 5 {
			dir := t.TempDir()
			f, err := os.Create(filepath.Join(dir, "x.ffr"))
			if err != nil {
				t.Fatal(err)
			}
			w, err := record.NewWriter(f, 5)
			for range 5 {
				w.Append(nil)
			}
			if _, closed := w.Close(); err != nil || closed != nil {
				t.Fatal(err, closed)
			}
			f.Close()
			if got := found(t, dir, Options{AIO: o}); got != nil {
				t.Fatalf("a sound shard of empty samples: %q", got)
			}
			edit(t, dir, "x.ffr", func(b []byte) []byte {
				b[headSize+4*i] ^= 1
				binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:headSize+5*rowSize]))
				return b
			})
			if got := found(t, dir, Options{AIO: o}); !slices.Equal(got, []string{fmt.Sprint("checksum ", i)}) {
				t.Errorf("sample %d: %q", i, got)
			}
		}
	})
}

// The reference takes memory for as many samples as a file claims. Here a file of a tebibyte, of
// which twelve bytes were written, would take memory, or be read to its end. Not parallel: it
// counts all allocations.
func TestReferenceTrustsN(t *testing.T) {
	need.Time(t, "the defects of another reader, in full size")
	dir := t.TempDir()
	path := filepath.Join(dir, "x.ffr")
	for _, n := range []int64{1 << 62, math.MaxInt64, (1<<40 - headSize) / rowSize, record.MaxSamples + 1, -1} {
		for _, size := range []int64{headSize, 1 << 40} {
			head := binary.LittleEndian.AppendUint64([]byte{0, 0, 0, 0}, uint64(n))
			if err := os.WriteFile(path, head, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, size); err != nil {
				need.Missing(t, err) // a file system without sparse files
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			report, err := Files(t.Context(), []Target{{Path: path}}, Options{Record: record.Options{AllowLegacy: true}})
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			want := Header
			if n > 0 && n <= (size-headSize)/rowSize { // the file is large enough for so many
				want = Limit
			}
			if err != nil || len(report.Problems) == 0 || report.Problems[0].Kind != want || report.Bytes > 1<<20 {
				t.Errorf("N = %d, %d bytes: %+v, %v", n, size, report, err)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 || took > 10*time.Second {
				t.Errorf("N = %d, %d bytes: %d bytes were allocated, %v", n, size, got, took)
			}
		}
	}
}

// The reference never closes a file whose header it refuses, nor an AIO context after an error. Here
// verifying damaged shards would leave descriptors, goroutines or contexts. Not parallel: it counts
// those of the process, and the garbage collector, which closes files that nobody has closed, is off.
func TestReferenceDescriptorsLeaked(t *testing.T) {
	need.Time(t, "the defects of another reader, in full size")
	type held struct{ files, goroutines, contexts int }
	measure := func() held {
		fds, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			need.Missing(t, err)
		}
		maps, err := os.ReadFile("/proc/self/maps") // the kernel maps each AIO context into the process
		if err != nil {
			need.Missing(t, err)
		}
		return held{len(fds), runtime.NumGoroutine(), strings.Count(string(maps), "/[aio]")}
	}
	dir := t.TempDir()
	sound := makeShards(t, dir, 1)[0].Name
	var targets []Target
	for i, change := range []func([]byte) []byte{
		func([]byte) []byte { return nil },
		func(b []byte) []byte { return b[:headSize-1] },
		func(b []byte) []byte { clear(b[:headSize]); return b },
		flip(0), flip(headSize), flip(5000),
		func(b []byte) []byte { return b[:len(b)-1] },
	} {
		name := filepath.Join(dir, fmt.Sprint(i))
		b, err := os.ReadFile(filepath.Join(dir, sound))
		if err == nil {
			err = os.WriteFile(name, change(b), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, Target{Path: name})
	}
	targets = append(targets, Target{Path: dir}, Target{Path: filepath.Join(dir, "missing")})
	bad := len(targets)
	for len(targets) < 1000 {
		targets = append(targets, targets[len(targets)%bad])
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	before := measure()
	for _, backend := range []aio.Backend{aio.Auto, aio.Pread} {
		report, err := Files(t.Context(), targets, Options{AIO: aio.Options{Backend: backend, BlockSize: 256 << 10}})
		if err != nil || len(report.Problems) < len(targets) {
			t.Fatalf("%d problems of %d files: %v", len(report.Problems), len(targets), err)
		}
	}
	// Goroutines end a little after they were waited for, and one of an earlier test may have been counted before.
	for wait := 0; ; wait++ {
		now := measure()
		if now.files <= before.files && now.goroutines <= before.goroutines && now.contexts <= before.contexts {
			break
		}
		if wait == 6000 {
			t.Fatalf("%+v, and before %+v", now, before)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
