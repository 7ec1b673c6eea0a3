package verify

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
)

// File verifies one file. The caller owns r, which must not be in use elsewhere. An error means
// that ctx ended or that r cannot be used any longer; defects of the file are in the result.
func File(ctx context.Context, r *aio.Reader, t Target, opts Options) (Result, error) {
	return opts.fetched(ctx, filepath.ToSlash(t.Path), t.result(), func(opts Options) (Result, error) {
		return twice(func() (Result, error) {
			res, err := scan(ctx, r, t, opts)
			opts.Progress = nil // a second scan reads the same bytes again
			return res, err
		})
	})
}

// fetched calls read for a file, after fetching the file if opts have Fetch. If there are problems, or the store
// reports the file missing, it repeats both, at most twice, because the transfer may have failed and the stored file be
// sound. It returns the last result; none is the result for a file that cannot be fetched.
func (o Options) fetched(ctx context.Context, name string, none Result, read func(Options) (Result, error)) (res Result, err error) {
	if o.Fetch == nil {
		return read(o)
	}
	for try := range 3 {
		done, fault := o.Fetch(ctx, name)
		if place.KindOf(fault) == place.Usage { // no room for it, hence for no other file
			return Result{}, fault
		}
		if fault == nil {
			res, err = read(o)
			done()
		} else {
			res, err = none, ctx.Err()
			res.unreadable(fault)
		}
		if err != nil || len(res.Problems) == 0 {
			res.Refetched = try > 0
			return res, err
		}
		o.Progress = nil // the same bytes again
	}
	return res, nil
}

// twice scans a file, and scans it again if the first scan finds problems. If the second scan finds none, the problems
// are transient: the transfer failed, not the data on the device. Otherwise the result has the problems of both scans.
func twice(scan func() (Result, error)) (Result, error) {
	res, err := scan()
	if err != nil || len(res.Problems) == 0 {
		return res, err
	}
	try, err := scan()
	if err != nil {
		return res, err
	}
	res.From = res.From.And(try.From)
	if len(try.Problems) == 0 {
		for i := range res.Problems {
			res.Problems[i].Transient = true
		}
		return res, nil
	}
	first := res.Problems
	for _, p := range try.Problems {
		if !slices.ContainsFunc(first, p.same) {
			res.problem(p)
		}
	}
	return res, nil
}

// scan reads a shard once, from its first byte to its last.
func scan(ctx context.Context, r *aio.Reader, t Target, opts Options) (Result, error) {
	res := t.result()
	f, err := t.open()
	if err != nil {
		if t.Root != nil && replaced(t.Root, t.Path) {
			res.fault(Changed, errNotAFile)
		} else {
			res.unreadable(err)
		}
		return res, ctx.Err()
	}
	defer f.Close()
	res.From = f.Uncache()
	s := record.NewScanner("", f.Size(), opts.Record)
	s.Problem = res.format
	sum := sha256.New()
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
			break // the scanner has passed it to res.format
		}
		if opts.SHA256 {
			sum.Write(block)
		}
	}
	res.Summary, _ = s.Close() // the scanner has passed its error to res.format
	want := ""
	if t.Want != nil {
		res.compare(f.Size(), t.Want)
		want = t.Want.SHA256
	}
	res.sum(opts, sum, want)
	return res, ctx.Err()
}

// errNotAFile is the problem of a path that should be a regular file and is, for example, a link.
var errNotAFile = errors.New("not a regular file: remove it, and repair")

// replaced reports whether the name exists and is not a regular file.
func replaced(root *os.Root, name string) bool {
	st, err := root.Lstat(name)
	return err == nil && !st.Mode().IsRegular()
}

// unreadable adds the problem of a shard that cannot be read.
func (res *Result) unreadable(err error) {
	if errors.Is(err, fs.ErrNotExist) {
		err = errShardMissing
		if filepath.Ext(res.Shard) != record.Ext {
			err = errFileMissing
		}
		res.fault(Missing, err)
		return
	}
	kind := Unreadable
	if place.KindOf(err) == place.Corrupt { // the fetch has compared a checksum
		kind = Changed
	}
	res.fault(kind, err)
}

var (
	errShardMissing = errors.New("the shard is missing")
	errFileMissing  = errors.New("the file is missing")
)

// compare adds a problem for each difference between the shard and its Expect.
func (res *Result) compare(size int64, want *Expect) {
	if size != want.Bytes {
		res.fault(Resized, fmt.Errorf("it has %d bytes, the dataset's shard has %d", size, want.Bytes))
	}
	if res.Summary.Size == 0 {
		return // no header to compare
	}
	if res.Summary.Samples != want.Samples {
		res.fault(Changed, fmt.Errorf("it has %d samples, the dataset's shard has %d", res.Summary.Samples, want.Samples))
	}
	if res.Summary.HeaderCRC != want.HeaderCRC {
		res.fault(Changed, fmt.Errorf("its header checksum is %08x, the dataset's shard has %08x", res.Summary.HeaderCRC, want.HeaderCRC))
	}
}
