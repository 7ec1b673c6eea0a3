package faults

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/testproxy"
)

// TestFaultI1 kills uploads at requests spread over all of them: before the service sees the request, in the middle
// of its body, and after the service has acted. The same command again makes the dataset that a local run makes.
func TestFaultI1(t *testing.T) {
	slow(t)
	t.Parallel()
	for _, u := range uploads(t) {
		total := u.count(t)
		n := cases(u.full, u.some)
		var killed atomic.Int64
		sum := each(t, spread(n, n), func(i int, dir string) error {
			moment := testproxy.Cuts()[i%len(testproxy.Cuts())]
			at := (i*total + total/2) / n
			hit, err := u.killAt(t, at, moment, dir)
			if hit {
				killed.Add(1)
			}
			if err != nil {
				err = fmt.Errorf("%s: killed at request %d of %d, moment %d: %w", u.part, at, total, moment, err)
			}
			return err
		})
		t.Logf("I1 [%s] %v killed=%d requests=%d", u.part, sum, killed.Load(), total)
	}
}

// TestFaultI1Disturbed disturbs a sixth of the requests of an upload: the run succeeds all the same.
func TestFaultI1Disturbed(t *testing.T) {
	slow(t)
	t.Parallel()
	for _, u := range uploads(t) {
		n := cases(u.full, u.some)
		var struck atomic.Int64
		sum := each(t, spread(n, n), func(i int, dir string) error {
			p := testproxy.Start(t, u.store.address, testproxy.Options{Pick: testproxy.Some(uint64(i), 1./6)})
			url, prefix := u.out(dir)
			scratch := filepath.Join(dir, "scratch")
			for _, args := range u.steps(url, "--scratch-dir", scratch) {
				r, err := u.run(p.Address, nil, args)
				if err == nil && r.code != 0 {
					err = fmt.Errorf("%s: %v", args[0], r)
				}
				if err != nil {
					return fmt.Errorf("%s: %w", u.part, err)
				}
			}
			for _, r := range p.Requests() {
				if r.Fault != testproxy.Pass {
					struck.Add(1)
				}
			}
			return errors.Join(u.whole(prefix, scratch), u.store.clear(prefix))
		})
		t.Logf("I1 [%s-disturbed] %v disturbed=%d", u.part, sum, struck.Load())
	}
}

// count returns the requests of an undisturbed upload.
func (u upload) count(t *testing.T) int {
	t.Helper()
	p := testproxy.Start(t, u.store.address, testproxy.Options{})
	dir := own(t)
	url, prefix := u.out(dir)
	scratch := filepath.Join(dir, "scratch")
	for _, args := range u.steps(url, "--scratch-dir", scratch) {
		if r, err := u.run(p.Address, nil, args); err != nil || r.code != 0 {
			t.Fatal(args[0], r, err)
		}
	}
	if err := errors.Join(u.whole(prefix, scratch), u.store.clear(prefix)); err != nil {
		t.Fatalf("%s, undisturbed: %v", u.part, err)
	}
	return len(p.Requests())
}

// run runs the program with a service at an address. started is told of the process; may be nil.
func (u upload) run(address string, started func(*os.Process), args []string) (result, error) {
	cmd, cancel := command(program(), args...)
	defer cancel()
	cmd.Env = append(os.Environ(), u.store.envAt(address)...)
	return finish(cmd, cmd.Start, func(time.Time) {
		if started != nil {
			started(cmd.Process)
		}
	})
}

// aged makes what a killed process has left in the scratch as old as the next one must find it to remove it.
func aged(scratch string) error {
	left, err := filepath.Glob(filepath.Join(scratch, "*"))
	before := time.Now().Add(-24 * time.Hour)
	for _, dir := range left {
		err = errors.Join(err, os.Chtimes(dir, before, before))
	}
	return err
}

// killAt kills the program at a request, counted over all steps, and runs that step and the others again, undisturbed.
// It is false if there were not as many requests.
func (u upload) killAt(t *testing.T, at int, moment testproxy.Fault, dir string) (hit bool, err error) {
	process := make(chan *os.Process, 1)
	p := testproxy.Start(t, u.store.address, testproxy.Options{Pick: testproxy.Only(at, moment), Strike: func(int, *http.Request) {
		(<-process).Kill()
	}})
	url, prefix := u.out(dir)
	scratch := filepath.Join(dir, "scratch")
	address := p.Address
	for _, args := range u.steps(url, "--scratch-dir", scratch) {
		r, err := u.run(address, func(p *os.Process) {
			select {
			case <-process: // of the step before
			default:
			}
			process <- p
		}, args)
		if err == nil && r.signal == syscall.SIGKILL && !hit {
			hit, address = true, u.store.address
			if err = u.sound(prefix); err != nil {
				return hit, fmt.Errorf("%s: %w", args[0], err)
			}
			if err = aged(scratch); err != nil {
				return hit, err
			}
			r, err = u.run(address, nil, args)
		}
		if err == nil && r.code != 0 {
			err = fmt.Errorf("%v", r)
		}
		if err != nil {
			return hit, fmt.Errorf("%s: %w", args[0], err)
		}
	}
	return hit, errors.Join(u.whole(prefix, scratch), u.store.clear(prefix))
}
