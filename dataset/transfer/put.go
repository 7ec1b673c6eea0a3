package transfer

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/atomicfile"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/verify"
)

// has reports whether a file is there that is proven to be f.
func (t *target) has(ctx context.Context, j *job, f *file) (bool, error) {
	if t.own != nil {
		return t.own.has(ctx, f)
	}
	o, ok := t.Object(f.name)
	if !ok || o.Size != f.bytes {
		return false, nil
	}
	o, err := t.Stat(ctx, t.Base+f.name)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil || o.Size != f.bytes {
		return false, err
	}
	return t.holds(ctx, j, f, o)
}

// isMD5 matches the ETag of an object that was put whole, which is its MD5 on most services.
var isMD5 = regexp.MustCompile(`^[0-9a-f]{32}$`)

// holds compares checksums; the bytes, where the service has none or the source knows none of that kind.
func (t *target) holds(ctx context.Context, j *job, f *file, o store.Object) (bool, error) {
	sum, exact := o.Sum, true
	if sum.NewHash() == nil && isMD5.MatchString(o.Version) {
		sum, exact = store.Sum{Kind: "md5", Value: o.Version}, false
	}
	if sum.NewHash() != nil {
		mine, err := j.from.hash(ctx, f, sum)
		if err != nil {
			return false, f.lost(j.from.name, err)
		}
		if mine != "" && (exact || mine == sum.Value) {
			return mine == sum.Value, nil
		}
	}
	err := f.prove(ctx, t.name, store.ReadAt(ctx, t, o))
	if errors.Is(err, ErrSource) {
		return false, nil
	}
	return err == nil, err
}

// put copies a file and proves it. Before an upload the file is compared with the manifest: the service would keep a
// damaged one as well.
func (t *target) put(ctx context.Context, j *job, f *file) error {
	if t.own != nil {
		return t.own.put(ctx, j, f)
	}
	from, done, err := j.local(ctx, f)
	if err != nil {
		return f.lost(j.from.name, err)
	}
	defer done()
	if err := f.prove(ctx, j.from.name, from); err != nil {
		return err
	}
	o, err := t.Upload(ctx, f.name, &store.Upload{From: from, Size: f.bytes, Progress: j.opts.Progress})
	if err != nil {
		return err
	}
	if t.back {
		return f.prove(ctx, t.name, store.ReadAt(ctx, t, o))
	}
	return nil
}

// An ownDir is a directory that receives a dataset: it is locked, and its files are read again past the page cache.
type ownDir struct {
	out     *dataset.Dir
	readers chan *aio.Reader // one each worker
}

func openDir(to string, opts Options) (*ownDir, error) {
	if err := dataset.CheckDir(to); err != nil {
		return nil, err
	}
	out, err := dataset.Open(to)
	if err != nil {
		return nil, err
	}
	d := &ownDir{out: out.Dir, readers: make(chan *aio.Reader, opts.Workers)}
	for range opts.Workers {
		r, err := aio.NewReader(verify.Share(opts.AIO, opts.Workers))
		if err != nil {
			return nil, errors.Join(err, d.close())
		}
		d.readers <- r
	}
	return d, nil
}

func (d *ownDir) close() error {
	var errs []error
	for len(d.readers) > 0 {
		errs = append(errs, (<-d.readers).Close())
	}
	return errors.Join(append(errs, d.out.Close())...)
}

func (d *ownDir) has(ctx context.Context, f *file) (bool, error) {
	st, err := d.out.Lookup(f.name)
	if err == nil && st != nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w: not a regular file; remove it", d.out.Path(f.name), converters.ErrUnsupported)
	}
	if err != nil || st == nil || st.Size() != f.bytes {
		return false, err
	}
	res, err := d.read(ctx, f, f.name)
	return err == nil && len(res.Problems) == 0, err
}

// read reads a file again, whatever its name.
func (d *ownDir) read(ctx context.Context, f *file, name string) (verify.Result, error) {
	r := <-d.readers
	defer func() { d.readers <- r }()
	if s := f.shard; s != nil {
		want := verify.Expect{Name: s.Name, Samples: s.Samples, Bytes: s.Bytes, HeaderCRC: s.HeaderCRC}
		return verify.File(ctx, r, verify.Target{Path: name, Root: d.out.Root, Want: &want}, verify.Options{})
	}
	return verify.SumFile(ctx, r, d.out.Root, verify.Sum{Name: name, Bytes: f.sum.Bytes, CRC: f.sum.CRC}, verify.Options{})
}

func (d *ownDir) put(ctx context.Context, j *job, f *file) error {
	tmp := d.out.Temp(f.name)
	if err := d.out.Mkdir(path.Dir(tmp)); err != nil {
		return err
	}
	w, err := atomicfile.Create(d.out.Root, tmp)
	if err != nil {
		return err
	}
	defer w.Discard()
	if err := j.from.into(ctx, f, w, j.opts.Progress); err != nil {
		return f.lost(j.from.name, err)
	}
	if err := w.Sync(); err != nil {
		return err
	}
	res, err := d.read(ctx, f, tmp)
	if err != nil {
		return err
	}
	switch {
	case len(res.Problems) == 0:
		return w.Replace(f.name)
	case res.Problems[0].Kind == verify.Unreadable:
		return res.Err()
	default:
		return f.wrong(j.from.name, fmt.Errorf("%w: %s", ErrSource, res.Problems[0].Text))
	}
}

// clear removes what conversions keep beside the files of a dataset.
func (d *ownDir) clear() error {
	for _, dir := range []string{dataset.JournalsDir, dataset.RunningDir, dataset.IndexedDir} {
		if err := d.out.Root.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// tidy removes what only an unfinished copy needs.
func (d *ownDir) tidy() error {
	if err := d.out.Root.RemoveAll(dataset.TmpDir); err != nil {
		return err
	}
	return errors.Join(d.out.Remove(dataset.CopyName), d.out.Here(nil))
}
