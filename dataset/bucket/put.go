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
	var shard, beside store.Object
	g, both := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		shard, err = b.uploadOwn(both, f.Name, moved)
		return err
	})
	g.Go(func() (err error) {
		beside, err = b.uploadOwn(both, dataset.IndexName(f.Name), nil)
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	if b.replaces && !b.owns(ctx) { // it has no place in the dataset of the run that has
		return errors.Join(b.occupied(), b.withdraw(ctx, map[string]store.Object{f.Name: shard, dataset.IndexName(f.Name): beside}))
	}
	f.Stored = &dataset.Stored{Shard: storedOf(shard), Index: storedOf(beside)}
	line, err := f.Line()
	if err != nil {
		return err
	}
	name := path.Join(dataset.DoneDir, f.Name)
	_, err = b.there.Upload(ctx, name, &store.Upload{From: bytes.NewReader(line), Size: int64(len(line))})
	return err
}

func storedOf(o store.Object) dataset.StoredObject {
	s := dataset.StoredObject{Version: o.Version}
	if o.Sum.Kind != "" {
		s.Sum = o.Sum.Kind + ":" + o.Sum.Value
	}
	return s
}

// uploadOwn puts a shard or an index. One that was not there when this run began, and is there now, another run has put: it
// stays, and must have the same bytes.
func (b *bucket) uploadOwn(ctx context.Context, name string, moved func(int64)) (store.Object, error) {
	_, known := b.there.Object(name)
	o, err := b.upload(ctx, name, !known, moved)
	if !errors.Is(err, store.ErrExists) {
		return o, err
	}
	if err = b.same(ctx, name); errors.Is(err, dataset.ErrOccupied) && b.owns(ctx) {
		return b.upload(ctx, name, false, moved)
	}
	o, _ = b.there.Object(name)
	return o, err
}

// withdraw removes objects, unless others have their names by now.
func (b *bucket) withdraw(ctx context.Context, mine map[string]store.Object) error {
	for name, o := range mine {
		now, err := b.there.Stat(ctx, b.url+name)
		if err == nil && now.Version == o.Version {
			err = b.there.Drop(ctx, name)
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// owns reports whether this run replaces what was there and has put the plan that is there now: of several runs one has.
// What others have put since, it replaces; they find its plan in the place of theirs before they end.
func (b *bucket) owns(ctx context.Context) bool {
	mine, ok := b.there.Object(dataset.PlanName)
	if !ok || !b.replaces {
		return false
	}
	o, err := b.there.Stat(ctx, b.url+dataset.PlanName)
	return err == nil && o.Version == mine.Version
}

// own opens a file of the scratch, and says how many bytes it has.
func (r *mirror) own(name string) (*os.File, int64, error) {
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

// upload puts a file of the scratch, and reads it back where that is asked for.
func (r *mirror) upload(ctx context.Context, name string, isNew bool, moved func(int64)) (store.Object, error) {
	f, size, err := r.own(name)
	if err != nil {
		return store.Object{}, err
	}
	defer f.Close()
	o, err := r.there.Upload(ctx, name, &store.Upload{From: f, Size: size, New: isNew, Progress: moved})
	if err == nil && r.opts.ReadBack {
		err = r.compare(ctx, o, f)
	}
	return o, err
}

// compare reads an object and compares it with the file that it was made of.
func (r *mirror) compare(ctx context.Context, o store.Object, f io.ReaderAt) error {
	const block = 8 << 20
	there, here := make([]byte, min(block, o.Size)), make([]byte, min(block, o.Size))
	for off := int64(0); off < o.Size; off += block {
		n := min(block, o.Size-off)
		if err := r.there.Read(ctx, o, there[:n], off); err != nil {
			return err
		}
		if _, err := f.ReadAt(here[:n], off); err != nil {
			return err
		}
		if !bytes.Equal(there[:n], here[:n]) {
			return &store.Error{URL: store.Redact(o.URL), Kind: store.ErrSum, Err: fmt.Errorf("read back, its bytes from %d on are not the ones that were written", off)}
		}
	}
	return nil
}

// Save implements [dataset.Bucket].
func (r *mirror) Save(name string) error { return r.save(name, false) }

// save puts a file of the scratch unless the bucket has these very bytes.
func (r *mirror) save(name string, onlyNew bool) error {
	sum, err := r.sum(name)
	if err != nil || bytes.Equal(sum, r.was[name]) {
		return err
	}
	if _, err := r.upload(r.ctx, name, onlyNew, nil); err != nil {
		return err
	}
	r.was[name] = sum
	return nil
}

// sum returns the SHA-256 of a file of the scratch.
func (r *mirror) sum(name string) ([]byte, error) {
	f, _, err := r.own(name)
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
		_, there := b.there.Object(name)
		if there && name != dataset.PlanName { // which was written anew if it was damaged
			continue
		}
		err := b.save(name, !there)
		if errors.Is(err, store.ErrExists) {
			err = b.same(b.ctx, name)
		}
		if err != nil {
			return err
		}
	}
	return b.noOther()
}

// noOther removes a manifest that another run has put since this one has begun, which replaces its dataset.
func (b *bucket) noOther() error {
	if _, known := b.there.Object(dataset.ManifestName); known || !b.replaces {
		return nil
	}
	o, err := b.there.Stat(b.ctx, b.url+dataset.ManifestName)
	switch {
	case err == nil:
		return b.there.Remove(b.ctx, o)
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDenied):
		return nil
	}
	return err
}

func (b *bucket) occupied() error {
	return fmt.Errorf("%s: %w: another run writes there at the same time; run again when it has ended", store.Redact(b.url), dataset.ErrOccupied)
}

// same compares a file of the scratch with an object that another process has put at the same time.
func (b *bucket) same(ctx context.Context, name string) error {
	o, err := b.there.Stat(ctx, b.url+name)
	if err != nil {
		return err
	}
	f, size, err := b.own(name)
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
		b.there.Enter(name, o)
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
	if err := b.unchanged(); err != nil { // before others can take it for whole
		return err
	}
	_, there := b.there.Object(dataset.ManifestName)
	err := b.save(dataset.ManifestName, !there)
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
	if err := b.unchanged(); err != nil { // since the first time
		return err
	}
	b.tidy()
	return nil
}

// sameManifest compares the manifest with one that another process has put meanwhile. They may differ in their times.
func (b *bucket) sameManifest() error {
	mine, err := dataset.ReadManifest(b.out.Path(""))
	if err != nil {
		return err
	}
	o, err := b.there.Stat(b.ctx, b.url+dataset.ManifestName)
	if err != nil {
		return err
	}
	if err := b.fetch(b.ctx, o, dataset.ManifestName); err != nil {
		return err
	}
	theirs, err := dataset.ReadManifest(b.out.Path(""))
	if err != nil {
		return err
	}
	if !theirs.Same(mine) {
		return fmt.Errorf("%s: %w: another process has completed it with other shards", store.Redact(b.url), dataset.ErrOccupied)
	}
	return nil
}

// tidy removes what only an unfinished dataset needs. The dataset is complete: what cannot be removed is said.
func (b *bucket) tidy() {
	b.there.DropBegun(b.ctx, b.opts.Warn)
	left := b.there.Names(dataset.DoneDir + "/")
	if err := b.Remove(left...); err != nil {
		b.opts.Warn(fmt.Sprintf("%s: the dataset is complete; objects below %s, which it no longer needs, were not removed: %v", store.Redact(b.url), dataset.DoneDir, err))
	}
}
