package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var errInjected = errors.New("injected")

// failingDisk fails its call number at, having written only part of it.
type failingDisk struct {
	disk
	at, calls int
	keep      func(n int) int // bytes of the failing call that arrive
	silent    bool            // report a short write without an error, against io.WriterAt's contract
}

func (d *failingDisk) WriteAt(p []byte, off int64) (int, error) {
	d.calls++
	if d.calls-1 != d.at {
		return d.disk.WriteAt(p, off)
	}
	k, _ := d.disk.WriteAt(p[:d.keep(len(p))], off)
	if d.silent {
		return k, nil
	}
	return k, errInjected
}

// writeFaulty writes samples small, large and empty, in parts, and fails as d does.
func writeFaulty(d io.WriterAt) error {
	samples := [][][]byte{
		{[]byte("small")},
		{noise(1, 3<<19), noise(2, 10)},
		{},
		{noise(3, bufSize)},
		{noise(4, 100), noise(5, bufSize+1)},
		{nil, []byte("end")},
	}
	w, err := NewWriter(d, int64(len(samples)))
	if err != nil {
		return err
	}
	for _, parts := range samples {
		if _, err = w.Append(parts...); err != nil {
			break
		}
	}
	sum, cerr := w.Close()
	if err != nil && !errors.Is(cerr, err) {
		return fmt.Errorf("not sticky: %w, then %w", err, cerr)
	}
	if cerr != nil && sum != (FileInfo{}) {
		return fmt.Errorf("summary %v beside an error", sum)
	}
	return cerr
}

func TestWriterFaultAtEachWrite(t *testing.T) {
	t.Parallel()
	for name, keep := range map[string]func(int) int{
		"nothing": func(int) int { return 0 },
		"half":    func(n int) int { return n / 2 },
		"but one": func(n int) int { return n - 1 },
	} {
		for _, silent := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s silent=%v", name, silent), func(t *testing.T) {
				t.Parallel()
				for i := 0; ; i++ {
					d := &failingDisk{at: i, keep: keep, silent: silent}
					err := writeFaulty(d)
					if d.calls <= i {
						if err != nil {
							t.Fatalf("no fault, and yet: %v", err)
						}
						if _, ok := oracle(d.b); !ok || i < 7 {
							t.Fatalf("not a sound shard after %d writes", i)
						}
						return
					}
					if !errors.Is(err, errInjected) && !(silent && errors.Is(err, io.ErrShortWrite)) {
						t.Errorf("write %d: not reported: %v", i, err)
					}
					row := faultRow{}
					if row.try(d.b, nil); row.undetected > 0 {
						t.Errorf("write %d: what is on disk is accepted", i)
					}
				}
			})
		}
	}
}

// A head that is torn at any byte is refused, whatever the rest of the file.
func TestWriterTornHead(t *testing.T) {
	t.Parallel()
	for _, samples := range [][][]byte{{}, f3Samples()} {
		b := shardOf(t, samples...)
		for k := range headSize {
			torn := slices.Clone(b)
			putHead(torn, poison32, poisonN)
			copy(torn, b[:k])
			row := faultRow{}
			if row.try(torn, nil); row.undetected > 0 {
				t.Errorf("%d samples, head torn at byte %d: accepted", len(samples), k)
			}
		}
	}
}

func TestWriterUnfinished(t *testing.T) {
	t.Parallel()
	d := &disk{}
	w, err := NewWriter(d, 2)
	if err != nil {
		t.Fatal(err)
	}
	if want := "01000000ffffffffffffffff"; fmt.Sprintf("%x", d.b) != want {
		t.Fatalf("head %x, want %s", d.b, want)
	}
	if _, err := readerOf(d.b, Options{AllowLegacy: true}); !errors.Is(err, errUnfinished) {
		t.Errorf("head alone: %v", err)
	}
	if _, err := w.Append([]byte("one")); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Close(); !errors.Is(err, errRange) {
		t.Errorf("close of one of two: %v", err)
	}
	if _, err := w.Append([]byte("two")); !errors.Is(err, errRange) {
		t.Errorf("not sticky: %v", err)
	}
	if _, _, err := scan(d.b, 5, Options{AllowLegacy: true}); !errors.Is(err, errUnfinished) {
		t.Errorf("after Close: %v", err)
	}
}

