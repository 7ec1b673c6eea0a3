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

// A job stages one source, for one or more parts of a set: a source may be named more than once.
type job struct {
	*Stager
	source      input.Name
	id          identity
	compression string   // "" where reading tells
	keys        []string // of the copies that will do
	place       int      // of the source among all that were found
	parts       []int    // of the set

	begun bool            // to be read
	lease *cache.Lease    // nil before it has one, and after the Stager has it
	part  converters.Part // Path "": not made

	mu       sync.Mutex
	at, told int64 // bytes of the source read by this attempt, and told of by all
}

// progress reports n bytes read, each byte of the source once, though an attempt may be repeated.
func (j *job) progress(n int64) {
	j.mu.Lock()
	j.at += n
	n = j.at - j.told
	j.told = max(j.told, j.at)
	j.mu.Unlock()
	if n > 0 {
		j.opts.Progress(j.source.Name, n)
	}
}

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

// size is how many bytes are fetched; 0 where that is not known, or nothing is fetched.
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

// learn says that n bytes of the source have become size bytes.
func (j *job) learn(size, n int64) {
	if j.compression == "" || n <= 0 {
		return
	}
	j.Stager.mu.Lock()
	defer j.Stager.mu.Unlock()
	suffix := path.Ext(j.source.Name)
	j.ratios[suffix] = max(j.ratios[suffix], float64(size)/float64(n))
}

// find takes the leased copy, if there is one.
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
	j.opts.say("# opening %s", copied.Path)
	j.progress(j.source.Size)
	j.became(copied)
	return nil
}

// make makes the copy. After an error its lease stays.
func (j *job) make(ctx context.Context) (err error) {
	if j.source.Once() && j.staged() {
		return j.cacheError(ErrCopy) // of another Take; it is gone
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
	j.became(copied)
	return nil
}

// read copies the source, decompressed.
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

// staged reports whether the Stager has the copy of a source that is staged once.
func (j *job) staged() bool {
	j.Stager.mu.Lock()
	defer j.Stager.mu.Unlock()
	return j.once[j.place].Path != ""
}

// became enters the copy. The Stager keeps one that is staged once.
func (j *job) became(copied *cache.Copy) {
	j.part = converters.Part{
		Name: j.source.Name, Path: copied.Path, Size: copied.Size, ModTime: copied.ModTime,
		Copy: &converters.Copy{Mark: j.source.Mark(), Content: copied.Sums.Digest(), Sums: newCopySums(copied)},
	}
	j.learn(copied.Size, j.source.Size)
	j.Stager.mu.Lock()
	defer j.Stager.mu.Unlock()
	if j.source.Once() {
		j.once[j.place] = j.part
		j.kept, j.lease = append(j.kept, j.lease), nil
	}
}

// cacheError places a failure to stage the source.
func (j *job) cacheError(err error) error { return cacheError(j.source.Name, j.cache.Dir(), err) }
