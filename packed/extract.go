package packed

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/internal/blocking"
	"github.com/ffconvert/ffconvert/verify"
)

// ExtractOptions say how to unpack. The zero value is good.
type ExtractOptions struct {
	AIO aio.Options // how files are re-read; Depth is of all workers together

	// Progress, if not nil, is told of files and bytes as they are done.
	Progress Progress
}

// Extract makes the directory dst of the folder. It must not exist, or be empty; the
// directory that it is in must be there. Files get mode 0644, directories 0755, less the
// umask. Each file is held whole, and its CRC is checked before it is made; all are synced, re-read
// and compared with their CRCs, and from says where that read them from.
//
// A directory that did not exist has its name only when all of it is written and synced.
// One that was empty holds nothing but a hidden .ffconvert-*.tmp until then, out of which
// everything is moved at the end. After an error all is gone again. Nothing is ever
// overwritten, and no name can lead out of dst.
func (f *Folder) Extract(ctx context.Context, dst string, opts ExtractOptions) (from aio.Origin, err error) {
	if opts.Progress == nil {
		opts.Progress = silent{}
	}
	s, err := newStaging(dst)
	if err != nil {
		return "", err
	}
	defer s.discard()
	if err := f.fill(ctx, s.root, dst, opts.Progress); err != nil {
		return "", err
	}
	if err := syncTree(s.root); err != nil {
		return "", fmt.Errorf("sync %s: %w", dst, err)
	}
	if from, err = f.compare(ctx, s.root, opts); err != nil {
		return "", fmt.Errorf("verify %s: %w", dst, err)
	}
	if err := s.commit(); err != nil {
		return "", fmt.Errorf("finish %s: %w", dst, err)
	}
	return from, nil
}

// rereaders is how many files are re-read at once: the time of a small one is the wait for it.
const rereaders = 4

// compare re-reads the files of the folder, which were synced below root.
func (f *Folder) compare(ctx context.Context, root *os.Root, opts ExtractOptions) (aio.Origin, error) {
	var want []verify.Sum
	for name, it := range walk(f.root, ".") {
		if it.Dict != nil {
			continue
		}
		_, e, err := f.r.Extent(int(it.Int))
		if err != nil {
			return "", err
		}
		want = append(want, verify.Sum{Name: name, Bytes: e.Size, CRC: e.CRC})
	}
	opts.Progress.Start("verify", f.total.Bytes)
	how := verify.Options{AIO: opts.AIO, Workers: rereaders, Progress: opts.Progress.Add}
	problems, from, err := verify.Sums(ctx, root, want, how)
	if err != nil {
		return "", err
	}
	report := verify.Report{Problems: problems}
	return from, report.Err()
}

// fill makes all directories and files.
func (f *Folder) fill(ctx context.Context, root *os.Root, dst string, progress Progress) error {
	progress.Start("unpack", f.total.Bytes)
	var buf []byte
	for name, it := range walk(f.root, ".") {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := f.entry(name, it)
		var err error
		if e.IsDir() {
			err = root.Mkdir(name, 0o755)
		} else if buf, err = f.read(name, e.Sample, buf); err != nil {
			return err
		} else if err = writeNew(root, name, buf); err == nil {
			progress.Add(1, e.Size())
		}
		if err != nil {
			return &Error{Path: dst, Sample: e.Sample, Name: name, Err: cause(err)}
		}
	}
	return nil
}

// writeNew makes a file that must not exist.
func writeNew(root *os.Root, name string, data []byte) error {
	f, err := blocking.File(root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644))
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
