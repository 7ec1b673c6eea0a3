package shard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// mixed is a source of one part: sample i is its number and i mod 40 bytes, or many more
// for each hundredth. Reading the sample broken, if that is not 0, is errBroken.
type mixed struct{ broken int64 }

var errBroken = errors.New("broken")

func (mixed) Parts() []converters.Part { return []converters.Part{{Path: "mixed"}} }

func (mixed) Index(context.Context, int) iter.Seq2[*converters.Span, error] { return nil }

func (m mixed) Read(_ context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		var buf []byte
		for i := run.First; i < run.First+run.Count; i++ {
			if m.broken > 0 && i >= m.broken {
				yield(nil, fmt.Errorf("sample %d: %w", i, errBroken))
				return
			}
			buf = m.sample(buf[:0], i)
			if !yield(&converters.Sample{Key: fmt.Sprint(i), Off: i, Fields: []converters.Field{{Name: "b", Value: converters.Bytes(buf)}}}, nil) {
				return
			}
		}
	}
}

func (mixed) sample(b []byte, i int64) []byte {
	b = fmt.Append(b, i)
	size := i % 40
	if i%100 == 7 {
		size = i % (3 * plan.SmallRecord)
	}
	return append(b, make([]byte, size)...)
}

// A memoryFile is an io.WriterAt. If fail is not 0, write number fail and later ones fail.
type memoryFile struct {
	data   []byte
	writes int
	fail   int
}

var errFull = errors.New("full")

func (m *memoryFile) WriteAt(p []byte, off int64) (int, error) {
	m.writes++
	if m.fail > 0 && m.writes >= m.fail {
		return 0, errFull
	}
	if end := int(off) + len(p); end > len(m.data) {
		m.data = append(m.data, make([]byte, end-len(m.data))...)
	}
	return copy(m.data[off:], p), nil
}

// runPipeline has a number of readers read samples of mixed, in runs of random length, into a
// shard that claims want of them.
func runPipeline(t *testing.T, src mixed, readers int, samples, want int64, file *memoryFile) error {
	t.Helper()
	index := testIndex(t, plan.Columns{Keys: true})
	w, err := record.NewWriter(file, want)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := encode.Parse(encode.Options{Encoding: "raw:b"})
	if err != nil {
		t.Fatal(err)
	}
	s := plan.Shard{Samples: want}
	rnd := rand.New(rand.NewPCG(5, uint64(readers)))
	for first := int64(0); first < samples; {
		n := min(samples-first, 1+rnd.Int64N(plan.RunSamples/2))
		s.Runs = append(s.Runs, converters.Run{First: first, Off: first, Count: n})
		first += n
	}
	p := newPipeline(&plan.Plan{Parts: []plan.Part{{Name: "mixed"}}}, &s, w, index)
	of := []*reader{newReader([]*encode.Spec{spec})}
	for range readers - 1 {
		of = append(of, newReader([]*encode.Spec{spec}))
	}
	err = p.run(t.Context(), src, p.use(of, progress))
	if err == nil {
		_, err = w.Close()
	}
	return err
}

// Records of all sizes are appended in the order of the plan, whoever reads them, although
// their bytes are used again for the next.
func TestPipeline(t *testing.T) {
	t.Parallel()
	for _, readers := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(readers), func(t *testing.T) {
			t.Parallel()
			const n = 5*plan.RunSamples + 100
			file := &memoryFile{}
			if err := runPipeline(t, mixed{}, readers, n, n, file); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "x.ffr")
			if err := os.WriteFile(path, file.data, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := record.Open(path, record.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var want, got []byte
			for i := range int64(n) {
				want = mixed{}.sample(want[:0], i)
				if got, err = r.Read(int(i), got); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("record %d of %d bytes: %d bytes, error %v", i, len(want), len(got), err)
				}
			}
		})
	}
}

// Whatever fails, nothing hangs, and the error is that which comes first in the order of
// the samples.
func TestPipelineFails(t *testing.T) {
	t.Parallel()
	need.Time(t, "an error at each of many places")
	const n = 5 * plan.RunSamples
	for _, readers := range []int{1, 2, 5} {
		for fail := 2; fail <= 4; fail++ {
			if err := runPipeline(t, mixed{}, readers, n, n, &memoryFile{fail: fail}); !errors.Is(err, errFull) {
				t.Errorf("%d readers, write %d fails: %v", readers, fail, err)
			}
		}
		for _, broken := range []int64{1, 1000, n / 2, n - 1} {
			err := runPipeline(t, mixed{broken}, readers, n, n, &memoryFile{})
			if want := fmt.Sprintf("sample %d: broken", broken); err == nil || err.Error() != want {
				t.Errorf("%d readers: error %v, want %s", readers, err, want)
			}
		}
		err := runPipeline(t, mixed{}, readers, n, n-3, &memoryFile{})
		if want := fmt.Sprintf("mixed: offset %d: ", n-3); !errors.Is(err, converters.ErrChanged) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%d readers, more samples than were planned: error %v", readers, err)
		}
	}
}

// Segments hold all runs, in order, and no more samples than one run may have.
func TestSegments(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 8))
	var runs, got []converters.Run
	for i := range 2000 {
		runs = append(runs, converters.Run{Part: i, Count: 1 + rnd.Int64N(plan.RunSamples)>>rnd.IntN(15)})
	}
	for i, s := range segmentsOf(runs, plan.RunSamples) {
		samples := int64(0)
		for _, r := range s.runs {
			samples += r.Count
		}
		if samples > plan.RunSamples || len(s.runs) == 0 || s.at != i {
			t.Errorf("segment %d is the %d-th, with %d runs of %d samples", s.at, i, len(s.runs), samples)
		}
		got = append(got, s.runs...)
	}
	if !slices.Equal(got, runs) {
		t.Error("the segments do not hold the runs")
	}
}

func testBlocks(t testing.TB) *blocks {
	t.Helper()
	b, err := newBlocks(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.free(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// Huge pages have 2 MiB: a mapping must be a multiple of that.
func TestDataBlocks(t *testing.T) {
	t.Parallel()
	for workers := 1; workers <= 100; workers++ {
		if n := dataBlocks(workers); n < 2 || n%2 != 0 || n > 8 || n*workers > 16+2*workers {
			t.Errorf("%d workers: %d blocks each", workers, n)
		}
	}
}
