package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"testing"
)

// disk is a file in memory.
type disk struct{ b []byte }

func (d *disk) WriteAt(p []byte, off int64) (int, error) {
	if need := int(off) + len(p); need > len(d.b) {
		d.b = append(d.b, make([]byte, need-len(d.b))...)
	}
	return copy(d.b[off:], p), nil
}

// shardOf is the shard that a Writer makes of samples.
func shardOf(t testing.TB, samples ...[]byte) []byte {
	t.Helper()
	d := &disk{}
	w, err := NewWriter(d, int64(len(samples)))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if _, err := w.Append(s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return d.b
}

func noise(seed uint64, n int) []byte {
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), 1})
	b := make([]byte, n)
	r.Read(b)
	return b
}

// f3Samples are the samples of F3: 0, 7 and 4,097 bytes.
func f3Samples() [][]byte { return [][]byte{{}, []byte("ffshard"), noise(3, 4097)} }

// oracle is a second, naive implementation of the format, written from FFRecord's definition and
// sharing nothing with the code under test: the samples of b, or false.
func oracle(b []byte) ([][]byte, bool) {
	if len(b) < 12 {
		return nil, false
	}
	le := binary.LittleEndian
	n := int64(le.Uint64(b[4:]))
	if n < 0 || n > int64(len(b)-12)/12 || crc32.ChecksumIEEE(b[4:12+12*n]) != le.Uint32(b) {
		return nil, false
	}
	start := 12 + 12*n
	if n == 0 && len(b) != 12 {
		return nil, false
	}
	samples := make([][]byte, n)
	for i := range n {
		off, end := int64(le.Uint64(b[12+4*n+8*i:])), int64(len(b))
		if i+1 < n {
			end = int64(le.Uint64(b[12+4*n+8*i+8:]))
		}
		if i == 0 && off != start || off < start || end < off || end > int64(len(b)) {
			return nil, false
		}
		samples[i] = b[off:end]
		if crc32.ChecksumIEEE(samples[i]) != le.Uint32(b[12+4*i:]) {
			return nil, false
		}
	}
	return samples, true
}

// readerOf opens b as a Reader opens a file, and has its whole header checked.
func readerOf(b []byte, opts Options) (*Reader, error) {
	return readerFrom(bytes.NewReader(b), int64(len(b)), opts)
}

func readerFrom(src io.ReaderAt, size int64, opts Options) (*Reader, error) {
	f, err := newFile(src, FileInfo{Path: "mem.ffr"}, size, opts)
	if err != nil {
		return nil, err
	}
	return checked(&Reader{files: []*file{f}, starts: []int{0, int(f.n)}}, nil)
}

// checked needs a sample of each file, so that the whole header is checked, and closes the Reader if one is damaged.
func checked(r *Reader, err error) (*Reader, error) {
	for k := 0; err == nil && k < len(r.files); k++ {
		if r.files[k].n > 0 {
			_, _, err = r.Extent(r.starts[k])
		}
	}
	if err != nil && r != nil {
		r.Close()
		r = nil
	}
	return r, err
}

// readAll is the verdict of a Reader on b: open, then read all. lost counts samples that were
// returned as sound and are not what was written.
func readAll(b []byte, want [][]byte, opts Options) (lost int, err error) {
	r, err := readerOf(b, opts)
	if err != nil {
		return 0, err
	}
	var buf []byte
	for i := range r.Len() {
		got, rerr := r.Read(i, buf)
		if rerr != nil {
			err = rerr
			continue
		}
		if i >= len(want) || !bytes.Equal(got, want[i]) {
			lost++
		}
		buf = got
	}
	if err == nil && r.Len() < len(want) {
		lost += len(want) - r.Len()
	}
	return lost, err
}

// scan is the verdict of a Scanner on b, given in blocks of the given size.
func scan(b []byte, block int, opts Options) (FileInfo, []*FormatError, error) {
	s := NewScanner("mem.ffr", int64(len(b)), opts)
	var problems []*FormatError
	s.Problem = func(p *FormatError) { problems = append(problems, p) }
	for rest := b; len(rest) > 0; {
		k := min(block, len(rest))
		if _, err := s.Write(rest[:k]); err != nil {
			break
		}
		rest = rest[k:]
	}
	sum, err := s.Close()
	return sum, problems, err
}

// onDisk writes b to a temporary file.
func onDisk(t testing.TB, name string, b []byte) string {
	t.Helper()
	path := t.TempDir() + "/" + name
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// full says whether the long form of the fault table was asked for.
func full() bool { return os.Getenv("FFCONVERT_FAULTS") == "1" }

// faultRow counts what happens to damaged shards and prints one line of FAULTS.md.
type faultRow struct {
	id                      string
	opts                    Options
	cases, undetected, lost int
	err                     error  // an error that is no FormatError or not ErrCorrupt
	more                    string // what else its line says
}

// try judges one damaged shard through both Reader and Scanner.
func (r *faultRow) try(b []byte, want [][]byte) {
	r.cases++
	lost, err := readAll(b, want, r.opts)
	r.lost += lost
	_, problems, serr := scan(b, 1<<20, r.opts)
	if err == nil || serr == nil || len(problems) == 0 {
		r.undetected++
		return
	}
	for _, e := range []error{err, serr} {
		var fe *FormatError
		if !errors.As(e, &fe) || !errors.Is(e, ErrCorrupt) && !errors.Is(e, ErrTooLarge) {
			r.err = e
		}
	}
}

func (r *faultRow) done(t *testing.T, atLeast int) {
	t.Helper()
	t.Logf("%s cases=%d undetected=%d lost=%d%s", r.id, r.cases, r.undetected, r.lost, r.more)
	if r.undetected > 0 || r.lost > 0 {
		t.Errorf("%s: %d undetected, %d lost", r.id, r.undetected, r.lost)
	}
	if r.cases < atLeast {
		t.Errorf("%s: %d cases of %d", r.id, r.cases, atLeast)
	}
	if r.err != nil {
		t.Errorf("%s: not a format error: %v", r.id, r.err)
	}
}

// brokenReader fails with err from byte at on.
type brokenReader struct {
	b   []byte
	at  int64
	err error
}

func (r *brokenReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) <= r.at {
		return copy(p, r.b[off:]), nil
	}
	return int(max(0, r.at-off)), r.err
}

var _ io.ReaderAt = (*brokenReader)(nil)
