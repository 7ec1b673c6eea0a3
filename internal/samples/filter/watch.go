package filter

import (
	"sync"
	"time"
)

// A watch calls a function when the process has neither read nor written for the limit while this process waits
// for it. A nil watch does nothing.
type watch struct {
	limit time.Duration

	mu      sync.Mutex
	timer   *time.Timer
	waiting bool // this process waits for the process, not for the source
	late    bool // half the limit has passed. If this process was suspended, the second half lets it read pending output
	over    bool // the function was called
}

func newWatch(limit time.Duration, hung func()) *watch {
	if limit <= 0 {
		return nil
	}
	w := &watch{limit: limit}
	w.mu.Lock() // the timer may fire before it is set
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(limit/2, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		switch {
		case !w.waiting:
		case !w.late:
			w.late = true
			w.timer.Reset(limit / 2)
		default:
			w.over = true
			hung()
		}
	})
	return w
}

// moved resets the timer: the process has read or written something.
func (w *watch) moved() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.again()
}

// again starts the limit again.
func (w *watch) again() {
	w.late = false
	w.timer.Reset(w.limit / 2)
}

// wait starts waiting for the process; done ends it.
func (w *watch) wait() (done func()) {
	w.set(true)
	return func() { w.set(false) }
}

func (w *watch) set(waiting bool) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = waiting
	w.again()
}

func (w *watch) hung() bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}
