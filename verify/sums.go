package verify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ffconvert/ffconvert/aio"
)

// A Sum is the expected size and checksum of a file that is not a shard.
type Sum struct {
	Name   string // path below the dataset's directory, with slashes
	Bytes  int64
	CRC    uint32 // CRC-32 (IEEE, as in zlib) of all bytes of the file
	SHA256 string // hexadecimal, compared if Options.SHA256 is set; "": not known
}

// Sums verifies files of a dataset that are not shards. Its report has their problems, in the order of want, and counts
// no samples or bytes. opts.Workers files are read at once; 0 means one. A symbolic link in place of a file or of its
// directory is a problem; it is not followed. Progress is called with bytes and never with samples. An error means that
// the verification itself failed.
func Sums(ctx context.Context, root *os.Root, want []Sum, opts Options) (*Report, error) {
	report := &Report{CrossChecked: true}
	want = belowDirectories(root, want, report)
	workers := max(1, min(opts.Workers, len(want)))
	found := make(map[int]*Result) // results with problems
	var mu sync.Mutex
	_, err := forEach(ctx, len(want), workers, Share(opts.AIO, workers), func(ctx context.Context, r *aio.Reader, i int) error {
		none := Result{Shard: want[i].Name, Path: filepath.Join(root.Name(), filepath.FromSlash(want[i].Name))}
		res, err := opts.fetched(ctx, want[i].Name, none, func(opts Options) (Result, error) { return SumFile(ctx, r, root, want[i], opts) })
		mu.Lock()
		defer mu.Unlock()
		if err = cmp.Or(err, ctx.Err()); err != nil { // or ctx ended during the read
			return err
		}
		if opts.Summed != nil && res.SHA256 != "" {
			opts.Summed(res.Shard, res.SHA256)
		}
		if len(res.Problems) > 0 {
			found[i] = &res
		} else {
			report.addOther(&res)
		}
		if opts.Progress != nil {
			opts.Progress(0, res.Bytes)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, i := range slices.Sorted(maps.Keys(found)) {
		report.addOther(found[i])
	}
	return report, nil
}

// belowDirectories returns want without the files below a path that exists and is not a directory, for
// example a link to one. Each such path is one problem in report.
func belowDirectories(root *os.Root, want []Sum, report *Report) (below []Sum) {
	linked := make(map[string]bool)
	for _, s := range want {
		dir := path.Dir(s.Name)
		if _, known := linked[dir]; !known {
			st, err := root.Lstat(dir)
			if linked[dir] = err == nil && !st.IsDir(); linked[dir] {
				err := errors.New("not a directory: remove it, and repair")
				report.Problems = append(report.Problems, NewProblem(filepath.Join(root.Name(), dir), dir, Changed, err))
			}
		}
		if !linked[dir] {
			below = append(below, s)
		}
	}
	return below
}

// SumFile verifies one file that is not a shard, as [File] verifies a shard. The caller owns r. SumFile uses
// only opts.SHA256.
func SumFile(ctx context.Context, r *aio.Reader, root *os.Root, want Sum, opts Options) (Result, error) {
	return twice(func() (Result, error) { return want.scan(ctx, r, root, opts) })
}

// scan reads the file once, from its first byte to its last, and compares it with s.
func (s Sum) scan(ctx context.Context, r *aio.Reader, root *os.Root, opts Options) (Result, error) {
	name := filepath.FromSlash(s.Name)
	res := Result{Shard: s.Name, Path: filepath.Join(root.Name(), name)}
	problem := func(kind Kind, err error) (Result, error) {
		res.fault(kind, err)
		return res, ctx.Err()
	}
	f, err := aio.OpenIn(root, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return problem(Missing, errFileMissing)
	case err != nil && replaced(root, name):
		return problem(Changed, errNotAFile)
	case err != nil:
		return problem(Unreadable, err)
	}
	defer f.Close()
	if f.Size() != s.Bytes {
		return problem(Resized, fmt.Errorf("it has %d bytes, the dataset's file has %d", f.Size(), s.Bytes))
	}
	res.From = f.Uncache()
	crc, sum := uint32(0), sha256.New()
	for block, err := range r.Sweep(ctx, f, 0, f.Size()) {
		if err != nil {
			return problem(Unreadable, err)
		}
		res.Bytes += int64(len(block))
		crc = crc32.Update(crc, crc32.IEEETable, block)
		if opts.SHA256 {
			sum.Write(block)
		}
	}
	if crc != s.CRC {
		return problem(Changed, fmt.Errorf("its checksum is %08x, the dataset's file has %08x", crc, s.CRC))
	}
	res.sum(opts, sum, s.SHA256)
	return res, ctx.Err()
}
