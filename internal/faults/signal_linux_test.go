package faults

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestFaultD4 interrupts conversions and verifications: at moments spread over their
// time, and at system calls spread over those that they make.
func TestFaultD4(t *testing.T) {
	slow(t)
	t.Parallel()
	if _, err := reference(); err != nil {
		t.Fatal(err)
	}
	n := cases(200, 24)
	takes := typical(t, "-j2")
	working := append([]string{"io_setup", "io_submit", "io_getevents", "pread64", "close"}, writing...)
	total := calls(t, func(dir string) (int, error) { return count(dir, working, "-j2") })
	rings := aioInUse(t)
	var interrupted, early, through atomic.Int64
	sum := each(t, spread(n, n), func(i int, dir string) error {
		out := filepath.Join(dir, "out")
		sig, code := syscall.SIGINT, 130
		if i%2 == 1 {
			sig, code = syscall.SIGTERM, 143
		}
		args, last := convert(out, "-j2"), total
		if i%8 == 1 || i%8 == 3 {
			args = convert(out, "-j2", "--grace", "1h") // shards under way are finished, which takes a moment
		}
		if i%8 >= 6 {
			args, last = []string{"verify", "--progress", "none", filepath.Join(base, "reference")}, 20
		}
		var r result
		var err error
		if i/2%2 == 0 {
			n := counter{at: last * i / n, strike: verdict{signal: sig}}
			r, err = supervise(working, n.decide, args...)
		} else {
			cmd, cancel := command(program(), args...)
			defer cancel()
			r, err = finish(cmd, cmd.Start, func(began time.Time) {
				time.Sleep(time.Until(began.Add(takes * time.Duration(i) / time.Duration(n))))
				cmd.Process.Signal(sig)
			})
		}
		switch {
		case err != nil:
			return err
		case r.code == 0:
			through.Add(1) // it was done, or as good as done
		case r.signal == sig: // before main has begun, or between the end of the run and that of the process
			early.Add(1)
			if _, err := os.Stat(out); err == nil {
				if err := identical(out); err != nil {
					return fmt.Errorf("%v, with an output begun: %w", r, err)
				}
			}
		default:
			interrupted.Add(1)
			if err := r.clean(code); err != nil {
				return err
			}
		}
		if err := half(out); err != nil {
			return err
		}
		if err := r.cleanedUp(out); err != nil {
			return err
		}
		return again(out, "-j2")
	})
	t.Logf("D4 [cold] %v", stopCold(t))
	for wait := 0; aioInUse(t) > rings; wait++ { // other programs use it too
		if wait == 1200 {
			t.Errorf("aio-nr was %d and is %d", rings, aioInUse(t))
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("D4 %v interrupted=%d before_main=%d completed=%d", sum, interrupted.Load(), early.Load(), through.Load())
}

// cleanedUp returns an error if a run that was stopped has left temporary files. On a busy machine it may say that it had no time
// to remove them.
func (r result) cleanedUp(out string) error {
	left, err := filepath.Glob(filepath.Join(out, ".ffconvert", "tmp", "*"))
	if late := !full && strings.Contains(r.stderr, "stopped without an end"); len(left) > 0 && !late {
		return fmt.Errorf("%v: %s was left behind", r, left)
	}
	return err
}

func aioInUse(t *testing.T) int {
	t.Helper()
	return kernelNumber(t, "/proc/sys/fs/aio-nr")
}

func kernelNumber(t *testing.T, path string) int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestFaultD2 sends the signal by which the Go runtime preempts, 10,000 times a second,
// while shards are verified, again and again.
func TestFaultD2(t *testing.T) {
	slow(t)
	t.Parallel()
	if _, err := reference(); err != nil {
		t.Fatal(err)
	}
	lasts := 10 * time.Second
	if !full {
		lasts = time.Second
	}
	want, err := verifyReport(nil, filepath.Join(base, "reference"))
	if err != nil {
		t.Fatal(err)
	}
	sum, signals := tally{}, 0
	for began := time.Now(); time.Since(began) < lasts; sum.cases++ {
		backend := []string{"auto", "aio", "pread"}[sum.cases%3]
		// Small blocks, one in flight: as many system calls as there can be.
		cmd, cancel := command(program(), "verify", "--format", "json", "--progress", "none", "--backend", backend, "--block-size", "4096", "--queue-depth", strconv.Itoa(1+rand.IntN(8)), filepath.Join(base, "reference"))
		quit, quitted := make(chan struct{}), make(chan struct{})
		r, err := finish(cmd, cmd.Start, func(began time.Time) {
			go func() {
				defer close(quitted)
				const every = 100 * time.Microsecond
				for sent := time.Duration(0); ; time.Sleep(every / 2) {
					select {
					case <-quit:
						return
					default:
					}
					for ; sent*every <= time.Since(began); sent++ { // those that are due
						if cmd.Process.Signal(syscall.SIGURG) == nil {
							signals++
						}
					}
				}
			}()
		})
		close(quit)
		<-quitted
		cancel()
		if err == nil {
			var got report
			if got, err = parseReport(r); err == nil {
				err = got.differ(want)
			}
		}
		if err != nil {
			t.Errorf("backend %s: %v", backend, err)
			sum.lost++
		}
	}
	t.Logf("D2 %v signals=%d", sum, signals)
}
