// Package bucket keeps a dataset in an object store, s3:// or gs://, by the names that it has in a directory:
//
//	PART_00000.ffr …  index/PART_00000.arrow …  meta.json  manifest.json
//	.ffconvert/plan          only put where there is none
//	.ffconvert/journal       its head, until the dataset is complete
//	.ffconvert/done/…        while it is not complete, an object a finished shard: its line of the journal, with the
//	                         versions and checksums of its objects
//	.ffconvert/indexed/…     parts that tasks have indexed, for the plan
//
// A run works in a scratch directory, as it would in an output directory: [Open] brings there what the bucket has
// beside the shards, [dataset.Writing] calls the methods of [dataset.Bucket] as the run goes on, and nothing but the
// bucket is needed to go on with it elsewhere. Every upload has a checksum that the service compares. The manifest
// comes last, and only where there is none: without it no reader takes the dataset for whole.
//
// Object stores have no locks. Two runs of one plan put equal shards; a run of another plan is refused, since the plan
// is only put where there is none.
package bucket

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
)

// Options say how a dataset in a bucket is written and read.
type Options struct {
	Client   store.Store
	Scratch  string       // where directories for shards are made; "": ffconvert in os.UserCacheDir
	Size     int64        // most bytes of shards in scratch, those that are being written among them; 0: DefaultSize
	ReadBack bool         // compare all bytes of an uploaded shard with what was written; else the service compares checksums
	Beside   bool         // a dataset may be begun beside objects of other programs
	Warn     func(string) // is told of what stays behind in the bucket; may be nil
}

// requests is how many requests about small objects run at once.
const requests = 32

// A mirror moves files between the scratch and the objects of a dataset.
type mirror struct {
	opts  Options
	ctx   context.Context  // of the command that opened it
	url   string           // of the dataset, with a slash at its end
	out   *dataset.Dataset // the scratch
	there *store.Listing   // the objects of the dataset
	*scratch

	mu  sync.Mutex
	was map[string][]byte // of files in scratch that can change: SHA-256 of what the bucket has
}

// A bucket is an open dataset. It implements [dataset.Bucket].
type bucket struct {
	mirror
	replaces bool // a dataset that was there is removed
}

// Base returns the URL of a dataset with its scheme in lower case, and one slash at its end.
func Base(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return strings.TrimRight(url, "/") + "/"
	}
	return strings.ToLower(scheme) + "://" + strings.TrimRight(rest, "/") + "/"
}

// Remove implements [dataset.Bucket].
func (b *bucket) Remove(names ...string) error {
	g, ctx := errgroup.WithContext(b.ctx)
	g.SetLimit(requests)
	for _, name := range names {
		if _, ok := b.there.Object(name); !ok {
			continue
		}
		b.replaces = b.replaces || name == dataset.PlanName
		g.Go(func() error {
			if err := b.there.Drop(ctx, name); err != nil {
				return err
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			delete(b.was, name)
			return nil
		})
	}
	return g.Wait()
}

// Fetch implements [dataset.Bucket].
func (r *mirror) Fetch(ctx context.Context, name string) (done func(), err error) {
	if st, err := r.out.Lookup(name); err == nil && st != nil {
		return func() {}, nil // brought when the bucket was opened, or not uploaded yet
	}
	o, ok := r.sized(ctx, name)
	if !ok {
		return nil, fs.ErrNotExist
	}
	free, err := r.Room(ctx, o.Size)
	if err != nil {
		return nil, err
	}
	done = func() { r.out.Root.Remove(name); free() }
	if err := r.fetch(ctx, o, name); err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// fetch brings an object into the scratch. One that is said to be gone, or to have another version or length, is looked up
// and fetched again: what the listing says of it may be wrong.
func (r *mirror) fetch(ctx context.Context, o store.Object, name string) error {
	err := r.fetchOnce(ctx, o, name)
	if !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrChanged) && !errors.Is(err, store.ErrLength) {
		return err
	}
	now, late := store.Find(ctx, r.there, r.url+name)
	if late != nil || now.Size != o.Size { // a larger one has no room
		return err
	}
	r.there.Enter(name, now)
	return r.fetchOnce(ctx, now, name)
}

func (r *mirror) fetchOnce(ctx context.Context, o store.Object, name string) error {
	if err := r.out.Mkdir(path.Dir(name)); err != nil {
		return err
	}
	f, err := r.out.OpenFile(name)
	if err != nil {
		return err
	}
	err = damage(o, r.there.Fetch(ctx, o, f, nil))
	if late := f.Close(); err == nil {
		err = late
	}
	return err
}

// damage returns the error of a fetch. Bytes that differ from the checksum that the service keeps are damage to the
// dataset; of a source they would only be refused.
func damage(o store.Object, err error) error {
	if e, ok := errors.AsType[*store.Error](err); ok && errors.Is(err, store.ErrSum) {
		return &place.Error{Where: store.Redact(o.URL), Off: -1, Err: errors.New(e.Problem()), Kind: place.Corrupt}
	}
	return err
}
