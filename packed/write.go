package packed

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/verify"
)

// DefaultMaxFile is the largest file in bytes that is packed unless told otherwise. A file
// is held in memory whole, by readers too.
const DefaultMaxFile = 1 << 30

// WriteOptions say how to pack. The zero value is good.
type WriteOptions struct {
	// Overwrite replaces a file of that name, once the new one is sound. Default: an error.
	Overwrite bool

	// FollowOutside follows symbolic links that are absolute or lead out of the folder.
	// Default: they are an error. Links within the folder are always followed.
	FollowOutside bool

	// MaxFile is the largest file in bytes. Default: DefaultMaxFile.
	MaxFile int64

	// MaxFiles is the most files, and the most directories. Default, and most: what one
	// shard can hold, record.MaxSamples - 1.
	MaxFiles int64

	// AIO says how the finished file is re-read.
	AIO aio.Options

	// Progress, if not nil, is told of files and bytes as they are done.
	Progress Progress
}

func (o WriteOptions) maxFile() int64 {
	if o.MaxFile > 0 {
		return min(o.MaxFile, math.MaxInt-1)
	}
	return DefaultMaxFile
}

func (o WriteOptions) maxFiles() int64 {
	if o.MaxFiles > 0 {
		return min(o.MaxFiles, mostFiles)
	}
	return mostFiles
}

// mostFiles is how many samples a shard has beside that of the names.
const mostFiles = record.MaxSamples - 1

// Totals count what is in a folder.
type Totals struct {
	Files int64 `json:"files"`
	Dirs  int64 `json:"dirs"`  // without the folder itself
	Bytes int64 `json:"bytes"` // of all files
}

// A Report says what was packed.
type Report struct {
	Totals
	Shard  record.Summary // of the file that was written
	Verify *verify.Report // how it was re-read
}

// Write packs the folder dir into file, whose name must end in .ffr and which must not lie
// in the folder. The file has its name only when it is complete, synced, and was re-read
// and found sound; after an error there is nothing. A process that is
// killed leaves a hidden .ffconvert-*.tmp beside it. Memory: the largest file, and some
// hundred bytes for each file.
//
// Symbolic links are packed as what they lead to; a link to a directory that it is in is
// refused, and so are sockets, FIFOs, devices, and names that are not UTF-8. A file that is
// not what it was when the folder was listed is [ErrChanged].
func Write(ctx context.Context, dir, file string, opts WriteOptions) (Report, error) {
	if opts.Progress == nil {
		opts.Progress = silent{}
	}
	if err := checkTarget(dir, file, opts.Overwrite); err != nil {
		return Report{}, err
	}
	src, err := openSource(dir, opts)
	if err != nil {
		return Report{}, err
	}
	defer src.close()
	if err := src.scan(ctx); err != nil {
		return Report{}, err
	}
	return src.write(ctx, file, opts)
}

// checkTarget refuses a file that cannot become the packed one.
func checkTarget(dir, file string, overwrite bool) error {
	refuse := func(err error, hint string) error {
		return &Error{Path: file, Sample: -1, Err: err, Hint: hint}
	}
	if !strings.HasSuffix(file, record.Ext) {
		return refuse(fmt.Errorf("%w: the name of a packed folder ends in %s", ErrUnsupported, record.Ext), "")
	}
	if inside, err := contains(dir, filepath.Dir(file)); err != nil {
		return err
	} else if inside {
		return refuse(fmt.Errorf("%w: it would lie in the folder that is packed", ErrUnsupported), "")
	}
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return refuse(fmt.Errorf("%w: it is a directory", fs.ErrExist), "")
	case !overwrite:
		return refuse(fs.ErrExist, "--overwrite replaces it")
	}
	return nil
}

// contains says whether the directory dir is, or has below it, the directory sub.
func contains(dir, sub string) (bool, error) {
	var full [2]string
	for i, name := range []string{dir, sub} {
		abs, err := filepath.Abs(name)
		if err != nil {
			return false, err
		}
		if full[i], err = filepath.EvalSymlinks(abs); err != nil {
			return false, err
		}
	}
	rel, err := filepath.Rel(full[0], full[1])
	return err == nil && filepath.IsLocal(rel), nil // an error: on another volume
}

// write makes the file: under a temporary name beside it, synced, re-read, renamed.
func (s *source) write(ctx context.Context, file string, opts WriteOptions) (Report, error) {
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return Report{}, fmt.Errorf("open directory of %s: %w", file, err)
	}
	defer root.Close()
	f, err := atomicfile.Create(root, temporary())
	if err != nil {
		return Report{}, fmt.Errorf("create file beside %s: %w", file, err)
	}
	defer f.Discard()
	report := Report{Totals: s.total}
	if report.Shard, err = s.fill(ctx, f.File, opts.Progress); err != nil {
		return Report{}, err
	}
	if err := f.Sync(); err != nil {
		return Report{}, fmt.Errorf("sync %s: %w", file, err)
	}
	if report.Verify, err = reread(ctx, f.Name(), report.Shard, opts); err != nil {
		return Report{}, fmt.Errorf("verify %s: %w", file, err)
	}
	finish := f.Commit
	if opts.Overwrite {
		finish = f.Replace
	}
	if err := finish(filepath.Base(file)); err != nil {
		return Report{}, fmt.Errorf("name %s: %w", file, err)
	}
	return report, nil
}

// temporary is a new name for what is not finished.
func temporary() string { return ".ffconvert-" + rand.Text() + ".tmp" }

// fill writes the samples.
func (s *source) fill(ctx context.Context, f *os.File, progress Progress) (record.Summary, error) {
	var largest int64
	for _, st := range s.files {
		largest = max(largest, st.size)
	}
	w, err := record.NewWriter(f, s.total.Files+1)
	if err != nil {
		return record.Summary{}, err
	}
	progress.Start("pack", s.total.Bytes)
	buf := make([]byte, largest+1) // maxFile bounds it
	for name, it := range walk(s.names, ".") {
		if it.Dict != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return record.Summary{}, err
		}
		data, err := s.read(it.Int, name, buf)
		if err != nil {
			return record.Summary{}, err
		}
		if _, err := w.Append(data); err != nil {
			return record.Summary{}, err
		}
		progress.Add(1, int64(len(data)))
	}
	names := appendNames(nil, s.names)
	if most := max(s.opts.maxFile(), DefaultMaxFile); int64(len(names)) > most {
		err := fmt.Errorf("%w: the names of the files have %d bytes, and a sample may have %d", ErrLimit, len(names), most)
		return record.Summary{}, &Error{Path: s.dir, Sample: s.total.Files, Err: err, Hint: "--max-file-size raises the limit"}
	}
	if _, err := w.Append(names); err != nil {
		return record.Summary{}, err
	}
	return w.Close()
}

// reread verifies the synced file.
func reread(ctx context.Context, path string, sum record.Summary, opts WriteOptions) (*verify.Report, error) {
	opts.Progress.Start("verify", sum.Size)
	target := verify.Target{Path: path, Want: &verify.Expect{
		Name: filepath.Base(path), Samples: sum.Samples, Bytes: sum.Size, HeaderCRC: sum.HeaderCRC,
	}}
	report, err := verify.Files(ctx, []verify.Target{target}, verify.Options{AIO: opts.AIO, Workers: 1, Progress: opts.Progress.Add})
	if err != nil {
		return nil, err
	}
	return report, report.Err()
}
