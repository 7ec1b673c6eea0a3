// Package verify proves that shards are sound: it re-reads them, from the device where that
// can be proven (see [aio.File.Uncache]), and checks the header, every sample's CRC, and that every shard is
// the one that was expected.
//
//	report, err := verify.Dataset(ctx, "out", expected, verify.Options{})
//	for _, p := range report.Problems { fmt.Println(p) }
//	return report.Err()
//
// It knows no manifest. What to expect of a shard is handed in as plain values.
package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/record"
)

// An Expect is what is known of a shard beforehand.
type Expect struct {
	Name      string // file name, no directory
	Samples   int64
	Bytes     int64  // of the file
	HeaderCRC uint32 // as the shard stores it; it pins every sample
}

// summary is the one that a sound shard of these has.
func (e *Expect) summary() record.Summary {
	return record.Summary{Samples: e.Samples, Size: e.Bytes, HeaderCRC: e.HeaderCRC}
}

// A Target is one file to verify, and what is expected of it where that is known.
type Target struct {
	Path string
	Root *os.Root // the directory that Path begins in, where a link is not followed; nil: the working directory
	Want *Expect
}

// path is the path that problems show.
func (t *Target) path() string {
	if t.Root == nil {
		return t.Path
	}
	return filepath.Join(t.Root.Name(), t.Path)
}

func (t *Target) open(r *aio.Reader) (*aio.File, error) {
	if t.Root == nil {
		return r.Open(t.Path)
	}
	return r.OpenIn(t.Root, t.Path)
}

