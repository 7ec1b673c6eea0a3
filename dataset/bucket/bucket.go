// Package bucket stores a dataset in an object store, s3:// or gs://, under the same names as in a directory:
//
//	PART_00000.ffr …  index/PART_00000.arrow …  meta.json  manifest.json
//	.ffconvert/plan          put only if there is none
//	.ffconvert/journal       until the dataset is complete only its head
//	.ffconvert/done/…        until the dataset is complete, an object per finished shard: the line of the journal, with
//	                         the versions and checksums of the objects
//	.ffconvert/indexed/…     the parts of the source that tasks have indexed, for the plan
//
// A run works in a scratch directory as in an output directory: [Open] downloads everything but shards and indexes to
// it, and [dataset.Writing] calls the methods of [dataset.Bucket] during the run. The bucket alone suffices to resume
// the run on another machine. The service compares a checksum of every upload. The manifest is uploaded last: without
// it no reader takes the dataset for complete.
//
// Object stores have no locks. Two runs of one plan put equal shards. A run of another plan is refused, because the
// plan is put only if there is none.
package bucket

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
)

// Options configure a dataset in a bucket.
type Options struct {
	Client   store.Store
	Scratch  string       // directory for scratch directories; "": ffconvert in os.UserCacheDir
	Size     int64        // most bytes of shards in scratch, including unfinished ones; 0: DefaultSize
	ReadBack bool         // read every uploaded shard and compare its bytes; otherwise only the service compares checksums
	Beside   bool         // allow a new dataset under a URL with objects of other programs
	Warn     func(string) // called for each object that cannot be removed; may be nil
}

// requests is the number of concurrent requests for small objects.
const requests = 32

// A mirror moves files between the scratch and the objects of a dataset.
type mirror struct {
	opts    Options
	ctx     context.Context  // of the command that opened it
	url     string           // of the dataset, with a trailing slash
	out     *dataset.Dataset // the scratch
	objects *store.Listing   // the objects of the dataset
	listed  bool             // they were listed: what is not known is not there
	sums    func() map[string]dataset.FileSum
	*scratch

	mu      sync.Mutex
	stored  map[string][]byte // SHA-256 of the object, by name, for files that can change
	indexes map[string]*index // by name
}

// A bucket is an open dataset. It implements [dataset.Bucket].
type bucket struct {
	mirror
	replaces bool // this run has removed the plan of another dataset
}

// Base returns the URL of a dataset with its scheme in lower case and exactly one trailing slash.
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
		if _, ok := b.objects.Object(name); !ok {
			continue
		}
		b.replaces = b.replaces || name == dataset.PlanName
		g.Go(func() error {
			if err := b.objects.Drop(ctx, name); err != nil {
				return err
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			delete(b.stored, name)
			return nil
		})
	}
	return g.Wait()
}

// Fetch implements [dataset.Bucket].
func (r *mirror) Fetch(ctx context.Context, name string) (done func(), err error) {
	if st, err := r.out.Lookup(name); err == nil && st != nil {
		return func() {}, nil // downloaded by Open, or not uploaded yet
	}
	o, err := r.find(ctx, name)
	if err != nil {
		return nil, err
	}
	free, err := r.Room(ctx, o.Size)
	if err != nil {
		return nil, err
	}
	done = func() { r.out.Root.Remove(name); free() }
	if err = r.fetch(ctx, o, name); err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// fetch downloads an object to the scratch, under its name.
func (r *mirror) fetch(ctx context.Context, o store.Object, name string) error {
	f, err := r.create(name)
	if err != nil {
		return err
	}
	err = r.download(ctx, o, name, f)
	return cmp.Or(err, f.Close())
}

// create makes a file in the scratch.
func (r *mirror) create(name string) (*os.File, error) {
	if err := r.out.Mkdir(path.Dir(name)); err != nil {
		return nil, err
	}
	return r.out.OpenFile(name)
}

// download writes an object to a file. If it is missing, or has another version or length than the listing says, download
// looks it up and tries again: the listing may be wrong.
func (r *mirror) download(ctx context.Context, o store.Object, name string, into store.File) error {
	err := r.objects.Fetch(ctx, o, into, nil)
	if isStale(err) {
		now, late := store.Find(ctx, r.objects, r.url+name)
		if late == nil && now.Size == o.Size { // room is reserved for o.Size bytes
			r.objects.Enter(name, now)
			err = r.objects.Fetch(ctx, now, into, nil)
		}
	}
	// The dataset is damaged. Package store only refuses the object, since it does not know whether it belongs to a dataset.
	if e, ok := errors.AsType[*store.Error](err); ok && errors.Is(err, store.ErrSum) {
		err = &place.Error{Where: store.Redact(o.URL), Off: -1, Err: errors.New(e.Problem()), Kind: place.Corrupt}
	}
	return err
}
