package record

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"testing"
)

// claims makes a sparse file that begins as a shard of n samples does, and has nothing else.
func claims(t *testing.T, path string, n int64, firstOffset bool) FileInfo {
	t.Helper()
	info := FileInfo{Path: path, Samples: n, Size: payloadOff(n) + n, HeaderCRC: 7}
	head := make([]byte, headSize)
	putHead(head, info.HeaderCRC, n)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = f.WriteAt(head, 0)
	if firstOffset {
		_, err2 := f.WriteAt(appendOff(nil, payloadOff(n)), offsetsOff(n))
		err = errors.Join(err, err2)
	}
	if err := errors.Join(err, f.Truncate(info.Size)); err != nil {
		t.Fatal(err)
	}
	return info
}

// Opening reads the head and the first offset, and of a file whose size is known the head alone: all else is zero in
// these files, which have 10⁹ samples. Not parallel: it measures memory.
func TestOpenReadsHeads(t *testing.T) {
	const n, count = 50_000_000, 20
	for _, sized := range []bool{false, true} {
		dir := t.TempDir()
		var files []FileInfo
		for k := range count {
			info := claims(t, filepath.Join(dir, Name(k, count)), n, !sized)
			if !sized {
				info = FileInfo{Path: info.Path}
			}
			files = append(files, info)
		}
		before := allocated()
		r, err := OpenFiles(files, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Len() != n*count {
			t.Errorf("%d samples", r.Len())
		}
		if grown := allocated() - before; grown > 1<<20 {
			t.Errorf("sizes known: %t: %d bytes were allocated", sized, grown)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A damaged header is an error of the samples of its file, the same for all callers, and of no others.
func TestHeaderCheckedOnce(t *testing.T) {
	t.Parallel()
	good, samples := example(t)
	dir := filepath.Dir(onDisk(t, "a.ffr", good))
	bad := bytes.Clone(good)
	bad[headSize]++
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "b.ffr"), bad, 0o644), os.WriteFile(filepath.Join(dir, "c.ffr"), good, 0o644)); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	errs := make([]error, 60)
	var all sync.WaitGroup
	for g := range errs {
		all.Go(func() {
			i := 3 + g%3
			switch g % 4 {
			case 0:
				_, errs[g] = r.Read(i, nil)
			case 1:
				_, _, errs[g] = r.Extent(i)
			case 2:
				var out [][]byte
				if out, errs[g] = r.ReadBatch(t.Context(), []int{0, i, 8}, nil); out != nil {
					t.Errorf("%d samples beside a damaged header", len(out))
				}
			case 3:
				out, err := r.ReadBatch(t.Context(), []int{8, 0, 7, 1}, nil)
				if r.HeaderCRC(0) != r.HeaderCRC(2) {
					t.Error("equal files have other checksums")
				}
				if err != nil || !bytes.Equal(out[0], samples[2]) || !bytes.Equal(out[1], samples[0]) {
					t.Errorf("of sound files: %v", err)
				}
			}
		})
	}
	all.Wait()
	var first *FormatError
	for g, err := range errs {
		var fe *FormatError
		if g%4 == 3 {
			continue
		}
		if !errors.As(err, &fe) || fe.Path != filepath.Join(dir, "b.ffr") || fe.Sample != -1 || !errors.Is(err, ErrChecksum) || first != nil && fe != first {
			t.Errorf("%v, another caller has %v", err, first)
		}
		first = fe
	}
}

// What is known of a file is compared with it. If its size is, its last sample is checked when it is read, as any other.
func TestOpenKnown(t *testing.T) {
	t.Parallel()
	b, samples := example(t)
	path := onDisk(t, "a.ffr", b)
	known := FileInfo{Path: path, Samples: 3, Size: int64(len(b)), HeaderCRC: 0x3154ea10}
	for _, tt := range []struct {
		name   string
		change func(f *FileInfo)
		want   error
	}{
		{"all", func(*FileInfo) {}, nil},
		{"the head", func(f *FileInfo) { f.Size = 0 }, nil},
		{"another number of samples", func(f *FileInfo) { f.Samples++; f.Size = 0 }, ErrHeader},
		{"another checksum", func(f *FileInfo) { f.HeaderCRC++ }, ErrHeader},
		{"cut", func(f *FileInfo) { f.Size++ }, ErrTruncated},
		{"lengthened", func(f *FileInfo) { f.Size-- }, ErrHeader},
	} {
		want := known
		tt.change(&want)
		r, err := OpenFiles([]FileInfo{want}, Options{})
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if err == nil {
			r.Close()
		}
	}
	b[len(b)-1]++
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := checked(OpenFiles(named(path), Options{})); !errors.Is(err, ErrChecksum) {
		t.Errorf("of an unknown size: %v, %v", r, err)
	}
	r, err := OpenFiles([]FileInfo{known}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := r.Read(0, nil); err != nil || !bytes.Equal(got, samples[0]) {
		t.Error(err)
	}
	var fe *FormatError
	if _, err := r.Read(2, nil); !errors.As(err, &fe) || fe.Sample != 2 || !errors.Is(err, ErrChecksum) {
		t.Error(err)
	}
}

// manySamples have a header of some pages.
func manySamples() (samples [][]byte) {
	for i := range 3000 {
		samples = append(samples, noise(uint64(i), 1+i%7))
	}
	return samples
}

// readAny reads some samples in each way. Each is what was written, or an error of the file.
func readAny(t *testing.T, r *Reader, path string, samples [][]byte, rng *rand.Rand) error {
	t.Helper()
	indices := []int{rng.IntN(len(samples)), rng.IntN(len(samples)), rng.IntN(len(samples))}
	out, err := r.ReadBatch(t.Context(), indices, nil)
	for k, s := range out {
		if s != nil && !bytes.Equal(s, samples[indices[k]]) {
			t.Errorf("sample %d: other bytes", indices[k])
		}
	}
	s, err2 := r.Read(indices[0], nil)
	if err2 == nil && !bytes.Equal(s, samples[indices[0]]) {
		t.Errorf("sample %d: other bytes", indices[0])
	}
	_, _, err3 := r.Extent(indices[1])
	for _, err := range []error{err, err2, err3} {
		var fe *FormatError
		if err != nil && (!errors.As(err, &fe) || fe.Path != path || !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrReplaced)) {
			t.Errorf("not an error of the file: %v", err)
		}
	}
	return errors.Join(err, err2, err3)
}

// A shard that is cut after its header was mapped is truncated: no access to the mapping ends the process.
func TestCutWhileMapped(t *testing.T) {
	t.Parallel()
	samples := manySamples()
	b := shardOf(t, samples...)
	path := onDisk(t, "a.ffr", b)
	r, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := r.Read(2999, nil); err != nil || !bytes.Equal(got, samples[2999]) {
		t.Fatal(err)
	}
	for _, size := range []int64{offsetsOff(3000) + 5, 5000, 5, 0} {
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, err1 := r.Read(2999, nil)
			out, err2 := r.ReadBatch(t.Context(), []int{2999}, nil)
			_, _, err3 := r.Extent(2998)
			for _, err := range []error{err1, err2, err3} {
				var fe *FormatError
				if !errors.As(err, &fe) || fe.Path != path || !errors.Is(err, ErrTruncated) || out != nil {
					t.Errorf("cut to %d bytes: %v", size, err)
				}
			}
		}
	}
	if debug.SetPanicOnFault(false) {
		t.Error("faults are panics after the call")
	}
}

