// Package verify proves that shards are sound. It reads them again, from the device where that can be proven (see
// [aio.File.Uncache]), and checks the header, the CRC of every sample, and that each shard is the expected one.
//
//	report, err := verify.Dataset(ctx, "out", nil, expected, verify.Options{})
//	for _, p := range report.Problems { fmt.Println(p) }
//	return report.Err()
//
// The package does not read manifests: the caller passes an [Expect] for each shard.
package verify

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/record"
)

// An Expect describes a shard as it should be.
type Expect struct {
	Name      string // file name without directory
	Samples   int64
	Bytes     int64  // size of the file
	HeaderCRC uint32 // as stored in the shard; it covers the offsets and CRCs of all samples
	SHA256    string // hexadecimal, compared if Options.SHA256 is set; "": not known
}

// summary returns the summary that Close of a scanner returns for the expected shard.
func (e *Expect) summary() record.FileInfo {
	return record.FileInfo{Samples: e.Samples, Size: e.Bytes, HeaderCRC: e.HeaderCRC}
}

// A Target is one file to verify.
type Target struct {
	Path string
	Root *os.Root // Path is below Root, and symbolic links are not followed; nil means the working directory
	Want *Expect  // nil if nothing is expected of the file beyond being a sound shard
}

// path returns the path for problems and reports.
func (t *Target) path() string {
	if t.Root == nil {
		return t.Path
	}
	return filepath.Join(t.Root.Name(), t.Path)
}

// result returns the initial result of a file.
func (t *Target) result() Result { return Result{Shard: filepath.Base(t.Path), Path: t.path()} }

func (t *Target) open() (*aio.File, error) {
	if t.Root == nil {
		return aio.Open(t.Path)
	}
	return aio.OpenIn(t.Root, t.Path)
}

