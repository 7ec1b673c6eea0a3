package filter

import (
	"sync"
	"time"
)

// A watch calls a function when a process was waited for and has not moved for the limit. A nil watch does nothing.
type watch struct {
	limit time.Duration

	mu      sync.Mutex
	timer   *time.Timer
	waiting bool // for the process, not for the source
	over    bool // the function was called
}

func newWatch(limit time.Duration, hung func()) *watch {
	if limit <= 0 {
		return nil
	}
	w := &watch{limit: limit}
	w.timer = time.AfterFunc(limit, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.waiting {
			w.over = true
			hung()
		}
	})
	return w
}

// moved says that the process has read or written something.
func (w *watch) moved() {
	if w != nil {
		w.timer.Reset(w.limit)
	}
}

// wait says that the process is waited for, until done is called.
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
	w.timer.Reset(w.limit)
}

// hung reports whether the function was called.
func (w *watch) hung() bool {
	if w == nil {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}
