// package transfer copies a finished dataset from one place to another, each a directory or an object store:
//
//	done, err := transfer.Copy(ctx, "out", "s3://bucket/data/", transfer.Options{Bucket: bucket.Options{Client: client}})
//
// Shards and indexes come first, then meta.json, the plan and the journal, then the signature, and the manifest last:
// no reader takes a part of a dataset for whole. .ffconvert/copy, which is there until then, says by its SHA-256 which
// manifest is being copied, so that the same call goes on after any interruption, and no other one does.
//
// A file that the destination has is kept if it is proven to be the right one, else it is copied. In a directory all
// bytes of a file are read again, past the page cache, before it gets its name, and compared with their checksums. Of an
// object the service has compared a checksum; whether one that is already there is the right one its checksum tells, or
// its bytes do, where the service has none.
package transfer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/record"
)

// Options control a copy. The zero value copies between directories.
type Options struct {
	Bucket    bucket.Options // of object stores: client, reading back, and the scratch of shards between two of them
	Overwrite bool           // replace another dataset in the destination
	Workers   int            // files copied at once; 0: 4
	AIO       aio.Options    // of reading files again

	// Start is called with the bytes of all files, before the first is copied. Progress is called with bytes that are
	// there, kept or copied, concurrently. Either may be nil.
	Start    func(bytes int64)
	Progress func(n int64)
}

// Done tells what a copy has done.
type Done struct {
	Shards  int
	Samples int64
	Bytes   int64    // of shards and indexes
	Copied  int      // shards
	Moved   int64    // bytes of shards and indexes that were copied
	Small   []string // files without samples that were written or removed: meta.json, the signature, the manifest…
	Already bool     // nothing differed
	Seconds float64
}

var (
	// ErrSame says that both places are one.
	ErrSame = place.New(place.Usage, "the dataset and its copy are in the same place")
	// ErrSource says that a file of the dataset that is copied differs from its manifest.
	ErrSource = place.New(place.Corrupt, "it is not as its manifest says")
	// ErrNone says that there is no dataset to copy.
	ErrNone = place.New(place.Refused, "no dataset: it has no "+dataset.ManifestName)
	// errChanged says that the dataset was changed while it was copied.
	errChanged = place.New(place.Refused, "it was changed while it was copied")
)

// A file of a dataset that a manifest describes.
type file struct {
	name  string
	bytes int64
	shard *dataset.ManifestShard // nil: sum describes it
	sum   dataset.FileSum
}

// A job is one copy.
type job struct {
	opts Options
	from site
	to   *target
	m    *dataset.Manifest
	text []byte // of the manifest
	sign []byte // its signature; nil: none
	mark string // its SHA-256

	// unnamed makes a file in the scratch, which done removes.
	unnamed func(ctx context.Context, bytes int64) (f *os.File, done func(), err error)

	begin  sync.Once // before the first change of the destination
	begun  error
	copied atomic.Int64
	moved  atomic.Int64
	small  []string
}

// Copy copies a dataset. Both places are directories or URLs.
func Copy(ctx context.Context, from, to string, opts Options) (*Done, error) {
	began := time.Now()
	opts.Workers = cmp.Or(opts.Workers, 4)
	if opts.Progress == nil {
		opts.Progress = func(int64) {}
	}
	j := &job{opts: opts, unnamed: opts.Bucket.NewScratch().File}
	var err error
	if j.from, err = openSource(from, opts); err != nil {
		return nil, err
	}
	defer j.from.close()
	if err := j.readManifest(ctx); err != nil {
		return nil, err
	}
	if err := differ(from, to); err != nil {
		return nil, err
	}
	if j.to, err = openTarget(ctx, to, opts); err != nil {
		return nil, err
	}
	err = j.run(ctx)
	if err = errors.Join(err, j.to.close()); err != nil {
		return nil, err
	}
	done := &Done{Shards: len(j.m.Shards), Samples: j.m.Totals.SamplesWritten, Copied: int(j.copied.Load()), Moved: j.moved.Load(), Small: j.small}
	done.Already = done.Moved == 0 && len(done.Small) == 0
	for _, f := range j.files() {
		done.Bytes += f.bytes
	}
	done.Seconds = time.Since(began).Seconds()
	return done, nil
}

// readManifest reads the manifest and its signature.
func (j *job) readManifest(ctx context.Context) (err error) {
	j.text, err = j.from.read(ctx, dataset.ManifestName)
	if store.IsMissing(err) {
		if j.from.dir == nil {
			if err := j.from.bucketThere(ctx); err != nil {
				return err
			}
		}
		kind := ErrNone
		if _, err := j.from.read(ctx, dataset.PlanName); err == nil {
			kind = dataset.ErrUnfinished
		}
		return fmt.Errorf("%s: %w", j.from.name, kind)
	}
	if err != nil {
		return err
	}
	if j.m, err = dataset.ParseManifest(strings.TrimSuffix(j.from.name, "/")+"/"+dataset.ManifestName, j.text); err != nil {
		return err
	}
	if j.sign, err = j.from.read(ctx, dataset.SignatureName); err != nil && !store.IsMissing(err) {
		return err
	}
	sum := sha256.Sum256(j.text)
	j.mark = hex.EncodeToString(sum[:])
	return nil
}

