package stage

import (
	"context"
	"errors"
	"math"
	"path"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/cache"
	"github.com/ffconvert/ffconvert/internal/input"
)

// A job stages one source for one or more parts of a set: the names may repeat a source.
type job struct {
	*Stager
	source      input.Name
	id          identity
	compression string   // "": none, or unknown before the source is read
	keys        []string // cache keys of acceptable copies
	place       int      // index of the source in Stager.found
	parts       []int    // indexes of the parts in Set.Parts

	begun bool            // reading the source has started
	lease *cache.Lease    // nil before reserve, and after the Stager has taken it
	part  converters.Part // Path is "" until the copy exists

	mu           sync.Mutex
	at, reported int64 // bytes of the source read by this attempt, and reported by all attempts
}

// progress reports n bytes read to Options.Progress, each byte of the source once, even if an attempt is repeated.
func (j *job) progress(n int64) {
	j.mu.Lock()
	j.at += n
	n = j.at - j.reported
	j.reported = max(j.reported, j.at)
	j.mu.Unlock()
	if n > 0 {
		j.opts.Progress(j.source.Name, n)
	}
}

// rewind makes progress count from the start of the source again.
func (j *job) rewind() {
	j.mu.Lock()
	j.at = 0
	j.mu.Unlock()
}

func (s *Stager) newJob(n input.Name, compression string, id identity, place int) *job {
	j := &job{Stager: s, source: n, id: id, compression: compression, keys: []string{id.key(compression)}, place: place}
	if n.Object != nil {
		for _, other := range compressedAs[1:] {
			j.keys = append(j.keys, id.key(other))
		}
	}
	return j
}

// size returns how many bytes will be fetched; 0 if that is unknown, or if the source is a local file.
func (j *job) size() int64 {
	switch {
	case j.source.Tree != nil:
		return j.source.Tree.Room
	case j.source.Object != nil:
		return max(0, j.source.Object.Size)
	}
	return 0
}

// growth estimates how many bytes the copy needs beyond size, by the largest ratio of earlier sources
// with the same suffix.
func (j *job) growth() int64 {
	if j.source.Tree != nil {
		return 0
	}
	j.Stager.mu.Lock()
	defer j.Stager.mu.Unlock()
	return int64(min(j.ratios[path.Ext(j.source.Name)]*float64(max(j.source.Size, 0)), math.MaxInt64/1e6))
}

// recordRatio records that n bytes of the source have become size bytes, for growth.
func (j *job) recordRatio(size, n int64) {
	if j.compression == "" || n <= 0 {
		return
	}
	j.Stager.mu.Lock()
	defer j.Stager.mu.Unlock()
	suffix := path.Ext(j.source.Name)
	j.ratios[suffix] = max(j.ratios[suffix], float64(size)/float64(n))
}

// find uses the leased copy, if there is one.
func (j *job) find(ctx context.Context) error {
	copied, err := j.lease.Copy(ctx)
	switch {
	case errors.Is(err, cache.ErrDamaged) || err != nil && context.Cause(ctx) != nil:
		return err
	case err != nil:
		return j.cacheError(err)
	case copied == nil:
		return nil
	}
	j.opts.verbose("# opening %s", copied.Path)
	j.progress(j.source.Size)
	j.setPart(copied)
	return nil
}

// make makes the copy. After an error the caller must release the lease.
func (j *job) make(ctx context.Context) (err error) {
	if j.source.Once() && j.staged() {
		return j.cacheError(ErrCopy) // an earlier Take has read the source, and its copy is damaged
	}
	j.begun = true
	switch {
	case j.source.Tree != nil:
		return j.download(ctx)
	case j.source.Object != nil:
		err = j.fetch(ctx)
	default:
		err = j.read(ctx)
	}
	if err != nil {
		return err
	}
	copied, err := j.lease.Commit()
	if err != nil {
		return j.cacheError(err)
	}
	j.setPart(copied)
	return nil
}

// read copies a source that is not an object, decompressed.
func (j *job) read(ctx context.Context) error {
	if j.decoding.Acquire(ctx, 1) != nil {
		return context.Cause(ctx)
	}
	defer j.decoding.Release(1)
	src, closeSource, err := j.open(ctx)
	if err != nil {
		return err
	}
	defer closeSource()
	return j.copy(src)
}

// staged reports whether the Stager has a copy of the source, which can be read once.
func (j *job) staged() bool {
	j.Stager.mu.Lock()
	defer j.Stager.mu.Unlock()
	return j.once[j.place].Path != ""
}

// setPart sets j.part to the copy. If the source can be read once, the Stager takes the lease.
func (j *job) setPart(copied *cache.Copy) {
	j.part = converters.Part{
		Name: j.source.Name, Path: copied.Path, Size: copied.Size, ModTime: copied.ModTime,
		Copy: &converters.Copy{Mark: j.source.Mark(), Content: copied.Sums.Digest(), Check: checker(copied)},
	}
	j.recordRatio(copied.Size, j.source.Size)
	j.Stager.mu.Lock()
	defer j.Stager.mu.Unlock()
	if j.source.Once() {
		j.once[j.place] = j.part
		j.kept, j.lease = append(j.kept, j.lease), nil
	}
}

// cacheError adds the source to an error of the cache.
func (j *job) cacheError(err error) error { return cacheError(j.source.Name, j.cache.Dir, err) }
