package aio

import (
	"errors"
	"sync"
	"time"
)

const (
	inputDepth = 32        // requests in flight
	inputBlock = 128 << 10 // largest request in bytes
	mostInputs = 8         // Readers in use at once, with up to 32 MiB in all
)

// idleFor is how long an idle Reader is kept for the next file. The kernel takes 30 to 50 ms to destroy a queue
// (BenchmarkDestroy), too long to do it for each file.
const idleFor = time.Second

// inputReaders lends Readers to all Streams of the process.
var inputReaders = readerList{open: func() (*Reader, error) {
	return newReader(Options{Depth: inputDepth, BlockSize: inputBlock}, newRing())
}}

// A readerList lends Readers, and closes a Reader that has been idle for idleFor.
type readerList struct {
	open func() (*Reader, error)
	mu   sync.Mutex
	lent int
	idle []*Reader
	last *time.Timer // closes idle Readers
}

var errTooMany = errors.New("aio: too many files read ahead")

// get returns a Reader. The caller returns it with put.
func (l *readerList) get() (*Reader, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lent == mostInputs {
		return nil, errTooMany
	}
	if n := len(l.idle); n > 0 {
		r := l.idle[n-1]
		l.idle = l.idle[:n-1]
		l.lent++
		return r, nil
	}
	r, err := l.open()
	if err == nil {
		l.lent++
	}
	return r, err
}

// put takes back a Reader without requests in flight. It closes a Reader that has failed.
func (l *readerList) put(r *Reader) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lent--
	if r.broken != nil {
		return r.Close()
	}
	l.idle = append(l.idle, r)
	if l.last == nil {
		l.last = time.AfterFunc(idleFor, l.closeIdle)
	} else {
		l.last.Reset(idleFor)
	}
	return nil
}

func (l *readerList) closeIdle() {
	l.mu.Lock()
	idle := l.idle
	l.idle = nil
	l.mu.Unlock()
	for _, r := range idle {
		r.Close() // no file and no request depends on it
	}
}