func TestWriterCounts(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{-1, -1 << 63, MaxSamples + 1, maxN, 1<<63 - 1} {
		d := &disk{}
		if _, err := NewWriter(d, n); err == nil || len(d.b) > 0 {
			t.Errorf("NewWriter(%d) = %v, %d bytes written", n, err, len(d.b))
		}
	}
	d := &disk{}
	w, err := NewWriter(d, 1)
	if err != nil {
		t.Fatal(err)
	}
	w.Append([]byte("one"))
	if _, err := w.Append(); !errors.Is(err, errRange) {
		t.Errorf("one too many: %v", err)
	}
	if _, err := w.Close(); !errors.Is(err, errRange) {
		t.Errorf("close after one too many: %v", err)
	}
	if _, err := readerOf(d.b, Options{}); !errors.Is(err, errUnfinished) {
		t.Errorf("after one too many: %v", err)
	}
}

func TestWriterClosed(t *testing.T) {
	t.Parallel()
	d := &disk{}
	w, _ := NewWriter(d, 0)
	first, err := w.Close()
	again, err2 := w.Close()
	if err != nil || err2 != nil || first != again || first != (FileInfo{Size: 12, HeaderCRC: 0x6522DF69}) {
		t.Errorf("%v %v, then %v %v", first, err, again, err2)
	}
	if _, err := w.Append(); err == nil {
		t.Error("append after close")
	}
}

// How a sample is cut into parts changes nothing.
func TestWriterParts(t *testing.T) {
	t.Parallel()
	sample := noise(9, 3*bufSize+17)
	want := shardOf(t, []byte("a"), sample, nil)
	for _, cut := range []int{0, 1, bufSize - 50, bufSize - 1, bufSize, bufSize + 1, 2 * bufSize, len(sample)} {
		d := &disk{}
		w, _ := NewWriter(d, 3)
		w.Append([]byte("a"))
		e, err := w.Append(sample[:cut], nil, sample[cut:])
		if err != nil {
			t.Fatal(err)
		}
		w.Append()
		if sum, err := w.Close(); err != nil || sum.Size != FileSize(3, int64(1+len(sample))) {
			t.Errorf("cut %d: %+v %v", cut, sum, err)
		}
		if !bytes.Equal(d.b, want) {
			t.Errorf("cut %d: other bytes", cut)
		}
		if !bytes.Equal(d.b[e.Off:e.Off+e.Size], sample) {
			t.Errorf("cut %d: extent %+v", cut, e)
		}
	}
}

