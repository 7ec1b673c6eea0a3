package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/verify"
)

// has reports whether the destination has a file whose size and checksums are those of f.
func (t *target) has(ctx context.Context, j *job, f *file) (bool, error) {
	if t.locked != nil {
		return t.locked.has(ctx, f)
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

// isMD5 matches the ETag of an object that was sent in one request: on most services its MD5.
var isMD5 = text.Pattern(`^[0-9a-f]{32}$`)

// holds reports whether o has the bytes of f. It compares checksums, or the bytes if the service has no checksum or the
// source has none of that kind. An ETag that differs proves nothing, since it may not be an MD5.
func (t *target) holds(ctx context.Context, j *job, f *file, o store.Object) (bool, error) {
	sum, exact := o.Sum, true
	if sum.NewHash() == nil && isMD5().MatchString(o.Version) {
		sum, exact = store.Sum{Kind: "md5", Value: o.Version}, false
	}
	if sum.NewHash() != nil {
		want, err := j.from.hash(ctx, f, sum)
		if err != nil {
			return false, f.lost(j.from.name, err)
		}
		if want != "" && (exact || want == sum.Value) {
			return want == sum.Value, nil
		}
	}
	err := f.prove(ctx, t.name, store.ReadAt(ctx, t, o))
	if errors.Is(err, ErrSource) {
		return false, nil
	}
	return err == nil, err
}

// put copies a file and verifies it. Before an upload it compares the file with the manifest, since the service would
// accept a damaged one as well.
func (t *target) put(ctx context.Context, j *job, f *file) error {
	if t.locked != nil {
		return t.locked.put(ctx, j, f)
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

// A lockedDir is the directory of a target, opened and locked for writing. It verifies files by reading them from the
// device, past the page cache.
type lockedDir struct {
	out     *dataset.Dir
	readers chan *aio.Reader // one per worker
}

func openDir(to string, opts Options) (*lockedDir, error) {
	if err := dataset.CheckDir(to); err != nil {
		return nil, err
	}
	out, err := dataset.Open(to)
	if err != nil {
		return nil, err
	}
	d := &lockedDir{out: out.Dir, readers: make(chan *aio.Reader, opts.Workers)}
	for range opts.Workers {
		r, err := aio.NewReader(verify.Share(opts.AIO, opts.Workers))
		if err != nil {
			return nil, errors.Join(err, d.close())
		}
		d.readers <- r
	}
	return d, nil
}

func (d *lockedDir) close() error {
	var errs []error
	for len(d.readers) > 0 {
		errs = append(errs, (<-d.readers).Close())
	}
	return errors.Join(append(errs, d.out.Close())...)
}

func (d *lockedDir) has(ctx context.Context, f *file) (bool, error) {
	st, err := d.out.Lookup(f.name)
	if err == nil && st != nil && !st.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w: not a regular file; remove it", d.out.Path(f.name), converters.ErrUnsupported)
	}
	if err != nil || st == nil || st.Size() != f.bytes {
		return false, err
	}
	res, err := d.read(ctx, f, d.out.Root, f.name)
	return err == nil && len(res.Problems) == 0, err
}

// read verifies the bytes of f in a file with a name, which may be temporary.
func (d *lockedDir) read(ctx context.Context, f *file, root *os.Root, name string) (verify.Result, error) {
	r := <-d.readers
	defer func() { d.readers <- r }()
	if s := f.shard; s != nil {
		want := verify.Expect{Name: s.Name, Samples: s.Samples, Bytes: s.Bytes, HeaderCRC: s.HeaderCRC}
		return verify.File(ctx, r, verify.Target{Path: name, Root: root, Want: &want}, verify.Options{})
	}
	return verify.SumFile(ctx, r, root, verify.Sum{Name: name, Bytes: f.sum.Bytes, CRC: f.sum.CRC}, verify.Options{})
}

func (d *lockedDir) put(ctx context.Context, j *job, f *file) error {
	w, err := d.out.Create(f.name)
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
	res, err := d.read(ctx, f, w.Dir, w.Tmp)
	if err != nil {
		return err
	}
	switch {
	case len(res.Problems) == 0:
		return cmp.Or(w.Replace(f.name), files.SyncDir(d.out.Root, path.Dir(f.name)))
	case res.Problems[0].Kind == verify.Unreadable:
		return res.Err()
	default:
		return f.placed(j.from.name, fmt.Errorf("%w: %s", ErrSource, res.Problems[0].Text))
	}
}
