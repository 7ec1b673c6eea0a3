package verify

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/aio"
)

// A Sum is what is known beforehand of a file that is no shard.
type Sum struct {
	Name  string // below the dataset's directory, with slashes
	Bytes int64
	CRC   uint32 // CRC-32 of all its bytes, as zlib has it
}

// Sums verifies files of a dataset that are no shards, one after another, and returns
// what is wrong with them, a link in the place of a file among that, and where they were read from.
// An error says that the work could not be done at all.
func Sums(ctx context.Context, root *os.Root, want []Sum, opts Options) (problems []Problem, from aio.Origin, err error) {
	r, err := aio.NewReader(opts.AIO)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for _, s := range want {
		res, err := SumFile(ctx, r, root, s)
		if err != nil {
			return nil, "", err
		}
		problems, from = append(problems, res.Problems...), from.And(res.From)
	}
	return problems, from, nil
}

// SumFile verifies a file that is not a shard with a reader that the caller owns, as [File] does
// shards.
func SumFile(ctx context.Context, r *aio.Reader, root *os.Root, want Sum) (Result, error) {
	return twice(func() (Result, error) { return want.scan(ctx, r, root) })
}

// scan reads a file once, from its first byte to its last.
func (s Sum) scan(ctx context.Context, r *aio.Reader, root *os.Root) (Result, error) {
	name := filepath.FromSlash(s.Name)
	path := filepath.Join(root.Name(), name)
	res := Result{Shard: s.Name, Path: path}
	problem := func(kind Kind, err error, format string, args ...any) (Result, error) {
		res.problem(Problem{Kind: kind, Sample: -1, Offset: -1, Text: fmt.Sprintf(format, args...), err: err})
		return res, ctx.Err()
	}
	f, err := r.OpenIn(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return problem(Missing, err, "the file is missing")
	}
	if err != nil && replaced(root, name) {
		return problem(Changed, nil, notAFile)
	}
	if err != nil {
		return problem(Unreadable, err, "%v", err)
	}
	defer f.Close()
	if f.Size() != s.Bytes {
		return problem(Resized, nil, "it has %d bytes, the dataset's file has %d", f.Size(), s.Bytes)
	}
	res.From = f.Uncache()
	crc := uint32(0)
	for block, err := range r.Sweep(ctx, f, 0, f.Size()) {
		if err != nil {
			return problem(Unreadable, err, "%v", err)
		}
		res.Bytes += int64(len(block))
		crc = crc32.Update(crc, crc32.IEEETable, block)
	}
	if crc != s.CRC {
		return problem(Changed, nil, "its checksum is %08x, the dataset's file has %08x", crc, s.CRC)
	}
	return res, ctx.Err()
}