// Files verifies files, several at once. The report has their problems, in the order of targets.
// An error means that the verification itself failed, or that ctx ended.
func Files(ctx context.Context, targets []Target, opts Options) (*Report, error) {
	start := time.Now()
	workers := opts.Workers
	if workers < 1 {
		// One worker keeps most devices busy: computing a CRC takes a tenth of the time of reading
		// the bytes. On two CPUs a second worker took a quarter more CPU time and no less wall time.
		workers = min(runtime.GOMAXPROCS(0)/2, 4)
		if opts.SHA256 { // hashing is slower than most devices
			workers = min(runtime.GOMAXPROCS(0), 16)
		}
	}
	workers = max(1, min(workers, len(targets)))
	each := Share(opts.AIO, workers)

	report := &Report{Shards: len(targets), QueueDepth: each.Depth * workers, Problems: []Problem{}}
	results := make([]Result, len(targets))
	stats, err := forEach(ctx, len(targets), workers, each, func(ctx context.Context, r *aio.Reader, i int) (err error) {
		results[i], err = File(ctx, r, targets[i], opts)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, s := range stats {
		report.backend(s)
	}
	for i := range results {
		if opts.Summed != nil && results[i].SHA256 != "" {
			opts.Summed(results[i].Shard, results[i].SHA256)
		}
		report.add(&results[i])
		results[i].Problems = nil
	}
	report.Results = results
	report.swaps(targets, results)
	report.Seconds = time.Since(start).Seconds()
	return report, nil
}

// forEach calls do for each number below n, in several workers, each with its own reader, and returns the statistics of
// the readers. It stops at the first error.
func forEach(ctx context.Context, n, workers int, each aio.Options, do func(ctx context.Context, r *aio.Reader, i int) error) ([]aio.Stats, error) {
	stats := make([]aio.Stats, workers)
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		g.Go(func() error {
			r, err := aio.NewReader(each)
			if err != nil {
				return err
			}
			for i := int(next.Add(1)) - 1; i < n && err == nil; i = int(next.Add(1)) - 1 {
				if err = ctx.Err(); err == nil {
					err = do(ctx, r, i)
				}
			}
			err = errors.Join(err, r.Close())
			stats[w] = r.Stats()
			return err
		})
	}
	return stats, g.Wait()
}

// Dataset verifies the shards in a directory with these names; nil: all shards in it. If want is not nil it lists all
// shards of the dataset: a missing shard, a shard that is not listed and a symbolic link in place of a shard are
// problems too. If want and opts.Fetch are nil, Dataset follows symbolic links, as readers of shards do.
func Dataset(ctx context.Context, dir string, names []string, want []Expect, opts Options) (report *Report, err error) {
	if names == nil {
		if names, err = shards(dir); err != nil {
			return nil, err
		}
	}
	expected := make(map[string]*Expect, len(want))
	for i := range want {
		expected[want[i].Name] = &want[i]
	}
	var targets []Target
	problems := []Problem{}
	var root *os.Root
	if want != nil || opts.Fetch != nil {
		if root, err = os.OpenRoot(dir); err != nil {
			return nil, err
		}
		defer root.Close()
	}
	for _, name := range names {
		shard, listed := expected[name]
		delete(expected, name)
		if listed && opts.Only != nil && !opts.Only(name) {
			if opts.Fetch == nil { // otherwise only fetched files exist here
				problems = append(problems, stat(root, shard)...)
			}
			continue
		}
		target := Target{Path: filepath.Join(dir, name), Want: shard}
		if root != nil {
			target.Root, target.Path = root, name
		}
		targets = append(targets, target)
		if !listed && want != nil {
			problems = append(problems, NewProblem(filepath.Join(dir, name), name, Extra, errors.New("the dataset has no shard of this name, but readers will read it")))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(expected)) {
		problems = append(problems, NewProblem(filepath.Join(dir, name), name, Missing, errShardMissing))
	}
	if report, err = Files(ctx, targets, opts); err != nil {
		return nil, err
	}
	report.CrossChecked = want != nil
	report.Problems = append(problems, report.Problems...)
	return report, nil
}

// stat returns the problem of a shard that is not a regular file of its size.
func stat(root *os.Root, want *Expect) []Problem {
	res := Result{Shard: want.Name, Path: filepath.Join(root.Name(), want.Name)}
	st, err := root.Lstat(want.Name)
	switch {
	case err != nil:
		res.unreadable(err)
	case !st.Mode().IsRegular():
		res.fault(Changed, errNotAFile)
	default:
		res.compare(st.Size(), want)
	}
	return res.Problems
}

// shards returns the names in dir that end in [record.Ext], sorted as strings. Readers take every
// such file for a shard.
func shards(dir string) ([]string, error) {
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

// Options control a verification. The zero value reads with Linux AIO where the system has it.
type Options struct {
	AIO     aio.Options    // Depth is the queue depth of all workers together, 0 means DefaultDepth
	Workers int            // shards read at once; 0 means half the CPUs, at most 4, or with SHA256 all, at most 16
	Record  record.Options // limits on a shard
	SHA256  bool           // compute the SHA-256 of each file; it takes as long as reading from a fast device

	// Only, if not nil, selects the shards of want that Dataset reads; for the others it compares names and sizes.
	Only func(shard string) bool

	// Summed, if not nil, is called with the SHA-256 of each file without problems, from one goroutine at a time.
	Summed func(name, sum string)

	// Fetch, if not nil, is called before a file is read, and makes it available at its path; done is called after the
	// read. If the file does not exist in the store, the error matches fs.ErrNotExist. name is that of the Target or the
	// Sum. Files and Sums call Fetch concurrently, and at most twice again for a file that has a problem, because the
	// transfer may have failed and the stored file be sound.
	Fetch func(ctx context.Context, name string) (done func(), err error)

	// Progress, if not nil, is called with the samples and bytes that have been checked since
	// the last call. Files calls it from several goroutines at once, Sums from one at a time.
	Progress func(samples, bytes int64)
}

// DefaultDepth is the default number of reads in flight, all workers together.
const DefaultDepth = 32

// Share returns the options of one worker, so that all workers together keep at most o.Depth
// reads in flight, or DefaultDepth if that is 0. Each worker keeps at least one.
func Share(o aio.Options, workers int) aio.Options {
	o.Depth = max(1, cmp.Or(o.Depth, DefaultDepth)/workers)
	return o
}
