package packed

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/internal/direct"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/verify"
)

// Extract writes the folder to the directory dst. dst must be empty or not exist, and its parent
// must exist. Files get mode 0644 and directories 0755, less the umask. Extract checks the CRC of
// each file before it creates the file, syncs all files, reads them again and compares their CRCs.
// from is where the files were read from that second time. Memory: the largest file.
//
// If dst did not exist, it appears when all files are written, synced and verified. If dst was empty, all files are
// moved into it at that time, from a hidden directory .ffconvert-*.tmp within dst. After an error Extract removes all
// that it has created. It never overwrites anything and never writes outside dst.
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
	if err := direct.SyncTree(s.root); err != nil {
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

// rereaders is the number of files re-read at once. Reading a small file is mostly waiting.
const rereaders = 4

// compare re-reads the synced files below root and compares them with the CRCs of the folder.
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
	report, err := verify.Sums(ctx, root, want, how)
	if err != nil {
		return "", err
	}
	return report.From, report.Err()
}

// fill creates all directories and files below root. dst is for errors.
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
			return &place.Error{Where: dst, Off: -1, Entry: name, Err: cause(err)}
		}
	}
	return nil
}

// writeNew creates a file, which must not exist.
func writeNew(root *os.Root, name string, data []byte) error {
	f, err := files.Blocking(root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644))
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
