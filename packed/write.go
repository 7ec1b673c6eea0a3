package packed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/ffconvert/ffconvert/internal/direct"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/verify"
)

// Totals counts the content of a folder.
type Totals struct {
	Files int64 `json:"files"`
	Dirs  int64 `json:"dirs"`  // without the folder itself
	Bytes int64 `json:"bytes"` // of all files
}

// A Report describes a packed folder.
type Report struct {
	Totals
	Shard  record.FileInfo // of the packed file
	Verify *verify.Report  // of re-reading the packed file
}

// Write packs the folder dir into file. The name of file must end in .ffr, and file must not be within dir. The file
// gets its name when it is complete, synced and verified by reading it again; after an error it does not exist, or is
// the old one with Overwrite. A process that is killed leaves a hidden .ffconvert-*.tmp next to it. Memory: the largest
// file, and a few hundred bytes for each file.
//
// Write follows symbolic links and packs their targets. It refuses a link to one of its parent directories, sockets,
// FIFOs, devices, and names that are not UTF-8. A file that changes after the folder was listed is an error, too.
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

// checkTarget returns an error if file cannot become the packed file.
func checkTarget(dir, file string, overwrite bool) error {
	refuse := func(err error, hint string) error {
		at := &place.Error{Where: file, Off: -1, Err: err, Hint: hint}
		if errors.Is(err, fs.ErrExist) {
			at.Kind = place.Usage
		}
		return at
	}
	if !strings.HasSuffix(file, record.Ext) {
		return refuse(fmt.Errorf("%w: the name of a packed folder ends in %s", errUnsupported, record.Ext), "")
	}
	if inside, err := contains(dir, filepath.Dir(file)); err != nil {
		return err
	} else if inside {
		return refuse(fmt.Errorf("%w: it would be within the folder to pack", errUnsupported), "")
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
		return refuse(fs.ErrExist, "option overwrite replaces it")
	}
	return nil
}

// contains reports whether the directory sub is dir or is below dir.
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

// writeBlocks is the number of blocks that a file is written from: one more than the record.Writer fills,
// which is being written.
const writeBlocks = record.WriterBuffers + 1

// write writes the file under a temporary name next to it, syncs it, reads it again and renames it.
func (s *source) write(ctx context.Context, file string, opts WriteOptions) (Report, error) {
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return Report{}, fmt.Errorf("open directory of %s: %w", file, err)
	}
	defer root.Close()
	f, err := files.Create(root, temporary())
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
	if err := cmp.Or(finish(filepath.Base(file)), files.SyncDir(root, ".")); err != nil {
		return Report{}, fmt.Errorf("name %s: %w", file, err)
	}
	return report, nil
}

// fill writes all samples.
func (s *source) fill(ctx context.Context, f *os.File, progress Progress) (sum record.FileInfo, err error) {
	names := appendNames(nil, s.names)
	if most := max(s.opts.maxFile(), DefaultMaxFile); int64(len(names)) > most {
		err := fmt.Errorf("sample %d: %w: the names of the files have %d bytes, a sample has at most %d", s.total.Files, errLimit, len(names), most)
		return sum, &place.Error{Where: s.dir, Off: -1, Err: err, Hint: "option max-file-size raises the limit"}
	}
	if err := direct.Reserve(f, record.FileSize(s.total.Files+1, s.total.Bytes+int64(len(names)))); err != nil {
		return sum, err
	}
	blocks, err := direct.NewBlocks(writeBlocks)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, blocks.Free()) }()
	out := direct.NewWriter(f, blocks.Empty)
	defer out.Close()
	w, err := record.NewWriter(out, s.total.Files+1)
	if err != nil {
		return sum, err
	}
	if err := s.append(ctx, w, progress); err != nil {
		return sum, err
	}
	if _, err := w.Append(names); err != nil {
		return sum, err
	}
	if sum, err = w.Close(); err == nil {
		err = out.Close()
	}
	return sum, err
}

// append appends all files, which are read ahead.
func (s *source) append(ctx context.Context, w *record.Writer, progress Progress) error {
	progress.Start("pack", s.total.Bytes)
	ahead := files.ReadAhead(s, 0, len(s.files), nil)
	defer ahead.Stop()
	for i := range s.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := ahead.Next(i)
		if err != nil {
			return err
		}
		data = data[:s.files[i].size]
		if _, err := w.Append(data); err != nil {
			return err
		}
		progress.Add(1, int64(len(data)))
	}
	return nil
}

// reread verifies the synced file by reading it from its start to its end.
func reread(ctx context.Context, path string, sum record.FileInfo, opts WriteOptions) (*verify.Report, error) {
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
