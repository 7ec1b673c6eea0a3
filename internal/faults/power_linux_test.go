package faults

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestFaultB3 loses power at each system call that writes: what was not synced is kept
// or lost by the rules of a disk, in nine ways. What the program then finds is made
// real: no final name may have wrong bytes, and the same command must complete it.
func TestFaultB3(t *testing.T) {
	slow(t)
	t.Parallel()
	all := conversions(t)
	for _, c := range append(slices.Clone(all), exports(t)...) {
		t.Logf("B3 [%s] %v", c.name, blackout{conversion: c, made: true}.each(t, 10))
	}
	t.Logf("B3 [new] %v # into a directory that it makes", blackout{conversion: all[0]}.each(t, 12))
	staged, err := packedReference()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("B3 [gzip] %v", blackout{conversion: conversion{name: "gzip", args: convertPacked, want: staged}, made: true}.each(t, 30))

	older := func(out string) []string { return convert(out, "-j1", "--encode", "raw:jpg") }
	out := filepath.Join(base, "reference-older")
	old, err := referenceOf(out, older(out))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("B3 [overwrite] %v # replacing another dataset", blackout{
		conversion: conversion{name: "overwrite", args: func(out string) []string { return convert(out, "-j1", "--overwrite") }, want: all[0].want},
		before:     func(dir string) error { return os.CopyFS(filepath.Join(dir, "out"), os.DirFS(out)) }, old: old,
	}.each(t, 12))
	m := newMending(t)
	t.Logf("B3 [repair] %v", blackout{
		conversion: conversion{name: "repair", args: repairArgs, want: m.want}, before: m.prepare, sound: func(t tree) error { return t.mixture(m.want, m.hurt) },
	}.each(t, 12))
}

// A blackout is a conversion that loses power at each of its calls in turn.
type blackout struct {
	conversion
	made   bool                   // the output directory was there before
	before func(dir string) error // makes the output with something in it; nil: there is nothing in it
	old    tree                   // what was in it
	sound  func(tree) error       // says what is wrong with what is found; nil: nothing but a whole dataset, new or old, has a manifest
}

// each looks at all states, and runs the command again on so many of them by default.
func (x blackout) each(t *testing.T, some int) tally {
	t.Helper()
	if x.sound == nil {
		x.sound = func(t tree) error { return t.sound(x.want, x.old) }
	}
	states, moments := powerLosses(t, x)
	total := tally{cases: moments * 9}
	for _, s := range states {
		if err := s.check(x.want, x.sound); err != nil {
			t.Errorf("%s: %v: %v", x.name, s, err)
			total.undetected++
		}
	}
	again := each(t, spread(len(states), some), func(i int, dir string) error {
		if err := states[i].files.write(dir); err != nil {
			return err
		}
		out := filepath.Join(dir, "out")
		if err := complete(out, x.want, x.args(out)); err != nil {
			return fmt.Errorf("%s: %v: %w", x.name, states[i], err)
		}
		return nil
	})
	total.undetected += again.undetected
	total.lost = again.lost
	return total
}

// A powerLoss is one state of the files that the program may find.
type powerLoss struct {
	at          int
	before      string // the call that was not made any more
	names, data keep
	files       tree
	done        bool // the program had ended, and said that all is well
}

func (s *powerLoss) String() string {
	percent := func(k keep) int { return 50 * int(k) }
	return fmt.Sprintf("power lost before call %d, %s, %d %% of the other names and %d %% of the other data kept", s.at, s.before, percent(s.names), percent(s.data))
}

// check says what is wrong with what is found. Once the program has said that all is
// well, all is there; what it has cleaned up may be there again.
func (s *powerLoss) check(want tree, sound func(tree) error) error {
	found := within(s.files, "out")
	if err := sound(found); err != nil || !s.done {
		return err
	}
	return found.withoutScratch().differ(want.withoutScratch())
}

// within returns what is below a directory of a tree, as readTree would return it.
func within(t tree, dir string) tree {
	out := make(tree)
	for name, data := range t {
		rel, ok := strings.CutPrefix(name, dir+"/")
		if !ok || rel == "" {
			continue
		}
		out[rel] = comparable(rel, data)
	}
	return out
}

// powerLosses runs a conversion and returns what a loss of power may leave of it, each
// state once, and at how many moments: before each call, by default every fifth, and at
// the end. The model is checked: with nothing lost it is what the conversion has left.
func powerLosses(t *testing.T, x blackout) (states []*powerLoss, moments int) {
	t.Helper()
	dir, remove, err := scratch()
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	out := filepath.Join(dir, "out")
	d := newDisk(dir)
	switch {
	case x.before != nil:
		if err := x.before(dir); err != nil {
			t.Fatal(err)
		}
		if err := d.adopt(); err != nil {
			t.Fatal(err)
		}
	case x.made:
		if err := os.Mkdir(out, 0o755); err != nil {
			t.Fatal(err)
		}
		d.change(nameEffect{"out", &inode{dir: true}})
		d.sync("")
	}
	seen := make(map[[sha256.Size]byte]bool)
	calls := 0
	losses := func(before string, done bool) {
		if !full && !done && calls%5 != 0 {
			return
		}
		moments++
		for names := nothing; names <= everything; names++ {
			for data := nothing; data <= everything; data++ {
				s := &powerLoss{calls, before, names, data, d.after(names, data, calls), done}
				if sum := s.files.digest(); !seen[sum] || done {
					seen[sum] = true
					states = append(states, s)
				}
			}
		}
	}
	var mu sync.Mutex
	var wrong error
	r, err := supervise(writing, func(c *call) verdict {
		mu.Lock()
		defer mu.Unlock()
		if _, ok := d.local(c.path()); !ok || wrong != nil {
			return verdict{}
		}
		losses(c.kind().name+" "+strings.TrimPrefix(c.path(), dir+"/"), false)
		calls++
		wrong = d.do(c)
		return verdict{}
	}, x.args(out)...)
	if err != nil || wrong != nil || r.code != 0 {
		t.Fatal(r, err, wrong)
	}
	losses("exit", true)
	real, err := readTree(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := within(d.after(everything, everything, 0), "out").differ(real); err != nil {
		t.Fatalf("the model is wrong: %v", err)
	}
	return states, moments
}

func (t tree) digest() (sum [sha256.Size]byte) {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(t)) {
		data := sha256.Sum256(t[name])
		fmt.Fprintf(h, "%q %x\n", name, data)
	}
	h.Sum(sum[:0])
	return sum
}