// files returns the shards and the indexes, each shard before its index.
func (j *job) files() []file {
	files := make([]file, 0, 2*len(j.m.Shards))
	for i := range j.m.Shards {
		s := &j.m.Shards[i]
		files = append(files, file{name: s.Name, bytes: s.Bytes, shard: s}, file{name: dataset.IndexName(s.Name), bytes: s.Index.Bytes, sum: s.Index})
	}
	return files
}

func (j *job) run(ctx context.Context) error {
	if err := j.to.look(ctx, j); err != nil {
		return err
	}
	if j.to.is == isOther {
		if err := j.change(ctx); err != nil {
			return err
		}
	}
	files := j.files()
	if j.opts.Start != nil {
		var all int64
		for _, f := range files {
			all += f.bytes
		}
		j.opts.Start(all)
	}
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(j.opts.Workers)
	for i := range files {
		g.Go(func() error {
			if inner.Err() != nil {
				return context.Cause(inner)
			}
			return j.file(inner, &files[i])
		})
	}
	if err := g.Wait(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	return j.complete(ctx)
}

// file copies a file unless the destination has it.
func (j *job) file(ctx context.Context, f *file) error {
	there, err := j.to.has(ctx, j, f)
	if err != nil {
		return err
	}
	if there {
		j.opts.Progress(f.bytes)
		return nil
	}
	if err := j.change(ctx); err != nil {
		return err
	}
	err = j.to.put(ctx, j, f)
	if j.from.dir == nil && errors.Is(err, ErrSource) { // maybe by the transport
		err = j.to.put(ctx, j, f)
	}
	if err != nil {
		return err
	}
	if f.shard != nil {
		j.copied.Add(1)
	}
	j.moved.Add(f.bytes)
	return nil
}

// change prepares the destination for the first change.
func (j *job) change(ctx context.Context) error {
	j.begin.Do(func() { j.begun = j.to.begin(ctx, j) })
	return j.begun
}

// beside are the small files before the manifest. Those that a dataset may do without have no sum in it.
var beside = []string{dataset.MetaName, dataset.PlanName, dataset.JournalName}

// complete copies the small files and, last, the manifest.
func (j *job) complete(ctx context.Context) error {
	for _, name := range beside {
		text, err := j.from.read(ctx, name)
		if name == dataset.MetaName {
			f := file{name: name, bytes: j.m.Meta.Bytes, sum: j.m.Meta}
			if err == nil {
				err = f.proveText(j.from.name, text)
			}
			err = f.lost(j.from.name, err)
		} else if store.IsMissing(err) {
			text, err = nil, nil
		} else if err == nil && name == dataset.JournalName {
			text, err = dataset.ElsewhereJournal(text)
		}
		if err != nil {
			return err
		}
		if err := j.save(ctx, name, text); err != nil {
			return err
		}
	}
	if now, err := j.from.read(ctx, dataset.ManifestName); err != nil || !slices.Equal(now, j.text) {
		return errors.Join(fmt.Errorf("%s: %w", j.from.name, errChanged), err)
	}
	return j.to.finish(ctx, j)
}

func (j *job) save(ctx context.Context, name string, text []byte) error {
	changed, err := j.to.save(ctx, name, text)
	if changed {
		j.small = append(j.small, name)
	}
	return err
}

// isOurs reports whether a name below a dataset is one that a conversion or a copy makes.
func isOurs(name string) bool {
	return dataset.IsDatasetFile(name) || strings.HasPrefix(name, dataset.WorkDir+"/")
}

// isShard reports whether readers take a file for a shard of the dataset.
func isShard(name string) bool {
	return strings.HasSuffix(name, record.Ext) && !strings.Contains(name, "/")
}

// named returns the names of the files that the manifest describes.
func (j *job) named() map[string]bool {
	names := map[string]bool{}
	for _, name := range j.m.Files() {
		names[name] = true
	}
	return names
}

// same reports whether a manifest describes the same files.
func (j *job) same(text []byte) bool {
	o, err := dataset.DecodeManifest(text)
	if err != nil || len(o.Shards) != len(j.m.Shards) || o.Meta.Bytes != j.m.Meta.Bytes || o.Meta.CRC != j.m.Meta.CRC {
		return false
	}
	for i, a := range o.Shards {
		b := j.m.Shards[i]
		if a.Name != b.Name || a.Samples != b.Samples || a.Bytes != b.Bytes || a.HeaderCRC != b.HeaderCRC || a.Index.Bytes != b.Index.Bytes || a.Index.CRC != b.Index.CRC {
			return false
		}
	}
	return true
}

func occupied(where string) error {
	return &place.Error{Where: where, Off: -1, Err: dataset.ErrOccupied, Hint: "option overwrite replaces it", Kind: place.Usage}
}
