package faults

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A lying is one case of row H4: a lie about the k-th request of a kind.
type lying struct {
	lie  *lie
	kind string
	at   int
}

func (y lying) String() string { return fmt.Sprintf("%s of %s %d", y.lie.name, y.kind, y.at) }

// A liedTo is a command that writes a tree to a file system that lies.
type liedTo struct {
	name     string
	args     func(out string) []string
	again    bool // it may be run again, and goes on
	statuses []int
	same     func(out string) error // all is there
	bad      func(out string) error // what has its final name is wrong
}

// TestFaultH4 has a FUSE server lie about one request: the run ends with the right bytes, or with an
// error and without wrong ones under a final name, and the same command makes it good.
func TestFaultH4(t *testing.T) {
	slow(t)
	t.Parallel()
	want, err := reference()
	if err != nil {
		t.Fatal(err)
	}
	pool := make(chan *liar, runtime.GOMAXPROCS(0))
	for i := range cap(pool) {
		dir := filepath.Join(own(t), fmt.Sprint(i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		pool <- newLiar(t, dir)
	}
	convertTo := liedTo{
		name: "convert", args: func(out string) []string { return convert(out, "-j1") }, again: true, statuses: []int{2, 3, 4},
		same: func(out string) error {
			got, err := readTree(out)
			if err != nil {
				return err
			}
			return got.withoutScratch().differ(want)
		},
		bad: func(out string) error { return wrongBytes(out, want) },
	}
	t.Logf("H4 [convert] %v", convertTo.each(t, pool, 40))

	folder := filepath.Join(own(t), "folder")
	if _, err := writeFolder(folder); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(own(t), "packed.ffr")
	if err := must([]string{"pack", "--progress", "none", folder, file}); err != nil {
		t.Fatal(err)
	}
	whole, err := readTree(folder)
	if err != nil {
		t.Fatal(err)
	}
	unpackTo := liedTo{
		name: "unpack", args: func(out string) []string { return []string{"unpack", "--progress", "none", file, out} }, statuses: []int{2, 3, 4},
		same: func(out string) error { return sameAs(out, whole) },
		bad:  func(out string) error { return wrongBytes(out, whole) },
	}
	t.Logf("H4 [unpack] %v", unpackTo.each(t, pool, 30))
}

// wrongBytes says which file under a final name has other bytes than it must have.
func wrongBytes(out string, want tree) error {
	got, err := readTree(out)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for name, data := range got {
		if !strings.HasPrefix(name, ".") && !bytes.Equal(data, want[name]) {
			return fmt.Errorf("%w: %s has %d bytes, and they are wrong", errBad, name, len(data))
		}
	}
	return got.sound(want)
}

func (c liedTo) each(t *testing.T, pool chan *liar, some int) tally {
	t.Helper()
	l := <-pool
	l.tell(nil, "", 0, false)
	name := "undisturbed-" + c.name
	r, err := run(c.args(filepath.Join(l.dir, name))...)
	if err == nil && r.code == 0 {
		err = c.same(filepath.Join(l.behind, name))
	}
	if err != nil || r.code != 0 {
		t.Fatal(r, err)
	}
	var all []lying
	for i := range lies {
		for _, kind := range lies[i].kinds {
			for k := range l.counts()[kind] {
				all = append(all, lying{&lies[i], kind, k})
			}
		}
	}
	pool <- l
	return each(t, spread(len(all), some), func(i int, dir string) error {
		l := <-pool
		defer func() { pool <- l }()
		hit, err := c.try(l, all[i], filepath.Base(dir))
		if err != nil {
			return fmt.Errorf("%s: %v, %s: %w", c.name, all[i], hit, err)
		}
		return nil
	})
}

// try runs one case, in a directory of that name.
func (c liedTo) try(l *liar, y lying, name string) (hit string, err error) {
	out, behind := filepath.Join(l.dir, name), filepath.Join(l.behind, name)
	defer execute("rm", "-rf", out)
	l.tell(y.lie, y.kind, y.at, false)
	r, err := run(c.args(out)...)
	hit = l.told()
	l.tell(nil, "", 0, false)
	switch {
	case err != nil:
		return hit, err
	case r.code == 0:
		if err := c.same(behind); err != nil {
			return hit, fmt.Errorf("%w as done: %w", errBad, err)
		}
		return hit, nil
	}
	if err := errors.Join(r.clean(c.statuses...), c.bad(behind)); err != nil || !c.again {
		return hit, err
	}
	again, err := run(c.args(out)...)
	if err == nil && again.code != 0 {
		err = errors.New(again.String())
	}
	if err == nil {
		err = c.same(behind)
	}
	if err != nil {
		err = fmt.Errorf("after %v, the same command again: %w", r, err)
	}
	return hit, err
}
