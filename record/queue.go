package record

import (
	"errors"
	"os"
	"slices"
	"sync"

	"github.com/ffconvert/ffconvert/aio"
)

// A queue reads batches, one at a time.
type queue struct {
	*aio.Reader
	reqs   []aio.Request
	seen   aio.Stats // what queues.stats has of it
	failed bool      // a read of it has: it may be unusable
}

// queues are those of one Reader: a call of ReadBatch takes one, or makes it, and puts it back. So
// there are as many as there were calls at once.
type queues struct {
	opts aio.Options

	mu     sync.Mutex
	idle   []*queue
	closed bool
	used   bool // stats tell something
	stats  aio.Stats
}

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

// put takes q back, or closes it.
func (qs *queues) put(q *queue) error {
	clear(q.reqs) // they hold the caller's memory
	q.reqs = q.reqs[:0]
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

// count adds what a queue did since it was seen.
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
	if s.Fallback == "" {
		s.Fallback = now.Fallback
	}
	s.Bytes += now.Bytes - seen.Bytes
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

// direct is a file as batches read it, past the page cache where that can be: open from the first
// one on, for all queues.
type direct struct {
	mu   sync.Mutex
	file *aio.File
}

var errReplaced = errors.New("the file of that name is another one than was opened")

// open opens f a second time. That goes by the name, which may be another file's by now.
func (d *direct) open(q *queue, f *file) (*aio.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.file != nil {
		return d.file, nil
	}
	file, err := q.Open(f.path)
	if err != nil {
		return nil, err
	}
	if s, ok := f.src.(interface{ Stat() (os.FileInfo, error) }); ok {
		was, err := s.Stat()
		is, err2 := file.Stat()
		if err := errors.Join(err, err2); err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if !os.SameFile(was, is) {
			return nil, errors.Join(errReplaced, file.Close())
		}
	}
	d.file = file
	return file, nil
}

func (d *direct) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.file == nil {
		return nil
	}
	file := d.file
	d.file = nil
	return file.Close()
}

// room is buf's memory where that has size bytes, else new memory. It is never nil.
func room(buf []byte, size int64) []byte {
	if size == 0 && buf == nil {
		return []byte{}
	}
	return slices.Grow(buf[:0], int(size))[:size]
}
