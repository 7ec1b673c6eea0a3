package record

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"sync"

	"github.com/ffconvert/ffconvert/aio"
)

// A queue reads one batch at a time.
type queue struct {
	*aio.Reader
	places []location // of the samples of a batch
	reqs   []aio.Request
	seen   aio.Stats // the part of its statistics that queues.stats includes
	failed bool      // a batch failed: the queue must not be reused
}

// queues is the pool of queues of a Reader. It grows to the largest number of concurrent calls of ReadBatch.
type queues struct {
	opts aio.Options

	mu     sync.Mutex
	idle   []*queue
	closed bool
	used   bool      // a queue has been put back
	stats  aio.Stats // valid if used
}

// take returns an idle queue or a new one.
func (qs *queues) take() (*queue, error) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if qs.closed {
		return nil, os.ErrClosed
	}
	if n := len(qs.idle); n > 0 {
		q := qs.idle[n-1]
		qs.idle = qs.idle[:n-1]
		return q, nil
	}
	r, err := aio.NewReader(qs.opts)
	if err != nil {
		return nil, err
	}
	return &queue{Reader: r}, nil
}

// put returns q to the pool, or closes q if a batch failed.
func (qs *queues) put(q *queue) error {
	clear(q.reqs) // they refer to the caller's memory
	q.places, q.reqs = q.places[:0], q.reqs[:0]
	now := q.Stats()
	qs.mu.Lock()
	defer qs.mu.Unlock()
	qs.count(now, q.seen)
	if q.failed {
		return q.Close()
	}
	q.seen = now
	qs.idle = append(qs.idle, q)
	return nil
}

// count adds the difference between two states of a queue's statistics.
func (qs *queues) count(now, seen aio.Stats) {
	s := &qs.stats
	if !qs.used {
		qs.used = true
		*s = aio.Stats{Backend: now.Backend, Direct: true, Depth: now.Depth}
	}
	if now.Backend == aio.Pread {
		s.Backend = aio.Pread
	}
	s.Direct = s.Direct && now.Direct
	s.Fallback = cmp.Or(s.Fallback, now.Fallback)
	s.Bytes += now.Bytes - seen.Bytes
	s.Cached += now.Cached - seen.Cached
	s.Reads += now.Reads - seen.Reads
	s.Retries += now.Retries - seen.Retries
}

func (qs *queues) close() error {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	qs.closed = true
	var errs []error
	for _, q := range qs.idle {
		errs = append(errs, q.Close())
	}
	qs.idle = nil
	return errors.Join(errs...)
}

// open opens f a second time, by its path, for all queues. If the path now names another file, the error is
// ErrReplaced.
func (f *file) open() (*aio.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.batches != nil {
		return f.batches, nil
	}
	file, err := aio.Open(f.path)
	if err != nil {
		return nil, err
	}
	if src, ok := f.src.(*os.File); ok {
		was, err := src.Stat()
		is, err2 := file.Stat()
		if err := errors.Join(err, err2); err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if !os.SameFile(was, is) {
			return nil, errors.Join(ErrReplaced, file.Close())
		}
		file.UsePageCache(src)
	}
	f.batches = file
	return file, nil
}

func (f *file) closeBatches() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	file := f.batches
	if f.batches = nil; file == nil {
		return nil
	}
	return file.Close()
}

// room returns a slice of size bytes, in the memory of buf if its capacity suffices. It is never nil.
func room(buf []byte, size int64) []byte {
	if size == 0 && buf == nil {
		return []byte{}
	}
	return slices.Grow(buf[:0], int(size))[:size]
}
