package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// resum makes the header CRC good again after damage to the header.
func resum(b []byte) []byte {
	n := int(binary.LittleEndian.Uint64(b[4:]))
	binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[4:12+12*n]))
	return b
}

// damage is what can be done to the three-sample example, and what both Reader and Scanner say.
var damage = []struct {
	name    string
	corrupt func(b []byte) []byte
	opts    Options
	want    error // nil: accepted
	sample  int64
	text    string // part of the message
}{
	{name: "sound", corrupt: func(b []byte) []byte { return b }},
	{name: "nothing", corrupt: func(b []byte) []byte { return nil }, want: ErrTruncated, sample: -1, text: "0 bytes"},
	{name: "11 bytes", corrupt: func(b []byte) []byte { return b[:11] }, want: io.ErrUnexpectedEOF, sample: -1, text: "11 bytes"},
	{name: "head alone", corrupt: func(b []byte) []byte { return b[:12] }, want: ErrTruncated, sample: -1, text: "3 samples cannot fit"},
	{name: "one byte of tables missing", corrupt: func(b []byte) []byte { return b[:47] }, want: ErrTruncated, sample: -1},
	{name: "tables alone", corrupt: func(b []byte) []byte { return b[:48] }, want: ErrTruncated, sample: 1, text: "starts at byte 53 of a file of 48"},
	{name: "last byte missing", corrupt: func(b []byte) []byte { return b[:1052] }, want: ErrChecksum, sample: 2},
	{name: "last sample missing", corrupt: func(b []byte) []byte { return b[:53] }, want: ErrChecksum, sample: 2},
	{name: "a byte more", corrupt: func(b []byte) []byte { return append(b, 'x') }, want: ErrChecksum, sample: 2},
	{name: "poison head", corrupt: func(b []byte) []byte { putHead(b, 1, -1); return b }, want: errUnfinished, sample: -1, text: "unfinished"},
	{name: "zero head", corrupt: func(b []byte) []byte { clear(b[:12]); return b }, want: errUnfinished, sample: -1},
	{name: "twelve zeros", corrupt: func(b []byte) []byte { return make([]byte, 12) }, opts: Options{AllowLegacy: true}, want: errUnfinished, sample: -1},
	{name: "negative count", corrupt: func(b []byte) []byte { b[11] = 0x80; return b }, want: ErrHeader, sample: -1},
	{name: "header checksum", corrupt: func(b []byte) []byte { b[0]++; return b }, want: ErrChecksum, sample: -1, text: "wrong checksum of the header: stored 3154ea11, computed 3154ea10"},
	{name: "no header checksum", corrupt: func(b []byte) []byte { clear(b[:4]); return b }, want: ErrLegacy, sample: -1, text: "written without a header checksum"},
	{name: "legacy", corrupt: func(b []byte) []byte { clear(b[:4]); return b }, opts: Options{AllowLegacy: true}},
	{name: "legacy, bad offset", corrupt: func(b []byte) []byte { clear(b[:4]); b[24]++; return b }, opts: Options{AllowLegacy: true}, want: ErrHeader, sample: 0},
	{name: "legacy, bad sample", corrupt: func(b []byte) []byte { clear(b[:4]); b[1000]++; return b }, opts: Options{AllowLegacy: true}, want: ErrChecksum, sample: 2},
	{name: "no samples, bytes follow", corrupt: func(b []byte) []byte { putHead(b, 0x6522DF69, 0); return b }, want: ErrHeader, sample: -1, text: "1041 bytes follow"},
	{name: "gap before the first", corrupt: func(b []byte) []byte { b[24]++; return resum(b) }, want: ErrHeader, sample: 0, text: "starts at byte 49, not 48"},
	{name: "first in the header", corrupt: func(b []byte) []byte { b[24]--; return resum(b) }, want: ErrHeader, sample: 0},
	{name: "decreasing", corrupt: func(b []byte) []byte { b[40]--; return resum(b) }, want: ErrHeader, sample: 2, text: "before sample 1"},
	{name: "past the end", corrupt: func(b []byte) []byte { b[42]++; return resum(b) }, want: io.ErrUnexpectedEOF, sample: 2},
	{name: "negative offset", corrupt: func(b []byte) []byte { b[39] = 0xff; return resum(b) }, want: ErrHeader, sample: 1},
	{name: "empty sample with a CRC", corrupt: func(b []byte) []byte { b[16]++; return resum(b) }, want: ErrChecksum, sample: 1, text: "over 0 bytes"},
	{name: "first sample", corrupt: func(b []byte) []byte { b[48] ^= 1; return b }, want: ErrChecksum, sample: 0, text: "mem.ffr: sample 0: byte 48: wrong checksum: stored 3610a686"},
	{name: "last sample", corrupt: func(b []byte) []byte { b[1052] ^= 1; return b }, want: ErrChecksum, sample: 2},
	{name: "too many samples", corrupt: func(b []byte) []byte { return b }, opts: Options{MaxSamples: 2}, want: ErrTooLarge, sample: -1, text: "at most 2"},
	{name: "as many as allowed", corrupt: func(b []byte) []byte { return b }, opts: Options{MaxSamples: 3, MaxSample: 1000}},
}