// Tables larger than the buffer.
func TestWriterManySamples(t *testing.T) {
	t.Parallel()
	const n = bufSize/sumSize + 5
	d := &disk{}
	w, _ := NewWriter(d, n)
	for i := range n {
		if _, err := w.Append([]byte("abcdefg")[:i%7]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	samples, ok := oracle(d.b)
	if !ok || len(samples) != n || string(samples[n-2]) != "abcdefg"[:(n-2)%7] {
		t.Fatal("not the samples that were written")
	}
	if lost, err := readAll(d.b, samples, Options{}); lost > 0 || err != nil {
		t.Error(lost, err)
	}
	if sum, _, err := scan(d.b, 4093, Options{}); sum.Samples != n || err != nil {
		t.Error(sum, err)
	}
}

// sink takes everything and remembers nothing.
type sink struct{ largest []byte }

func (s *sink) WriteAt(p []byte, _ int64) (int, error) {
	if len(p) > len(s.largest) {
		s.largest = p
	}
	return len(p), nil
}

// Not parallel: testing.AllocsPerRun.
func TestWriterAppendAllocs(t *testing.T) {
	w, err := NewWriter(&sink{}, 20000)
	if err != nil {
		t.Fatal(err)
	}
	key, value := []byte("key"), noise(1, 100_000)
	w.Append(key, value)
	if got := testing.AllocsPerRun(10000, func() {
		if _, err := w.Append(key, value); err != nil {
			t.Fatal(err)
		}
	}); got != 0 {
		t.Errorf("%v allocations an Append", got)
	}
}

// A large part goes to the file from where it lies.
func TestWriterDoesNotCopyLargeParts(t *testing.T) {
	t.Parallel()
	s := &sink{}
	w, _ := NewWriter(s, 1)
	p := noise(1, bufSize)
	if w.Append(p); len(s.largest) != len(p) || &s.largest[0] != &p[0] {
		t.Error("the part was copied")
	}
}

// A batch makes the same file, and says the same of it, as its samples one by one.
func TestWriterBatch(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	data := make([]byte, 3*bufSize)
	rand.NewChaCha8([32]byte{9}).Read(data)
	var ends []int
	for end := 0; end < len(data); {
		end = min(len(data), end+rng.IntN(1<<rng.IntN(20)))
		ends = append(ends, end)
	}
	var one, all disk
	a, err := NewWriter(&one, int64(len(ends)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := NewWriter(&all, int64(len(ends)))
	if err != nil {
		t.Fatal(err)
	}
	var want, got []Extent
	from := 0
	for _, end := range ends {
		e, err := a.Append(data[from:end])
		if err != nil {
			t.Fatal(err)
		}
		want, from = append(want, e), end
	}
	for done, from := 0, 0; done < len(ends); {
		n := min(len(ends)-done, rng.IntN(50))
		batch, to := make([]Extent, n), from
		for i := range batch {
			batch[i].Size = want[done+i].Size
			if rng.IntN(2) == 0 {
				batch[i].CRC = want[done+i].CRC
			}
			to += int(batch[i].Size)
		}
		if err = b.AppendBatch(batch, data[from:to]); err != nil {
			t.Fatal(err)
		}
		got, done, from = append(got, batch...), done+n, to
	}
	if !slices.Equal(got, want) {
		t.Error("extents differ")
	}
	if _, err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.b, all.b) {
		t.Error("files differ")
	}
	d, _ := NewWriter(&disk{}, 2)
	if err := d.AppendBatch([]Extent{{Size: 1}, {Size: 2}}, []byte{1, 2}); err == nil || !strings.Contains(err.Error(), "sample 1 of a batch of 2 has 2 bytes") {
		t.Errorf("more bytes than there are: %v", err)
	}
	c, _ := NewWriter(&disk{}, 1)
	if err := c.AppendBatch([]Extent{{Size: 1}, {Size: 1}}, []byte{1, 2}); !errors.Is(err, errRange) {
		t.Errorf("one too many: %v", err)
	}
	if _, err := c.Close(); !errors.Is(err, errRange) {
		t.Errorf("close after one too many: %v", err)
	}
}

// swapper is a disk behind two buffers of its own.
type swapper struct {
	disk
	t       *testing.T
	spare   []byte
	aligned int // buffers taken whole
}

func (k *swapper) SwapAt(p []byte, off int64) ([]byte, error) {
	if len(p) > 0 {
		if _, err := k.WriteAt(p, off); err != nil {
			return nil, err
		}
		if off%int64(cap(p)) == 0 && len(p) == cap(p) {
			k.aligned++
		} else if off/int64(cap(p)) != (off+int64(len(p))-1)/int64(cap(p)) {
			k.t.Errorf("%d bytes at byte %d: across a multiple of %d", len(p), off, cap(p))
		}
		clear(p[:cap(p)])
		k.spare, p = p[:0], k.spare
	} else {
		k.spare = make([]byte, 0, 4096)
		p = make([]byte, 0, 4096)
	}
	return p[:0], nil
}

// A BufferSwapper gets buffers that end at multiples of their size, and makes the same file.
func TestWriterBufferSwapper(t *testing.T) {
	t.Parallel()
	const n = 3000
	k := &swapper{t: t}
	d := &disk{}
	var files [2][]byte
	for i, w := range []io.WriterAt{k, d} {
		w, err := NewWriter(w, n)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if _, err := w.Append(noise(uint64(i), i%50*i%9000)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
		files[i] = [2][]byte{k.b, d.b}[i]
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("the files differ")
	}
	if most := len(k.b) / 4096; k.aligned < most-6 {
		t.Errorf("%d of %d blocks are aligned", k.aligned, most)
	}
}
