package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/verify"
)

func openTarget(ctx context.Context, to string, opts Options) (target, error) {
	if isURL(to) {
		return openBucket(ctx, to, opts)
	}
	if err := dataset.CheckDir(to); err != nil {
		return nil, err
	}
	out, err := dataset.Open(to)
	if err != nil {
		return nil, err
	}
	t := &toDirectory{out: out.Dir, readers: make(chan *aio.Reader, opts.Workers)}
	for range opts.Workers {
		r, err := aio.NewReader(verify.Share(opts.AIO, opts.Workers))
		if err != nil {
			return nil, errors.Join(err, t.close())
		}
		t.readers <- r
	}
	return t, nil
}

// A toDirectory is a directory that receives a dataset. Its lock keeps other processes out.
type toDirectory struct {
	out     *dataset.Dir
	readers chan *aio.Reader // one each worker
	is      state
}

func (t *toDirectory) name() string { return t.out.Path("") }

func (t *toDirectory) close() error {
	var errs []error
	for len(t.readers) > 0 {
		errs = append(errs, (<-t.readers).Close())
	}
	return errors.Join(append(errs, t.out.Close())...)
}

// text reads a small file; nil: there is none.
func (t *toDirectory) text(name string) ([]byte, error) {
	text, err := t.out.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

func (t *toDirectory) look(_ context.Context, j *job) (state, error) {
	if err := t.out.RemoveStale(); err != nil {
		return 0, err
	}
	manifest, err := t.text(dataset.ManifestName)
	if err != nil {
		return 0, err
	}
	mark, err := t.text(dataset.CopyName)
	if err != nil {
		return 0, err
	}
	names, err := t.names()
	if err != nil {
		return 0, err
	}
	t.is, err = j.judge(t.name(), manifest, mark, names)
	return t.is, err
}

// judge says what a destination is, by its manifest, its mark, and the names of its files.
func (j *job) judge(where string, manifest, mark []byte, names []string) (state, error) {
	ours := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == dataset.LockName })
	is := isOther
	switch {
	case manifest != nil && j.same(manifest):
		is = isWhole
	case manifest == nil && string(bytes.TrimSpace(mark)) == j.mark:
		is = isBegun
	case manifest == nil && mark == nil && len(ours) == 0:
		return isEmpty, nil
	case !j.opts.Overwrite:
		return 0, occupied(where)
	}
	mine := j.named()
	for _, name := range ours {
		if isShard(name) && !mine[name] && (is != isOther || !isOurs(name)) {
			return 0, fmt.Errorf("%s: %w: %s is of no dataset that is known; move it away", where, dataset.ErrOccupied, name)
		}
	}
	return is, nil
}

// names returns the names of files that belong to datasets.
func (t *toDirectory) names() (names []string, err error) {
	for _, dir := range []string{".", dataset.IndexDir, dataset.WorkDir} {
		d, err := t.out.Root.Open(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		entries, err := d.ReadDir(-1)
		if err := errors.Join(err, d.Close()); err != nil {
			return nil, err
		}
		for _, e := range entries {
			if name := path.Join(dir, e.Name()); !e.IsDir() && (isOurs(name) || isShard(name)) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

func (t *toDirectory) begin(_ context.Context, j *job) error {
	for _, name := range []string{dataset.SignatureName, dataset.ManifestName} {
		if err := t.out.Remove(name); err != nil {
			return err
		}
	}
	if err := atomicfile.SyncDir(t.out.Root, "."); err != nil {
		return err
	}
	if err := t.out.Mkdir(dataset.IndexDir); err != nil {
		return err
	}
	return t.out.WriteFile(dataset.CopyName, []byte(j.mark+"\n"))
}

func (t *toDirectory) has(ctx context.Context, _ *job, f *file) (bool, error) {
	st, err := t.out.Lookup(f.name)
	if err == nil && st != nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w: not a regular file; remove it", t.out.Path(f.name), converters.ErrUnsupported)
	}
	if err != nil || st == nil || st.Size() != f.bytes {
		return false, err
	}
	res, err := t.read(ctx, f, f.name)
	return err == nil && len(res.Problems) == 0, err
}

// read reads a file again, whatever its name.
func (t *toDirectory) read(ctx context.Context, f *file, name string) (verify.Result, error) {
	r := <-t.readers
	defer func() { t.readers <- r }()
	if s := f.shard; s != nil {
		want := verify.Expect{Name: s.Name, Samples: s.Samples, Bytes: s.Bytes, HeaderCRC: s.HeaderCRC}
		return verify.File(ctx, r, verify.Target{Path: name, Root: t.out.Root, Want: &want}, verify.Options{})
	}
	return verify.SumFile(ctx, r, t.out.Root, verify.Sum{Name: name, Bytes: f.sum.Bytes, CRC: f.sum.CRC}, verify.Options{})
}

func (t *toDirectory) put(ctx context.Context, j *job, f *file) error {
	tmp := t.out.Temp(f.name)
	if err := t.out.Mkdir(path.Dir(tmp)); err != nil {
		return err
	}
	w, err := atomicfile.Create(t.out.Root, tmp)
	if err != nil {
		return err
	}
	defer w.Discard()
	if err := j.from.into(ctx, f.name, f.bytes, w, j.opts.Progress); err != nil {
		return f.lost(j.from.name(), err)
	}
	if err := w.Sync(); err != nil {
		return err
	}
	res, err := t.read(ctx, f, tmp)
	if err != nil {
		return err
	}
	switch {
	case len(res.Problems) == 0:
		return w.Replace(f.name)
	case res.Problems[0].Kind == verify.Unreadable:
		return res.Err()
	default:
		return f.wrong(j.from.name(), fmt.Errorf("%w: %s", ErrSource, res.Problems[0].Text))
	}
}

func (t *toDirectory) save(_ context.Context, name string, text []byte) (bool, error) {
	there, err := t.text(name)
	if err != nil || (text == nil) == (there == nil) && bytes.Equal(text, there) {
		return false, err
	}
	if text == nil {
		return true, t.out.Remove(name)
	}
	return true, t.out.WriteFile(name, text)
}

func (t *toDirectory) finish(ctx context.Context, j *job) error {
	if t.is == isOther {
		if err := t.clear(j); err != nil {
			return err
		}
	}
	if err := t.out.Here(nil); err != nil {
		return err
	}
	if err := j.save(ctx, dataset.SignatureName, j.sign); err != nil {
		return err
	}
	if err := j.save(ctx, dataset.ManifestName, j.text); err != nil {
		return err
	}
	if err := t.out.Root.RemoveAll(dataset.TmpDir); err != nil {
		return err
	}
	return errors.Join(t.out.Remove(dataset.CopyName), t.out.Here(nil))
}

// clear removes what is of the dataset before.
func (t *toDirectory) clear(j *job) error {
	names, err := t.names()
	if err != nil {
		return err
	}
	mine := j.named()
	for _, name := range names {
		if !mine[name] && !slices.Contains(beside, name) && name != dataset.LockName && name != dataset.CopyName {
			if err := t.out.Remove(name); err != nil {
				return err
			}
		}
	}
	for _, dir := range []string{dataset.JournalsDir, dataset.RunningDir, dataset.IndexedDir} {
		if err := t.out.Root.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}