func example(t testing.TB) ([]byte, [][]byte) {
	samples := [][]byte{[]byte("hello"), {}, bytes.Repeat([]byte("x"), 1000)}
	return shardOf(t, samples...), samples
}

func TestDamage(t *testing.T) {
	t.Parallel()
	for _, row := range damage {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			good, samples := example(t)
			b := row.corrupt(good)
			lost, err := readAll(b, samples, row.opts)
			checkVerdict(t, "reader", err, row.want, row.sample, row.text)
			if lost > 0 {
				t.Errorf("%d samples lost", lost)
			}
			for _, block := range []int{1, 3, 12, 13, 50, 4096} {
				_, problems, err := scan(b, block, row.opts)
				checkVerdict(t, "scanner", err, row.want, row.sample, row.text)
				if (err != nil) != (len(problems) > 0) || err != nil && err != error(problems[0]) {
					t.Errorf("block %d: Close says %v, Problem said %v", block, err, problems)
				}
			}
		})
	}
}

func checkVerdict(t *testing.T, who string, err, want error, sample int64, text string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: %v, want %v", who, err, want)
	}
	if want == nil {
		return
	}
	var fe *FormatError
	if !errors.As(err, &fe) || fe.Sample != sample || fe.Path != "mem.ffr" {
		t.Errorf("%s: %#v, want sample %d", who, err, sample)
	}
	if !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %q, want %q", who, err, text)
	}
	if errors.Is(err, ErrCorrupt) == errors.Is(err, ErrTooLarge) {
		t.Errorf("%s: %v: corrupt %v", who, err, errors.Is(err, ErrCorrupt))
	}
}

func TestReaderMaxSample(t *testing.T) {
	t.Parallel()
	b, _ := example(t)
	if _, err := readerOf(b, Options{MaxSample: 999}); !errors.Is(err, ErrTooLarge) || errors.Is(err, ErrCorrupt) {
		t.Errorf("%v", err)
	}
	if _, _, err := scan(b, 100, Options{MaxSample: 999}); err != nil {
		t.Errorf("a scanner holds no sample: %v", err)
	}
}

