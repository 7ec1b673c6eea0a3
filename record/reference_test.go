package record

import (
	"bytes"
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
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// The tests named TestReference… carry the names of faults that the reference implementation,
// HFAiLab/ffrecord 1.4.0, is known to have: one test a fault and package. docs/reliability.md lists them.

// referenceOpens is what the reference's reader makes of the header of a file: it throws where N is
// negative or huge, takes anything where the checksum is 0, and compares the checksum otherwise. What it
// reads past the end of the file stays zero.
func referenceOpens(b []byte) bool {
	if len(b) < headSize {
		return false // it goes on with what was in memory: nothing can be said
	}
	sum, n := parseHead(b)
	switch {
	case n < 0, n > 1<<30: // more than memory has room for
		return false
	case sum == 0:
		return true
	}
	crc := crc32.ChecksumIEEE(b[coverOff:headSize])
	zeros := make([]byte, 4096)
	for pos, end := int64(headSize), payloadOff(n); pos < end; {
		p := zeros[:min(end-pos, int64(len(zeros)))]
		if pos < int64(len(b)) {
			p = b[pos:min(end, int64(len(b)))]
		}
		crc = crc32.Update(crc, crc32.IEEETable, p)
		pos += int64(len(p))
	}
	return crc == sum
}

// refuses fails the test unless a Reader and a Scanner refuse a file, legacy files being accepted or
// not, as want and at that sample.
func refuses(t *testing.T, name string, b []byte, want error, sample int64) {
	t.Helper()
	path := onDisk(t, "x.ffr", b)
	for _, opts := range []Options{{}, {AllowLegacy: true}} {
		r, err := checked(Open(path, opts))
		if err == nil {
			t.Errorf("%s: opened with %d samples, %+v", name, r.Len(), opts)
			r.Close()
			continue
		}
		_, _, scanned := scan(b, 512, opts)
		for _, err := range []error{err, scanned} {
			var bad *FormatError
			if !errors.Is(err, want) || !errors.As(err, &bad) || bad.Sample != sample {
				t.Errorf("%s: %v, want %v of sample %d", name, err, want, sample)
			}
		}
	}
}

// The reference leaves room for the header and writes it at the end. A writer that is killed leaves
// zeros there, which its reader takes for a file of an old version without a checksum, of no
// samples: a training run ends well that has seen nothing. Here such a file would open.
func TestReferenceZeroedHeaderOpensAsEmptyDataset(t *testing.T) {
	t.Parallel()
	whole := shardOf(t, f3Samples()...)
	zeroed := func(n int) []byte { b := slices.Clone(whole); clear(b[:n]); return b }
	for _, row := range []struct {
		name string
		b    []byte
	}{
		{"nothing but a head", make([]byte, headSize)},
		{"room for the header", make([]byte, payloadOff(3))},
		{"the head", zeroed(headSize)},
		{"the header, the payload being there", zeroed(int(payloadOff(3)))},
		{"a sector", zeroed(512)},
		{"a page", zeroed(4096)},
		{"all of it", zeroed(len(whole))},
	} {
		if !referenceOpens(row.b) {
			t.Errorf("%s: the reference refuses it too", row.name)
		}
		refuses(t, row.name, row.b, errUnfinished, -1)
	}
	// Among sound files it is not passed over either.
	dir := filepath.Dir(onDisk(t, "a.ffr", whole))
	if err := os.WriteFile(filepath.Join(dir, "b.ffr"), zeroed(headSize), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, errUnfinished) {
		t.Errorf("in a directory: %v", err)
	}
	// A dataset that is empty is another thing, and says so under a checksum.
	if r, err := readerOf(shardOf(t), Options{}); err != nil || r.Len() != 0 {
		t.Errorf("a shard of no samples: %v", err)
	}
}

// A file that the reference has not finished opens, as above, or with what an older file of that
// name held. Ours is refused at whatever byte its writer was stopped, by the reference too. Here one
// of the states of the file, but the last, would open.
func TestReferenceUnfinishedHeader(t *testing.T) {
	t.Parallel()
	var writes []write
	w, err := NewWriter(tape{&writes}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f3Samples() {
		if _, err := w.Append(s); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	size := len(shardOf(t, f3Samples()...))
	for _, reserved := range []int{0, size} { // the file grows, or has its size from the start
		states, opened := 0, 0
		d := &disk{make([]byte, reserved)}
		for k, x := range writes {
			for n := 1; n <= len(x.p); n++ { // of the write in which it stops, n bytes have arrived
				d.WriteAt(x.p[n-1:n], x.off+int64(n)-1)
				states++
				_, err := readerOf(d.b, Options{})
				if reference := referenceOpens(d.b); err == nil || reference {
					opened++
					if k < len(writes)-1 || n < len(x.p) || err != nil || !reference {
						t.Errorf("byte %d of write %d of %d: ours says %v; the reference opens it: %t", n, k, len(writes), err, reference)
					}
				}
			}
		}
		if opened != 1 || states < size {
			t.Errorf("%d of %d states were opened", opened, states)
		}
	}
}

// write is one call of WriteAt, and a tape keeps them.
type write struct {
	p   []byte
	off int64
}

type tape struct{ writes *[]write }

func (t tape) WriteAt(p []byte, off int64) (int, error) {
	*t.writes = append(*t.writes, write{bytes.Clone(p), off})
	return len(p), nil
}

// The reference does not look at the results of the writes that make its header: on a full disk it
// leaves a file without one, and says nothing. Here some Close would return nil.
func TestReferenceHeaderWritesUnchecked(t *testing.T) {
	t.Parallel()
	for _, kind := range []faultyWrite{{n: 0, err: errDevice}, {n: 5, err: errDevice}, {n: 0}, {n: 5}, {n: 11}} {
		hits := 0
		for k := 0; ; k++ {
			d := kind
			d.left = k
			err := writeF3(&d)
			if d.left >= 0 {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			hits++
			if err == nil || errors.Is(err, errForgotten) || kind.err != nil && !errors.Is(err, errDevice) {
				t.Errorf("write %d gave %d, %v: the Writer says %v", k, kind.n, kind.err, err)
			}
			if _, err := readerOf(d.b, Options{}); err == nil || referenceOpens(d.b) {
				t.Errorf("write %d gave %d, %v, and the file opens", k, kind.n, kind.err)
			}
		}
		if hits != 5 { // the poison head, the payload, the CRCs, the offsets, the head
			t.Errorf("%d writes failed, want 5", hits)
		}
	}
}

var errDevice = errors.New("the device fails")

// faultyWrite is a file of which one write, the one after so many, falls short.
type faultyWrite struct {
	disk
	left int
	n    int
	err  error
}

func (d *faultyWrite) WriteAt(p []byte, off int64) (int, error) {
	if d.left--; d.left == -1 {
		d.disk.WriteAt(p[:d.n], off)
		return d.n, d.err
	}
	return d.disk.WriteAt(p, off)
}

// writeF3 writes F3 and returns what Close says, which must be the first error there was.
func writeF3(d *faultyWrite) error {
	w, first := NewWriter(d, 3)
	if first != nil {
		return first
	}
	for _, s := range f3Samples() {
		if _, err := w.Append(s); first == nil {
			first = err
		}
	}
	_, err := w.Close()
	if first != nil && err != first {
		return fmt.Errorf("first %w, then %v", errForgotten, err)
	}
	return err
}

var errForgotten = errors.New("an error that Close does not tell")

// The reference reserves memory for the N that the file claims before it knows the file's size: a
// file of twelve bytes asks for 48 EiB. Here a case would allocate more than a buffer. Not
// parallel: it counts all allocations.
func TestReferenceTrustsN(t *testing.T) {
	const tebibyte = 1 << 40
	total := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	for _, size := range []int64{headSize, tebibyte} {
		for _, n := range []int64{1 << 62, 1 << 60, math.MaxInt64, math.MaxInt64 / rowSize, samplesFit(tebibyte), MaxSamples + 1, 1 << 20, 1, -1, math.MinInt64} {
			for _, sum := range []uint32{0, 1, 0xffffffff} {
				head := make([]byte, headSize)
				putHead(head, sum, n)
				path := onDisk(t, "x.ffr", head)
				if err := os.Truncate(path, size); err != nil {
					need.Missing(t, err) // a file system without sparse files
				}
				before := total()
				for _, opts := range []Options{{}, {AllowLegacy: true}} {
					if _, err := checked(Open(path, opts)); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooLarge) {
						t.Errorf("N = %d, checksum %x, %d bytes: %v", n, sum, size, err)
					}
					s := NewScanner("", size, opts)
					_, err := s.Write(head)
					if _, closed := s.Close(); closed == nil {
						t.Errorf("N = %d, checksum %x, %d bytes: the Scanner says %v, %v", n, sum, size, err, closed)
					}
				}
				if got := total() - before; got > 3<<20 { // a buffer of 1 MiB for each Open
					t.Errorf("N = %d, checksum %x, %d bytes: %d bytes were allocated", n, sum, size, got)
				}
			}
		}
	}
}

// The reference submits no request for a sample of no bytes, and compares CRCs as requests are
// completed: in a batch an empty sample has none. So a sample that a damaged table makes empty is
// returned as sound. Here such a file would open, or a Scanner would find nothing.
func TestReferenceEmptySampleCRC(t *testing.T) {
	t.Parallel()
	samples := [][]byte{{}, []byte("abc"), {}, []byte("x"), {}}
	n := int64(len(samples))
	seal := func(b []byte) []byte {
		binary.LittleEndian.PutUint32(b, crc32.ChecksumIEEE(b[coverOff:payloadOff(n)]))
		return b
	}
	for i, s := range samples {
		for _, legacy := range []bool{false, true} {
			b := shardOf(t, samples...)
			if len(s) == 0 {
				b[headSize+sumSize*i+2] ^= 1 // its CRC
			} else { // it starts where the next one does, and the one before has got its bytes
				copy(b[offsetsOff(n)+offSize*int64(i):][:offSize], b[offsetsOff(n)+offSize*int64(i+1):])
			}
			want := int64(i)
			if len(s) > 0 {
				want--
			}
			if seal(b); legacy {
				clear(b[:sumSize])
			}
			if r, err := checked(Open(onDisk(t, "x.ffr", b), Options{AllowLegacy: legacy})); err == nil {
				// It is found when it is read, as any other is.
				if _, err := r.Read(int(want), nil); !errors.Is(err, ErrChecksum) {
					t.Errorf("sample %d, legacy %t: opened, then %v", i, legacy, err)
				}
				r.Close()
			}
			_, problems, _ := scan(b, 7, Options{AllowLegacy: legacy})
			if !slices.ContainsFunc(problems, func(p *FormatError) bool { return p.Sample == int64(i) && errors.Is(p, ErrChecksum) }) {
				t.Errorf("sample %d, legacy %t: the Scanner reports %v", i, legacy, problems)
			}
		}
	}
}

// The reference looks for the file of sample i upwards from the first, so that a negative i reads
// what stands before its tables in memory, and one past the end goes on after its list of files.
// Here a call would panic or return something.
func TestReferenceNegativeIndex(t *testing.T) {
	t.Parallel()
	dir := filepath.Dir(onDisk(t, "a.ffr", shardOf(t, f3Samples()...)))
	for _, name := range []string{"b.ffr", "d.ffr"} {
		if err := os.WriteFile(filepath.Join(dir, name), shardOf(t), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "c.ffr"), shardOf(t, []byte("last")), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, n := range map[string]int{dir: 4, filepath.Join(dir, "a.ffr"): 3, filepath.Join(dir, "b.ffr"): 0} {
		r, err := Open(path, Options{})
		if err != nil || r.Len() != n {
			t.Fatal(err)
		}
		defer r.Close()
		for _, i := range []int{-1, -n, -n - 1, math.MinInt, math.MinInt + 1, n, n + 1, math.MaxInt - 1, math.MaxInt} {
			if i >= 0 && i < n {
				continue
			}
			data, err := r.Read(i, []byte("untouched"))
			if !errors.Is(err, errRange) || errors.Is(err, ErrCorrupt) || data != nil {
				t.Errorf("%d samples: Read(%d) gives %d bytes, %v", n, i, len(data), err)
			}
			if _, e, err := r.Extent(i); !errors.Is(err, errRange) || e != (Extent{}) {
				t.Errorf("%d samples: Extent(%d) gives %v, %v", n, i, e, err)
			}
		}
	}
}

// The reference throws out of its constructor when a header is bad, and what it has opened by then
// is never closed: a loop over files to find the bad ones ends with EMFILE. Here the number of
// descriptors would grow. Not parallel: it counts those of the process, and the garbage collector,
// which closes files that nobody has closed, is off.
func TestReferenceDescriptorsLeaked(t *testing.T) {
	descriptors := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			need.Missing(t, err)
		}
		return len(entries)
	}
	whole := shardOf(t, f3Samples()...)
	dir := filepath.Dir(onDisk(t, "a.ffr", whole)) // sound, and opened before the bad one
	damages := []func(b []byte) []byte{
		func(b []byte) []byte { return nil },
		func(b []byte) []byte { return b[:headSize-1] },
		func(b []byte) []byte { clear(b[:headSize]); return b },
		func(b []byte) []byte { b[0] ^= 1; return b },
		func(b []byte) []byte { b[coverOff] ^= 64; return b },
		func(b []byte) []byte { b[headSize] ^= 1; return b },
		func(b []byte) []byte { b[offsetsOff(3)] ^= 1; return b },
		func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		func(b []byte) []byte { return b[:len(b)-1] },
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	before := descriptors()
	for i := range 1000 {
		bad := filepath.Join(dir, "b.ffr")
		if err := os.WriteFile(bad, damages[i%len(damages)](slices.Clone(whole)), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := checked(Open([]string{bad, dir}[i/len(damages)%2], Options{})); err == nil {
			t.Fatalf("damage %d was not found", i%len(damages))
		}
	}
	if after := descriptors(); after > before { // what earlier tests have left may be closed meanwhile
		t.Errorf("%d descriptors, and %d before", after, before)
	}
}
