package faults

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// writing are the system calls by which files and directories come to be.
var writing = []string{"openat", "mkdirat", "unlinkat", "renameat", "renameat2", "linkat", "write", "pwrite64", "fallocate", "ftruncate", "fsync", "fdatasync", "syncfs"}

// typical returns how long an undisturbed conversion of tars takes, of several the quickest.
func typical(t *testing.T, flags ...string) time.Duration {
	t.Helper()
	return typicalOf(t, func(out string) []string { return convert(out, flags...) })
}

func typicalOf(t *testing.T, args func(out string) []string) time.Duration {
	t.Helper()
	quickest := hang
	for range 3 {
		dir, remove, err := scratch()
		if err != nil {
			t.Fatal(err)
		}
		r, err := run(args(filepath.Join(dir, "out"))...)
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
	slow(t)
	t.Parallel()
	for _, c := range append(slices.Clone(conversions(t)), exports(t)...) {
		n := cases(50, 3)
		if c.name == "tar" {
			n = cases(200, 16)
		}
		takes := typicalOf(t, c.args)
		var killed atomic.Int64
		sum := each(t, spread(n, n), func(i int, dir string) error {
			out := filepath.Join(dir, "out")
			cmd, cancel := command(program(), c.args(out)...)
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
			if err := c.sound(out); err != nil {
				return fmt.Errorf("%s: killed after %v: %w", c.name, r.took, err)
			}
			return complete(out, c.want, c.args(out))
		})
		t.Logf("B1 [%s] %v killed=%d", c.name, sum, killed.Load())
	}
}

// TestFaultB2 kills conversions in place of each of their system calls that write: one
// of each format into a new directory, one that replaces another dataset, and one of
// compressed tars, which are decompressed into a cache first.
func TestFaultB2(t *testing.T) {
	slow(t)
	t.Parallel()
	all := conversions(t)
	for _, c := range append(slices.Clone(all), exports(t)...) {
		t.Logf("B2 [%s] %v", c.name, killing{conversion: c}.each(t, 6))
	}

	older := func(out string) []string { return convert(out, "--encode", "raw:jpg") }
	out := filepath.Join(base, "reference-raw")
	raw, err := referenceOf(out, older(out))
	if err != nil {
		t.Fatal(err)
	}
	replaced := killing{
		conversion: conversion{name: "overwrite", args: func(out string) []string { return convert(out, "-j1", "--overwrite") }, want: all[0].want},
		before:     func(out string) error { return complete(out, raw, older(out)) }, old: raw,
	}.each(t, 6)
	t.Logf("B2 [overwrite] %v # replacing another dataset", replaced)

	staged, err := packedReference()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("B2 [gzip] %v", killing{conversion: conversion{name: "gzip", args: convertPacked, want: staged}}.each(t, 10))

	planned := func(out string) error { return must(append([]string{"plan"}, convert(out)...)) }
	t.Logf("B2 [task] %v", killing{
		conversion: conversion{name: "task", args: taskArgs, want: all[0].want}, before: planned,
		after: func(out string) error {
			if err := must(taskArgs(out)); err != nil {
				return err
			}
			return complete(out, all[0].want, finishArgs(out))
		},
	}.each(t, 8))
	t.Logf("B2 [finish] %v", killing{
		conversion: conversion{name: "finish", args: finishArgs, want: all[0].want},
		before:     func(out string) error { return errors.Join(planned(out), must(taskArgs(out))) },
	}.each(t, 8))
}

func taskArgs(out string) []string   { return []string{"run", "-j1", "--progress", "none", out} }
func finishArgs(out string) []string { return []string{"finish", "--progress", "none", out} }

// must runs the program, undisturbed.
func must(args []string) error {
	r, err := run(args...)
	if err == nil && r.code != 0 {
		err = fmt.Errorf("%s: %v", args[0], r)
	}
	return err
}

// A killing is a conversion that is killed at each of its calls in turn.
type killing struct {
	conversion
	before func(out string) error // prepares the output, may be nil
	after  func(out string) error // makes good what was killed, and compares; nil: the same command does
	old    tree                   // what is there then
}

func (x killing) complete(out string) error {
	if x.after != nil {
		return x.after(out)
	}
	return complete(out, x.want, x.args(out))
}

func (x killing) each(t *testing.T, some int) tally {
	t.Helper()
	total := calls(t, func(dir string) (int, error) {
		if err := x.prepare(dir); err != nil {
			return 0, err
		}
		n := counter{at: -1}
		r, err := supervise(writing, n.decide, x.args(filepath.Join(dir, "out"))...)
		if err == nil && r.code != 0 {
			err = fmt.Errorf("%v", r)
		}
		return n.seen, err
	})
	sum := each(t, spread(total, some), func(k int, dir string) error {
		_, err := x.at(k, dir)
		return err
	})
	// A run may make a call more than the one that was counted.
	for k := total; full; k++ {
		hit := false
		sum = sum.plus(each(t, []int{k}, func(k int, dir string) (err error) {
			hit, err = x.at(k, dir)
			return err
		}))
		if !hit || t.Failed() {
			break
		}
	}
	return sum
}

func (x killing) prepare(dir string) error {
	if x.before == nil {
		return nil
	}
	return x.before(filepath.Join(dir, "out"))
}

// at kills at the k-th call, where there are so many, and runs the command again.
func (x killing) at(k int, dir string) (hit bool, err error) {
	if err := x.prepare(dir); err != nil {
		return false, err
	}
	out := filepath.Join(dir, "out")
	n := counter{at: k, strike: verdict{kill: true}}
	r, err := supervise(writing, n.decide, x.args(out)...)
	if err != nil {
		return false, err
	}
	if n.hit == "" {
		if r.code != 0 {
			return false, fmt.Errorf("undisturbed: %v", r)
		}
		if x.after != nil {
			return false, x.after(out)
		}
		return false, sameAs(out, x.want)
	}
	err = x.sound(out, x.old)
	if err == nil {
		err = x.complete(out)
	}
	if err != nil {
		err = fmt.Errorf("%s: killed at call %d, %s: %w", x.name, k, n.hit, err)
	}
	return true, err
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