// A sparse file of 4 TiB that claims one sample costs nothing, nor does one that claims many.
func TestReaderSparse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sparse.ffr")
	for name, n := range map[string]int64{"one sample": 1, "many": 1 << 38} {
		b := make([]byte, 24)
		putHead(b, 5, n)
		if n == 1 {
			binary.LittleEndian.PutUint64(b[16:], 24)
			resum(b)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, 1<<42); err != nil {
			t.Skip("no sparse files here:", err)
		}
		if _, err := checked(Open(path, Options{})); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReaderDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name string, samples ...string) {
		t.Helper()
		var list [][]byte
		for _, s := range samples {
			list = append(list, []byte(s))
		}
		if err := os.WriteFile(filepath.Join(dir, name), shardOf(t, list...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("empty directory: %v", err)
	}
	put("b.ffr", "four", "five")
	put("a.ffr", "two", "three")
	put(".z.ffr", "one")
	put("a10.ffr")
	put("a1.ffr")
	put("c.ffr")
	put("ignored.ffr.tmp", "no")
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got, names []string
	for i := range r.Len() {
		b, err := r.Read(i, nil)
		if err != nil {
			t.Fatal(err)
		}
		k, e, err := r.Extent(i)
		if err != nil || e.Size != int64(len(b)) || e.CRC != crc32.ChecksumIEEE(b) || r.Files()[k].Samples == 0 {
			t.Errorf("extent %d: %d %+v %v", i, k, e, err)
		}
		got = append(got, string(b))
	}
	for _, f := range r.Files() {
		names = append(names, filepath.Base(f.Path))
		info, err := os.Stat(f.Path)
		if err != nil || info.Size() != f.Size {
			t.Errorf("%+v: %v %v", f, info, err)
		}
	}
	if want := "one two three four five"; strings.Join(got, " ") != want {
		t.Errorf("samples %q", got)
	}
	if want := []string{".z.ffr", "a.ffr", "a1.ffr", "a10.ffr", "b.ffr", "c.ffr"}; !slices.Equal(names, want) {
		t.Errorf("files %q", names)
	}
	for _, i := range []int{-1, 5, math.MinInt, math.MaxInt} {
		_, _, err1 := r.Extent(i)
		_, err2 := r.Read(i, nil)
		for _, err := range []error{err1, err2} {
			if !errors.Is(err, errRange) || errors.Is(err, ErrCorrupt) {
				t.Errorf("sample %d: %v", i, err)
			}
		}
	}

	if err := os.Mkdir(filepath.Join(dir, "d.ffr"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "d.ffr: not a regular file") {
		t.Errorf("subdirectory d.ffr: %v", err)
	}
}

// A damaged file in the middle of a directory refuses the directory and leaks no descriptor.
func TestReaderDirectoryDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good, _ := example(t)
	for name, b := range map[string][]byte{"a.ffr": good, "b.ffr": good[:60], "c.ffr": good} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := checked(Open(dir, Options{}))
	var fe *FormatError
	if !errors.As(err, &fe) || fe.Path != filepath.Join(dir, "b.ffr") || !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		for _, d := range open {
			if to, _ := os.Readlink("/proc/self/fd/" + d.Name()); strings.HasPrefix(to, dir) {
				t.Errorf("%s is still open", to)
			}
		}
	}
}

// The file changes after it was opened.
func TestReaderFileChanges(t *testing.T) {
	t.Parallel()
	b, samples := example(t)
	path := onDisk(t, "a.ffr", b)
	r, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	buf := make([]byte, 0, 1000)
	if got, err := r.Read(2, buf); err != nil || !bytes.Equal(got, samples[2]) || &got[0] != &buf[:1][0] {
		t.Errorf("not in the given memory: %v", err)
	}
	b[49]++
	if err := os.WriteFile(path, b[:100], 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Read(0, buf); !errors.Is(err, ErrChecksum) || got != nil {
		t.Errorf("changed: %q %v", got, err)
	}
	if got, err := r.Read(2, buf); !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, ErrCorrupt) || got != nil {
		t.Errorf("cut: %q %v", got, err)
	}
}

// An I/O error is reported as what it is, wherever it strikes, and is not called corruption.
func TestReaderIOError(t *testing.T) {
	t.Parallel()
	b, _ := example(t)
	for at := range int64(len(b)) {
		_, err := readerFrom(&brokenReader{b, at, syscall.EIO}, int64(len(b)), Options{})
		if !errors.Is(err, syscall.EIO) || errors.Is(err, ErrCorrupt) {
			t.Fatalf("at byte %d: %v", at, err)
		}
		_, err = readerFrom(&brokenReader{b, at, io.EOF}, int64(len(b)), Options{})
		if !errors.Is(err, ErrTruncated) {
			t.Fatalf("cut at byte %d: %v", at, err)
		}
	}
}

func TestReaderConcurrent(t *testing.T) {
	t.Parallel()
	var samples [][]byte
	for i := range 200 {
		samples = append(samples, noise(uint64(i), i*13%700))
	}
	r, err := Open(onDisk(t, "a.ffr", shardOf(t, samples...)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			var buf []byte
			for k := range samples {
				i := (k*7 + g) % len(samples)
				got, err := r.Read(i, buf)
				if err != nil || !bytes.Equal(got, samples[i]) {
					t.Errorf("sample %d: %v", i, err)
				}
				buf = got
			}
		})
	}
	wg.Wait()
}