// Files verifies files. Problems are in the order of targets. An error says that the
// work could not be done at all; what is wrong with files is in the report.
func Files(ctx context.Context, targets []Target, opts Options) (*Report, error) {
	start := time.Now()
	workers := opts.Workers
	if workers < 1 {
		// One keeps most devices busy: a CRC takes a tenth of the time of its read. On two
		// CPUs a second one cost a quarter more processor time and gained nothing.
		workers = min(runtime.GOMAXPROCS(0)/2, 4)
	}
	workers = max(1, min(workers, len(targets)))
	each := Share(opts.AIO, workers)

	report := &Report{Shards: len(targets), QueueDepth: each.Depth * workers, Problems: []Problem{}}
	results := make([]Result, len(targets))
	next := make(chan int)
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(next)
		for i := range targets {
			select {
			case next <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range workers {
		g.Go(func() error {
			r, err := aio.NewReader(each)
			if err != nil {
				return err
			}
			for i := range next {
				if results[i], err = File(ctx, r, targets[i], opts); err != nil {
					return errors.Join(err, r.Close())
				}
			}
			err = r.Close()
			mu.Lock()
			defer mu.Unlock()
			report.backend(r.Stats())
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i := range results {
		report.add(&results[i])
	}
	report.swaps(targets, results)
	report.Seconds = time.Since(start).Seconds()
	return report, nil
}

// Dataset verifies every shard of a directory. Where want is not nil it is the whole
// list of shards: one that is missing and one too many are problems too, and so is a link
// in the place of one. Without a list links are followed, as readers do.
func Dataset(ctx context.Context, dir string, want []Expect, opts Options) (*Report, error) {
	names, err := Shards(dir)
	if err != nil {
		return nil, err
	}
	expected := make(map[string]*Expect, len(want))
	for i := range want {
		expected[want[i].Name] = &want[i]
	}
	var targets []Target
	problems := []Problem{}
	var root *os.Root
	if want != nil {
		if root, err = os.OpenRoot(dir); err != nil {
			return nil, err
		}
		defer root.Close()
	}
	for _, name := range names {
		target := Target{Path: filepath.Join(dir, name), Want: expected[name]}
		if root != nil {
			target.Root, target.Path = root, name
		}
		targets = append(targets, target)
		if expected[name] == nil && want != nil {
			problems = append(problems, Problem{Shard: name, Path: filepath.Join(dir, name), Kind: Extra, Sample: -1, Offset: -1, Text: "no shard of that name belongs to the dataset, yet readers will take it"})
		}
		delete(expected, name)
	}
	for _, name := range slices.Sorted(maps.Keys(expected)) {
		problems = append(problems, Problem{Shard: name, Path: filepath.Join(dir, name), Kind: Missing, Sample: -1, Offset: -1, Text: "the shard is missing"})
	}
	report, err := Files(ctx, targets, opts)
	if err != nil {
		return nil, err
	}
	report.CrossChecked = want != nil
	report.Problems = append(problems, report.Problems...)
	return report, nil
}

// Shards lists the names in dir that readers take for shards, sorted as strings.
func Shards(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), record.Ext) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// File verifies one file with a reader that the caller owns. An error is a cancelled
// context or a reader that cannot go on; all else is in the result.
func File(ctx context.Context, r *aio.Reader, t Target, opts Options) (Result, error) {
	return twice(func() (Result, error) {
		res, err := scan(ctx, r, t, opts)
		opts.Progress = nil
		return res, err
	})
}

// twice scans a file, and where something is wrong with it once more, which tells a failing
// transfer from damaged data: a problem is transient where the second scan finds none. What only
// the second finds is a problem too.
func twice(scan func() (Result, error)) (Result, error) {
	res, err := scan()
	if err != nil || len(res.Problems) == 0 {
		return res, err
	}
	again, err := scan()
	if err != nil {
		return res, err
	}
	res.From = res.From.And(again.From)
	if len(again.Problems) == 0 {
		for i := range res.Problems {
			res.Problems[i].Transient = true
		}
		return res, nil
	}
	first := res.Problems
	for _, p := range again.Problems {
		if !slices.ContainsFunc(first, p.same) {
			res.problem(p)
		}
	}
	return res, nil
}

// scan reads a file once, from its first byte to its last.
func scan(ctx context.Context, r *aio.Reader, t Target, opts Options) (Result, error) {
	res := Result{Shard: filepath.Base(t.Path), Path: t.path()}
	f, err := t.open(r)
	if err != nil {
		if t.Root != nil && replaced(t.Root, t.Path) {
			res.problem(Problem{Kind: Changed, Sample: -1, Offset: -1, Text: notAFile})
		} else {
			res.unreadable(err)
		}
		return res, ctx.Err()
	}
	defer f.Close()
	res.From = f.Uncache()
	s := record.NewScanner("", f.Size(), opts.Record)
	s.Problem = res.format
	for block, err := range r.Sweep(ctx, f, 0, f.Size()) {
		if err != nil {
			if ctx.Err() != nil {
				return res, ctx.Err()
			}
			res.unreadable(err)
			return res, nil
		}
		before := s.Samples()
		n, err := s.Write(block)
		res.Bytes += int64(n)
		if opts.Progress != nil {
			opts.Progress(s.Samples()-before, int64(n))
		}
		if err != nil {
			break // the scanner has reported why
		}
	}
	res.Summary, _ = s.Close() // what is wrong went to res.format
	if t.Want != nil {
		res.compare(f.Size(), t.Want)
	}
	return res, ctx.Err()
}

// notAFile says what is in the place of a file of a dataset. It is not opened.
const notAFile = "a link or another thing that is not a regular file is in its place: remove it, and repair"

// replaced reports whether the name is of something, and not of a regular file.
func replaced(root *os.Root, name string) bool {
	st, err := root.Lstat(name)
	return err == nil && !st.Mode().IsRegular()
}

// unreadable enters an I/O error.
func (res *Result) unreadable(err error) {
	if errors.Is(err, fs.ErrNotExist) {
		res.problem(Problem{Kind: Missing, Sample: -1, Offset: -1, Text: "the shard is missing", err: err})
		return
	}
	res.problem(Problem{Kind: Unreadable, Sample: -1, Offset: -1, Text: err.Error(), err: err})
}

// compare enters how a file differs from what was expected of it.
func (res *Result) compare(size int64, want *Expect) {
	differs := func(kind Kind, format string, args ...any) {
		res.problem(Problem{Kind: kind, Sample: -1, Offset: -1, Text: fmt.Sprintf(format, args...)})
	}
	if size != want.Bytes {
		differs(Resized, "it has %d bytes, the dataset's shard has %d", size, want.Bytes)
	}
	if res.Summary.Size == 0 {
		return // no header to compare
	}
	if res.Summary.Samples != want.Samples {
		differs(Changed, "it has %d samples, the dataset's shard has %d", res.Summary.Samples, want.Samples)
	}
	if res.Summary.HeaderCRC != want.HeaderCRC {
		differs(Changed, "its header checksum is %08x, the dataset's shard has %08x", res.Summary.HeaderCRC, want.HeaderCRC)
	}
}