// Readers of a shard that is cut, and written anew, have its samples or an error of the file.
func TestCutDuringReads(t *testing.T) {
	t.Parallel()
	samples := manySamples()
	b := shardOf(t, samples...)
	other := make([][]byte, len(samples)) // as many bytes as the samples, in the same header but for the CRCs
	for i, s := range samples {
		other[i] = noise(uint64(i+5000), len(s))
	}
	second := shardOf(t, other...)
	rng := rand.New(rand.NewPCG(3, 7))
	for round := range 30 {
		path := onDisk(t, "a.ffr", b)
		r, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		begun := make(chan bool, 4)
		for g := range 4 {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(round), uint64(g)))
				for k := 0; ; k++ {
					err := readAny(t, r, path, samples, rng)
					if k == 0 {
						begun <- true
					}
					if err != nil {
						break
					}
				}
				for range 20 {
					readAny(t, r, path, samples, rng)
				}
			})
		}
		for range 4 {
			<-begun
		}
		if err := os.Truncate(path, rng.Int64N(8000)); err != nil {
			t.Fatal(err)
		}
		if round%3 == 1 { // a program that writes into the file that is there
			if err := os.WriteFile(path, second, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		all.Wait()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A file that another program writes anew in place has another head: samples are not those of the new file.
func TestWrittenInPlace(t *testing.T) {
	t.Parallel()
	path := onDisk(t, "a.ffr", shardOf(t, []byte("old"), []byte("samples")))
	r, err := checked(Open(path, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	late, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if err := os.WriteFile(path, shardOf(t, []byte("new"), []byte("SAMPLES")), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*Reader{r, late} {
		for i := range 2 {
			s, err := r.Read(i, nil)
			out, err2 := r.ReadBatch(t.Context(), []int{i}, nil)
			if s != nil || out != nil || !errors.Is(err, ErrReplaced) || !errors.Is(err2, ErrReplaced) {
				t.Errorf("sample %d: %q %v, %q %v", i, s, err, out, err2)
			}
		}
	}
}

// After Close a sample is an error.
func TestReadAfterClose(t *testing.T) {
	t.Parallel()
	b, _ := example(t)
	r, err := checked(Open(onDisk(t, "a.ffr", b), Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(0, nil); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
}
