package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/store"
)

// Put implements [dataset.Bucket].
func (b *bucket) Put(ctx context.Context, f *dataset.Finished, moved func(bytes int64)) error {
	var shard, index store.Object
	g, both := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		shard, err = b.uploadPart(both, f.Name, moved)
		return err
	})
	g.Go(func() (err error) {
		index, err = b.uploadPart(both, dataset.IndexName(f.Name), nil)
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	if b.replaces && !b.owns(ctx) { // another run has put its plan: the shard does not belong to that
		return errors.Join(b.occupied(), b.withdraw(ctx, map[string]store.Object{f.Name: shard, dataset.IndexName(f.Name): index}))
	}
	f.Stored = &dataset.Stored{Shard: storedOf(shard), Index: storedOf(index)}
	line, err := f.Line()
	if err != nil {
		return err
	}
	name := path.Join(dataset.DoneDir, f.Name)
	_, err = b.objects.Upload(ctx, name, &store.Upload{From: bytes.NewReader(line), Size: int64(len(line))})
	return err
}

func storedOf(o store.Object) dataset.StoredObject {
	s := dataset.StoredObject{Version: o.Version}
	if o.Sum.Kind != "" {
		s.Sum = o.Sum.Kind + ":" + o.Sum.Value
	}
	return s
}

// uploadPart puts a shard or an index. If another run has put an object of that name since this run started, uploadPart
// keeps that object and returns an error if its bytes differ; a run that owns the plan replaces it.
func (b *bucket) uploadPart(ctx context.Context, name string, moved func(int64)) (store.Object, error) {
	_, known := b.objects.Object(name)
	o, err := b.upload(ctx, name, !known, moved)
	if !errors.Is(err, store.ErrExists) {
		return o, err
	}
	if err = b.same(ctx, name); errors.Is(err, dataset.ErrOccupied) && b.owns(ctx) {
		return b.upload(ctx, name, false, moved)
	}
	o, _ = b.objects.Object(name)
	return o, err
}

// withdraw removes objects that this run has put, except those that another run has replaced.
func (b *bucket) withdraw(ctx context.Context, objects map[string]store.Object) error {
	for name, o := range objects {
		now, err := b.objects.Stat(ctx, b.url+name)
		if err == nil && now.Version == o.Version {
			err = b.objects.Drop(ctx, name)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// owns reports whether this run replaces another dataset and the current plan is the one that it has put. Of several
// such runs one owns the plan. It replaces what the others put; they fail when they find its plan.
func (b *bucket) owns(ctx context.Context) bool {
	own, ok := b.objects.Object(dataset.PlanName)
	if !ok || !b.replaces {
		return false
	}
	o, err := b.objects.Stat(ctx, b.url+dataset.PlanName)
	return err == nil && o.Version == own.Version
}

// openFile opens a file of the scratch and returns its size.
func (r *mirror) openFile(name string) (*os.File, int64, error) {
	f, err := r.out.Root.Open(name)
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, st.Size(), nil
}

// upload puts a file of the scratch and, with Options.ReadBack, compares the object with the file. isNew: there must be
// no object of that name.
func (r *mirror) upload(ctx context.Context, name string, isNew bool, moved func(int64)) (store.Object, error) {
	f, size, err := r.openFile(name)
	if err != nil {
		return store.Object{}, err
	}
	defer f.Close()
	o, err := r.objects.Upload(ctx, name, &store.Upload{From: f, Size: size, New: isNew, Progress: moved})
	if err == nil && r.opts.ReadBack {
		err = r.compare(ctx, o, f)
	}
	return o, err
}

// compare reads an object and compares it with a file of the same size. The error is [store.ErrSum] if they differ.
func (r *mirror) compare(ctx context.Context, o store.Object, f io.ReaderAt) error {
	const block = 8 << 20
	got, want := make([]byte, min(block, o.Size)), make([]byte, min(block, o.Size))
	for off := int64(0); off < o.Size; off += block {
		n := min(block, o.Size-off)
		if err := r.objects.Read(ctx, o, got[:n], off); err != nil {
			return err
		}
		if _, err := f.ReadAt(want[:n], off); err != nil {
			return err
		}
		if !bytes.Equal(got[:n], want[:n]) {
			return &store.Error{URL: store.Redact(o.URL), Kind: store.ErrSum, Err: fmt.Errorf("read back, its bytes from %d on are not the ones that were written", off)}
		}
	}
	return nil
}

// Save implements [dataset.Bucket].
func (r *mirror) Save(name string) error { return r.save(name, false) }

// save puts a file of the scratch unless the object has the same bytes. onlyNew is isNew of upload.
func (r *mirror) save(name string, onlyNew bool) error {
	sum, err := r.sum(name)
	if err != nil || bytes.Equal(sum, r.stored[name]) {
		return err
	}
	if _, err := r.upload(r.ctx, name, onlyNew, nil); err != nil {
		return err
	}
	r.stored[name] = sum
	return nil
}

func (r *mirror) sum(name string) ([]byte, error) {
	f, _, err := r.openFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return sum.Sum(nil), err
}

// Begin implements [dataset.Bucket].
func (b *bucket) Begin() error {
	for _, name := range []string{dataset.PlanName, dataset.JournalName} {
		_, exists := b.objects.Object(name)
		if exists && name != dataset.PlanName { // a damaged plan was written again in the scratch
			continue
		}
		err := b.save(name, !exists)
		if errors.Is(err, store.ErrExists) {
			err = b.same(b.ctx, name)
		}
		if err != nil {
			return err
		}
	}
	return b.removeManifest()
}

// removeManifest removes a manifest that another run has put since this run started, if this run replaces the dataset.
func (b *bucket) removeManifest() error {
	if _, known := b.objects.Object(dataset.ManifestName); known || !b.replaces {
		return nil
	}
	o, err := b.objects.Stat(b.ctx, b.url+dataset.ManifestName)
	switch {
	case err == nil:
		return b.objects.Remove(b.ctx, o)
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDenied):
		return nil
	}
	return err
}

func (b *bucket) occupied() error {
	return fmt.Errorf("%s: %w: another run writes there at the same time; run again when it has ended", store.Redact(b.url), dataset.ErrOccupied)
}

// same returns [dataset.ErrOccupied] unless a file of the scratch equals the object that another process has put.
func (b *bucket) same(ctx context.Context, name string) error {
	o, err := b.objects.Stat(ctx, b.url+name)
	if err != nil {
		return err
	}
	f, size, err := b.openFile(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if size == o.Size {
		err = b.compare(ctx, o, f)
	}
	if size != o.Size || errors.Is(err, store.ErrSum) {
		return b.occupied()
	}
	if err == nil {
		b.objects.Enter(name, o)
	}
	return err
}

// Complete implements [dataset.Bucket].
func (b *bucket) Complete() error {
	for _, name := range []string{dataset.MetaName, dataset.JournalName} {
		if err := b.save(name, false); err != nil {
			return err
		}
	}
	if err := b.unchanged(); err != nil { // before readers find the manifest
		return err
	}
	_, exists := b.objects.Object(dataset.ManifestName)
	err := b.save(dataset.ManifestName, !exists)
	if errors.Is(err, store.ErrExists) {
		if b.owns(b.ctx) {
			err = b.save(dataset.ManifestName, false)
		} else {
			err = b.sameManifest()
		}
	}
	if err != nil {
		return err
	}
	if signed, err := b.out.Lookup(dataset.SignatureName); err != nil {
		return err
	} else if signed != nil {
		if err := b.save(dataset.SignatureName, false); err != nil {
			return err
		}
	}
	if err := b.unchanged(); err != nil { // since the first check
		return err
	}
	b.tidy()
	return nil
}

// sameManifest compares the manifest with the one that another process has put. They may differ in their times.
func (b *bucket) sameManifest() error {
	own, err := dataset.ReadManifest(b.out.Path(""))
	if err != nil {
		return err
	}
	o, err := b.objects.Stat(b.ctx, b.url+dataset.ManifestName)
	if err != nil {
		return err
	}
	if err := b.fetch(b.ctx, o, dataset.ManifestName); err != nil {
		return err
	}
	other, err := dataset.ReadManifest(b.out.Path(""))
	if err != nil {
		return err
	}
	if !other.Same(own) {
		return fmt.Errorf("%s: %w: another process has completed it with other shards", store.Redact(b.url), dataset.ErrOccupied)
	}
	return nil
}

// tidy removes the objects that only an unfinished dataset needs. The dataset is complete, so an error is a warning.
func (b *bucket) tidy() {
	b.objects.DropBegun(b.ctx, b.opts.Warn)
	left := b.objects.Names(dataset.DoneDir + "/")
	if err := b.Remove(left...); err != nil {
		b.opts.Warn(fmt.Sprintf("%s: the dataset is complete; objects below %s, which it no longer needs, were not removed: %v", store.Redact(b.url), dataset.DoneDir, err))
	}
}
