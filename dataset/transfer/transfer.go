// Package transfer copies a complete dataset between directories and object stores:
//
//	done, err := transfer.Copy(ctx, "out", "s3://bucket/data/", transfer.Options{Bucket: bucket.Options{Client: client}})
//
// Shards and indexes are copied first, then meta.json, the plan and the journal, then the signature, and the manifest
// last, so that no reader takes an unfinished copy for complete. Until then the destination has a mark,
// .ffconvert/copy, with the SHA-256 of the manifest: after an interruption a copy of the same dataset resumes, and a
// copy of another one is refused.
//
// A file that the destination already has is kept if its checksums match, and otherwise copied. In a directory all
// bytes of a new file are read from the device, past the page cache, and compared with their checksums before the file
// is renamed. For a new object the service compares a checksum. An object that already exists is compared by the
// checksum of the service or, without one, by its bytes.
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
	Bucket    bucket.Options // for object stores; Scratch holds the files that are copied to one
	Overwrite bool           // replace another dataset in the destination
	Workers   int            // number of concurrent file copies; 0: 4
	AIO       aio.Options    // for reading new files from the device

	// Start is called once with the bytes of all shards and indexes, before the first is copied. Progress is called
	// concurrently with the number of bytes kept or copied. Either may be nil.
	Start    func(bytes int64)
	Progress func(n int64)
}

// Done is the result of a copy.
type Done struct {
	Shards  int
	Samples int64
	Bytes   int64    // of shards and indexes
	Copied  int      // shards
	Moved   int64    // bytes of shards and indexes that were copied
	Small   []string // other files that were written or removed: meta.json, the signature, the manifest…
	Already bool     // the destination was already an equal copy
	Seconds float64
}

var (
	// ErrSame means that source and destination are the same place.
	ErrSame = place.New(place.Usage, "the dataset and its copy are in the same place")
	// ErrSource means that a file of the source differs from its manifest.
	ErrSource = place.New(place.Corrupt, "it is not as its manifest says")
	// ErrNone means that the source has no manifest.
	ErrNone = place.New(place.Refused, "no dataset: it has no "+dataset.ManifestName)
	// errChanged means that the manifest of the source changed during the copy.
	errChanged = place.New(place.Refused, "it was changed while it was copied")
)

// A file is a shard, an index or meta.json, as the manifest describes it.
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
	text []byte // the manifest
	sign []byte // its signature; nil: none
	mark string // SHA-256 of the manifest, hexadecimal

	// unnamed makes a file in the scratch; done removes it.
	unnamed func(ctx context.Context, bytes int64) (f *os.File, done func(), err error)

	begin  sync.Once // calls target.begin
	begun  error     // its error
	copied atomic.Int64
	moved  atomic.Int64
	small  []string
}

// Copy copies a dataset. from and to are directories or URLs of object stores.
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

func (j *job) readManifest(ctx context.Context) (err error) {
	j.text, err = j.from.read(ctx, dataset.ManifestName)
	if store.IsMissing(err) {
		if j.from.dir == nil {
			if err := j.from.bucketExists(ctx); err != nil {
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
	if j.to.state == isOther {
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
	if j.from.dir == nil && errors.Is(err, ErrSource) { // the transport may have damaged it
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

// change calls target.begin before the first change of the destination.
func (j *job) change(ctx context.Context) error {
	j.begin.Do(func() { j.begun = j.to.begin(ctx, j) })
	return j.begun
}

// small are the files that are copied before the manifest. The plan and the journal are optional, and the manifest has no
// checksum of them.
var small = []string{dataset.MetaName, dataset.PlanName, dataset.JournalName}

// complete copies the small files and, last, the manifest.
func (j *job) complete(ctx context.Context) error {
	for _, name := range small {
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

// isNamed reports whether a conversion or a copy makes files of that name in a dataset.
func isNamed(name string) bool {
	return dataset.IsDatasetFile(name) || strings.HasPrefix(name, dataset.WorkDir+"/")
}

// isShard reports whether readers of a dataset take a file for a shard, by its name.
func isShard(name string) bool {
	return strings.HasSuffix(name, record.Ext) && !strings.Contains(name, "/")
}

// named returns the set of the names of files in the manifest.
func (j *job) named() map[string]bool {
	names := map[string]bool{}
	for _, name := range j.m.Files() {
		names[name] = true
	}
	return names
}

// same reports whether text is a manifest of files with the same names, sizes and checksums.
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
