package verify

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
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
// what is wrong with them. An error says that the work could not be done at all.
func Sums(ctx context.Context, dir string, want []Sum, opts Options) (problems []Problem, err error) {
	r, err := aio.NewReader(opts.AIO)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for _, s := range want {
		p, err := s.check(ctx, r, dir)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		again, err := s.check(ctx, r, dir)
		if err != nil {
			return nil, err
		}
		p.Transient = again == nil || !p.same(*again)
		problems = append(problems, *p)
	}
	return problems, nil
}

// check reads a file once, and returns how it differs.
func (s Sum) check(ctx context.Context, r *aio.Reader, dir string) (*Problem, error) {
	path := filepath.Join(dir, filepath.FromSlash(s.Name))
	problem := func(kind Kind, err error, format string, args ...any) (*Problem, error) {
		return &Problem{Shard: s.Name, Path: path, Kind: kind, Sample: -1, Offset: -1, Text: fmt.Sprintf(format, args...), err: err}, ctx.Err()
	}
	f, err := r.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return problem(Missing, err, "the file is missing")
	}
	if err != nil {
		return problem(Unreadable, err, "%v", err)
	}
	defer f.Close()
	if f.Size() != s.Bytes {
		return problem(Resized, nil, "it has %d bytes, the dataset's file has %d", f.Size(), s.Bytes)
	}
	crc := uint32(0)
	for block, err := range r.Sweep(ctx, f, 0, f.Size()) {
		if err != nil {
			return problem(Unreadable, err, "%v", err)
		}
		crc = crc32.Update(crc, crc32.IEEETable, block)
	}
	if crc != s.CRC {
		return problem(Changed, nil, "its checksum is %08x, the dataset's file has %08x", crc, s.CRC)
	}
	return nil, ctx.Err()
}
