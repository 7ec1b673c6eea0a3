package faults

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// writing are the system calls by which files and directories come to be.
var writing = []string{"openat", "mkdirat", "unlinkat", "renameat", "renameat2", "linkat", "write", "pwrite64", "fallocate", "ftruncate", "fsync", "fdatasync", "sync_file_range"}

// typical returns how long an undisturbed conversion takes, of several the quickest.
func typical(t *testing.T, flags ...string) time.Duration {
	t.Helper()
	if _, err := reference(); err != nil {
		t.Fatal(err)
	}
	quickest := hang
	for range 3 {
		dir, remove, err := scratch()
		if err != nil {
			t.Fatal(err)
		}
		r, err := run(convert(filepath.Join(dir, "out"), flags...)...)
		remove()
		if err != nil || r.code != 0 {
			t.Fatal(r, err)
		}
		quickest = min(quickest, r.took)
	}
	return quickest
}

// TestFaultB1 kills conversions at moments spread over their time.
func TestFaultB1(t *testing.T) {
	t.Parallel()
	n := cases(200, 24)
	takes := typical(t, "-j1")
	var killed atomic.Int64
	sum := each(t, spread(n, n), func(i int, dir string) error {
		out := filepath.Join(dir, "out")
		cmd, cancel := command(program, convert(out, "-j1")...)
		defer cancel()
		r, err := finish(cmd, cmd.Start, func(began time.Time) {
			time.Sleep(time.Until(began.Add(takes * time.Duration(i) / time.Duration(n))))
			cmd.Process.Kill()
		})
		if err != nil {
			return err
		}
		if r.signal != 0 {
			killed.Add(1)
		}
		if err := half(out); err != nil {
			return fmt.Errorf("killed after %v: %w", r.took, err)
		}
		return again(out, "-j1")
	})
	t.Logf("B1 %v killed=%d", sum, killed.Load())
}

// TestFaultB2 kills conversions in place of each of their system calls that write.
func TestFaultB2(t *testing.T) {
	t.Parallel()
	old := []string{"--encode", "raw:jpg"}
	other, err := referenceOf("reference-raw", old...)
	if err != nil {
		t.Fatal(err)
	}
	fresh, calls1 := killEach(t, 18, nil, func(string) error { return nil })
	// A conversion that replaces another dataset; what is seen of either must be sound.
	replaced, calls2 := killEach(t, 12, []tree{other}, func(out string) error {
		r, err := run(convert(out, old...)...)
		if err == nil && r.code != 0 {
			err = fmt.Errorf("%v", r)
		}
		return err
	}, "--overwrite")
	t.Logf("B2 %v calls=%d; replacing another dataset: %v calls=%d", fresh, calls1, replaced, calls2)
}

// killEach kills a conversion at each call, where before has prepared the output.
func killEach(t *testing.T, some int, references []tree, before func(out string) error, flags ...string) (tally, int) {
	t.Helper()
	want, err := reference()
	if err != nil {
		t.Fatal(err)
	}
	references = append(references, want)
	flags = append(flags, "-j1")
	one := func(k int, dir string) (hit bool, err error) {
		out := filepath.Join(dir, "out")
		if err := before(out); err != nil {
			return false, err
		}
		n := counter{at: k, strike: verdict{kill: true}}
		r, err := supervise(writing, n.decide, convert(out, flags...)...)
		if err != nil {
			return false, err
		}
		if n.hit == "" {
			if r.code != 0 {
				return false, fmt.Errorf("undisturbed: %v", r)
			}
			return false, identical(out)
		}
		if err := sound(out, references...); err != nil {
			return true, fmt.Errorf("killed at %s: %w", n.hit, err)
		}
		if err := again(out, flags...); err != nil {
			return true, fmt.Errorf("killed at %s: %w", n.hit, err)
		}
		return true, nil
	}
	total := calls(t, func(dir string) (int, error) {
		if err := before(filepath.Join(dir, "out")); err != nil {
			return 0, err
		}
		return count(dir, writing, flags...)
	})
	sum := each(t, spread(total, some), func(k int, dir string) error {
		_, err := one(k, dir)
		return err
	})
	// A run may make a call more than the one that was counted.
	for k := total; full; k++ {
		hit := false
		sum = sum.plus(each(t, []int{k}, func(k int, dir string) (err error) {
			hit, err = one(k, dir)
			return err
		}))
		if !hit || t.Failed() {
			break
		}
	}
	return sum, total
}

// calls counts in a directory of its own.
func calls(t *testing.T, count func(dir string) (int, error)) int {
	t.Helper()
	dir, remove, err := scratch()
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	n, err := count(dir)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
