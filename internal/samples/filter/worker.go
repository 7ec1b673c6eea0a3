package filter

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/cbor"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/stage"
)

const (
	// usualLull is how long a process that has received a whole part may write nothing before its input is closed, since
	// it may hold answers back until then. A new process then answers the next part.
	usualLull = time.Second
	// gone is how long a process may run after it has closed its input.
	gone = 5 * time.Second

	bufferSize = 64 << 10 // of input and output
	step       = 1 << 20  // bytes per write

	progressEvery = 100 * time.Millisecond
)

// A worker is a running process of the filter.
type worker struct {
	*stage.Process
	name  string
	in    *bufio.Reader // answers
	lull  time.Duration // see usualLull
	watch *watch

	mu    sync.Mutex
	phase phase
}

// A phase is the state of a worker's input.
type phase int

const (
	feeding phase = iota // the process is receiving samples
	fed                  // it has received the whole part
	shut                 // this side has closed its input
	broken               // the process has closed its input
)

// set enters a phase. A Read that waits longer than quiet calls worker.quiet; 0: never.
func (w *worker) set(to phase, quiet time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.phase = to
	w.Quiet(quiet)
}

func (w *worker) shutNow() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.phase == shut
}

func (o *Options) startWorker() (*worker, error) {
	p, err := stage.StartProcess(o.Command, o.Guarded)
	if err != nil {
		return nil, err
	}
	w := &worker{Process: p, name: o.Command.Name, lull: cmp.Or(o.lull, usualLull), watch: newWatch(o.Timeout, p.Interrupt)}
	w.in = bufio.NewReaderSize(w, bufferSize)
	return w, nil
}

// Read reads answers. If a process that has received its whole part writes nothing for a while, Read closes its input.
func (w *worker) Read(b []byte) (int, error) {
	for {
		w.mu.Lock()
		if w.phase == fed {
			w.Quiet(w.lull)
		}
		w.mu.Unlock()
		n, err := w.Process.Read(b)
		w.watch.moved()
		if !errors.Is(err, os.ErrDeadlineExceeded) || w.Interrupted() || !w.quiet() {
			return n, err
		}
	}
}

// Write writes samples in pieces, so that the watch sees progress within a large one.
func (w *worker) Write(b []byte) (n int, err error) {
	defer w.watch.wait()()
	for n < len(b) && err == nil {
		var some int
		some, err = w.Process.Write(b[n:min(n+step, len(b))])
		n += some
		w.watch.moved()
	}
	return n, err
}

// quiet handles a process that has written nothing for the quiet time of its phase. It reports whether to read on.
func (w *worker) quiet() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.phase {
	case broken:
		return false
	case fed:
		w.phase = shut
		w.CloseInput()
	}
	w.Quiet(0)
	return true
}

// A part is the input of one process for one call of do.
type part struct {
	name     string
	samples  iter.Seq2[*converters.Sample, error]
	n        int64
	enc      *encode.Encoder
	out      *bufio.Writer       // for the samples of the answers
	answer   func(samples int64) // called with the number of samples of each answer
	progress func(done int64)    // called from time to time with the number of answers
}

// do gives the process the samples of a part and reads its answers. ended reports whether the process has exited
// with status 0. After an error the process must be stopped.
func (w *worker) do(ctx context.Context, p *part) (ended bool, err error) {
	unwatch := context.AfterFunc(ctx, w.Interrupt)
	defer w.watch.set(false)
	w.set(feeding, 0)
	waiting := &keys{}
	feeder := make(chan error, 1)
	go func() { feeder <- w.feed(p, waiting) }()
	done, err := w.take(p, waiting)
	if err == nil && w.in.Buffered() > 0 {
		err = errMore
	}
	if err == nil && w.shutNow() {
		ended = true
		err = w.end()
	}
	if err != nil {
		w.Interrupt()
	}
	unfed := <-feeder
	if !unwatch() || ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if _, placed := errors.AsType[*place.Error](unfed); placed {
		return false, unfed // an error of the source
	}
	if err == nil && unfed != nil {
		err = errUnread
	}
	if err != nil {
		return false, w.fail(p, done, waiting.oldest(), err)
	}
	return ended, nil
}

// feed writes the samples of a part to the process.
func (w *worker) feed(p *part, waiting *keys) error {
	to := bufio.NewWriterSize(w, bufferSize)
	for sample, err := range p.samples {
		if err != nil {
			w.Interrupt()
			return err
		}
		rec, err := p.enc.Encode(sample)
		if err != nil {
			w.Interrupt()
			return &place.Error{Where: p.name, Off: sample.Off, Entry: sample.Key, Err: err, Hint: place.HintOf(err)}
		}
		waiting.push(sample.Key)
		for _, b := range rec.Parts {
			if _, err := to.Write(b); err != nil {
				return w.refused(err)
			}
		}
	}
	if err := to.Flush(); err != nil {
		return w.refused(err)
	}
	w.watch.set(true)
	w.set(fed, w.lull)
	return nil
}

// refused waits a short time for the exit of a process that has closed its input: its status explains more than err.
func (w *worker) refused(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		w.set(broken, gone)
	}
	return err
}

// take reads the answers to a part. done is the number of complete answers.
func (w *worker) take(p *part, waiting *keys) (done int64, err error) {
	s := &splitter{in: w.in, out: p.out, max: cbor.DefaultMaxItem}
	last := time.Now() // last call of progress
	for ; done < p.n; done++ {
		if time.Since(last) > progressEvery {
			p.progress(done)
			last = time.Now()
		}
		if err := s.begin(); err != nil {
			return done, err
		}
		key, ok := waiting.first()
		if !ok {
			return done, errMore
		}
		samples, err := s.answer(key)
		if err != nil {
			return done, err
		}
		waiting.pop()
		p.answer(samples)
	}
	p.progress(done)
	return done, nil
}

// finish closes the input of an idle process and waits for its exit.
func (w *worker) finish(ctx context.Context) error {
	unwatch := context.AfterFunc(ctx, w.Interrupt)
	defer w.watch.wait()()
	w.CloseInput()
	w.set(shut, 0)
	err := w.end()
	if !unwatch() || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return w.fail(nil, 0, "", err)
	}
	return nil
}

// end returns an error unless the output has ended.
func (w *worker) end() error {
	if _, err := w.in.Peek(1); err == io.EOF {
		return nil
	} else if err != nil {
		return err
	}
	return errMore
}
