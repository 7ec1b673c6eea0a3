package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestFaultB4 runs two conversions into one directory: at once, while the first is held
// in the middle of its work, and when the first was killed there.
func TestFaultB4(t *testing.T) {
	slow(t)
	t.Parallel()
	race(t)
	held(t)
	orphaned(t)
}

// race starts both at the same moment, or one a little later.
func race(t *testing.T) {
	t.Helper()
	n := cases(50, 8)
	takes := typical(t)
	var refused, late atomic.Int64
	sum := each(t, spread(n, n), func(i int, dir string) error {
		out := filepath.Join(dir, "out")
		// At the same moment every other time, else ever later.
		wait := takes * time.Duration(i/2*2) / time.Duration(n) * time.Duration(i%2)
		type ended struct {
			result
			err error
		}
		second := make(chan ended, 1)
		go func() {
			time.Sleep(wait)
			r, err := run(convert(out)...)
			second <- ended{r, err}
		}()
		first, err := run(convert(out)...)
		other := <-second
		if err := errors.Join(err, other.err); err != nil {
			return err
		}
		won := 0
		for _, r := range []result{first, other.result} {
			if r.code == 0 {
				won++
				continue
			}
			refused.Add(1)
			if err := r.clean(1); err != nil {
				return err
			}
			if !strings.Contains(r.stderr, "another ffconvert is writing there") {
				return fmt.Errorf("%v; want it to speak of the other process", r)
			}
		}
		switch won {
		case 0:
			return errors.New("neither has won")
		case 2:
			late.Add(1)
		}
		if err := identical(out); err != nil {
			return err
		}
		return again(out)
	})
	t.Logf("B4 [race] %v refused=%d came_after=%d", sum, refused.Load(), late.Load())
}

// locking counts the calls that a process makes while the lock of its output names it,
// and calls at during the k-th of them, which waits.
type locking struct {
	lock string // the file
	k    int    // from 0; -1: never
	at   func(c *call) verdict

	mu   sync.Mutex
	seen int
	hit  bool
}

func (l *locking) decide(c *call) verdict {
	if text, err := os.ReadFile(l.lock); err != nil || len(text) == 0 || !c.ours() {
		return verdict{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen++
	if l.hit || l.k < 0 || l.seen-1 < l.k {
		return verdict{}
	}
	l.hit = true
	return l.at(c)
}

func lockOf(out string) string { return filepath.Join(out, ".ffconvert", "lock") }

// whileLocked returns how many of its calls a conversion makes while it has the lock.
func whileLocked(t *testing.T) int {
	t.Helper()
	return calls(t, func(dir string) (int, error) {
		out := filepath.Join(dir, "out")
		l := locking{lock: lockOf(out), k: -1}
		r, err := supervise(writing, l.decide, convert(out, "-j1")...)
		if err == nil && (r.code != 0 || l.seen == 0) {
			err = fmt.Errorf("%v, %d calls with a lock", r, l.seen)
		}
		return l.seen, err
	})
}

var holder = regexp.MustCompile(`another ffconvert is writing there: process ([0-9]+) on (\S+), since `)

// held runs a second conversion while the first waits in the middle of a call. It must be
// refused and name the first, which must not notice.
func held(t *testing.T) {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	total, n := whileLocked(t), cases(20, 4)
	sum := each(t, spread(n, n), func(i int, dir string) error {
		out := filepath.Join(dir, "out")
		var wrong error
		l := locking{lock: lockOf(out), k: total * i / n, at: func(c *call) verdict {
			before, err1 := readTree(out)
			second, err2 := run(convert(out)...)
			after, err3 := readTree(out)
			if wrong = errors.Join(err1, err2, err3); wrong == nil {
				wrong = errors.Join(second.clean(1), after.withoutWork().differ(before.withoutWork()))
			}
			m := holder.FindStringSubmatch(second.stderr)
			if wrong == nil && (m == nil || m[2] != host) {
				wrong = fmt.Errorf("%v; want it to name the process and %s", second, host)
			}
			if wrong == nil {
				_, wrong = os.Stat(filepath.Join("/proc", m[1], "task", strconv.Itoa(int(c.tid))))
			}
			return verdict{}
		}}
		first, err := supervise(writing, l.decide, convert(out, "-j1")...)
		if err := errors.Join(err, wrong); err != nil {
			return err
		}
		if first.code != 0 || !l.hit {
			return fmt.Errorf("the first: %v, a second one was tried: %t", first, l.hit)
		}
		return identical(out)
	})
	t.Logf("B4 [held] %v calls=%d", sum, total)
}

// orphaned kills the first conversion. Its lock still names it, and must be taken over at
// once by another one.
func orphaned(t *testing.T) {
	t.Helper()
	total, n := whileLocked(t), cases(20, 4)
	sum := each(t, spread(n, n), func(i int, dir string) error {
		out := filepath.Join(dir, "out")
		l := locking{lock: lockOf(out), k: total * i / n, at: func(*call) verdict { return verdict{kill: true} }}
		r, err := supervise(writing, l.decide, convert(out, "-j1")...)
		if err == nil && r.signal == 0 {
			err = fmt.Errorf("not killed: %v", r)
		}
		text, err2 := os.ReadFile(lockOf(out))
		if err2 == nil && len(text) == 0 {
			err2 = errors.New("the lock does not name its dead holder")
		}
		if err := errors.Join(err, err2, half(out)); err != nil {
			return err
		}
		return again(out)
	})
	t.Logf("B4 [killed] %v calls=%d", sum, total)
}
