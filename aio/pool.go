package aio

import (
	"errors"
	"io"
	"sync"
	"syscall"
)

// A pool is a kernel of goroutines, each in one pread at a time. They start as the queue fills and
// end with destroy. They use the buffers of requests only between submit and getevents.
type pool struct {
	read    func(f *File, buf []byte, off int64) (int, error)
	jobs    chan request
	results chan event
	workers sync.WaitGroup
	started int
	pending int // requests submitted but not yet returned by getevents
}

func newPool() *pool { return &pool{read: pread} }

func (p *pool) setup(depth int, _ []byte) error {
	// Both channels have room for all requests, so neither submit nor a worker blocks when sending.
	p.jobs = make(chan request, depth)
	p.results = make(chan event, depth)
	return nil
}

func (p *pool) submit(reqs []request) (int, error) {
	n := min(len(reqs), cap(p.jobs)-p.pending)
	if n == 0 {
		return 0, syscall.EAGAIN
	}
	p.pending += n
	for p.started < p.pending {
		p.started++
		p.workers.Go(p.work)
	}
	for _, r := range reqs[:n] {
		p.jobs <- r
	}
	return n, nil
}

func (p *pool) work() {
	for r := range p.jobs {
		n, err := p.read(r.file, r.buf, r.off)
		for err != nil && errors.Is(err, syscall.EINTR) {
			n, err = p.read(r.file, r.buf, r.off)
		}
		if err == io.EOF { // the count is short, which is enough
			err = nil
		}
		if err != nil {
			n = 0
		}
		p.results <- event{tag: r.tag, n: n, err: err}
	}
}

func (p *pool) getevents(min int, events []event) (int, error) {
	n := 0
	if min > 0 {
		events[0] = <-p.results
		n = 1
	}
	for n < len(events) {
		select {
		case events[n] = <-p.results:
			n++
			continue
		default:
		}
		break
	}
	p.pending -= n
	return n, nil
}

func (p *pool) destroy() error {
	close(p.jobs)
	p.workers.Wait()
	return nil
}
