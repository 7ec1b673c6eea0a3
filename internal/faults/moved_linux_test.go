package faults

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A moving takes an output away from its path: from out, or from what it links to.
type moving struct {
	name   string
	linked bool // out is a link to real
	away   func(dir string) error
	back   func(dir string) error
}

// movings are those of row H5. The output is "out" in the directory of the case.
var movings = []moving{
	{"renamed", false,
		func(dir string) error { return os.Rename(dir+"/out", dir+"/away") },
		func(dir string) error {
			return errors.Join(os.RemoveAll(dir+"/out"), os.Rename(dir+"/away", dir+"/out"))
		}},
	{"replaced", false,
		func(dir string) error {
			return errors.Join(os.Rename(dir+"/out", dir+"/away"), os.Mkdir(dir+"/out", 0o755))
		},
		func(dir string) error {
			return errors.Join(os.RemoveAll(dir+"/out"), os.Rename(dir+"/away", dir+"/out"))
		}},
	{"removed", false,
		func(dir string) error { return os.RemoveAll(dir + "/out") },
		func(string) error { return nil }},
	{"switched", true,
		func(dir string) error {
			return errors.Join(os.Remove(dir+"/out"), os.Symlink(dir+"/other", dir+"/out"))
		},
		func(dir string) error { return errors.Join(os.Remove(dir+"/out"), os.Symlink(dir+"/real", dir+"/out")) }},
}

// movedAt are the calls in whose place the output is moved: all that name a file, or make what was
// written lasting.
var movedAt = []string{"openat", "newfstatat", "mkdirat", "unlinkat", "renameat", "renameat2", "pwrite64", "fsync", "io_submit"}

// TestFaultH5 moves the output at the first, second… call of a conversion. It must end with status
// 4, without a manifest that has not all of its shards, and go on when the output is back.
func TestFaultH5(t *testing.T) {
	slow(t)
	t.Parallel()
	want, err := reference()
	if err != nil {
		t.Fatal(err)
	}
	staged, err := packedReference()
	if err != nil {
		t.Fatal(err)
	}
	plain := conversion{name: "tar", args: func(out string) []string { return convert(out, "-j1") }, want: want}
	for _, m := range movings {
		t.Logf("H5 [%s] %v", m.name, m.each(t, plain))
	}
	t.Logf("H5 [staged] %v", movings[0].each(t, conversion{name: "gzip", args: convertPacked, want: staged}))
}

func (m moving) each(t *testing.T, c conversion) tally {
	t.Helper()
	n := calls(t, func(dir string) (int, error) { return c.count(dir, movedAt) })
	return each(t, spread(n, 8), func(k int, dir string) error {
		if err := m.prepare(dir); err != nil {
			return err
		}
		out := filepath.Join(dir, "out")
		count := counter{at: k}
		complete, moved := false, error(nil) // when it is moved
		r, err := supervise(movedAt, func(call *call) verdict {
			if count.decide(call); count.hit != "" && moved == nil {
				_, err := os.Stat(filepath.Join(out, "manifest.json"))
				complete = err == nil
				if moved = m.away(dir); moved == nil {
					moved = errMoved
				}
			}
			return verdict{}
		}, c.args(out)...)
		if err == nil {
			err = m.judge(dir, r, c, complete, moved)
		}
		if err != nil {
			return fmt.Errorf("%s, %s at call %d, %s: %w", c.name, m.name, k, count.hit, err)
		}
		return nil
	})
}

var errMoved = errors.New("moved")

func (m moving) prepare(dir string) error {
	if !m.linked {
		return nil
	}
	return errors.Join(os.Mkdir(dir+"/real", 0o755), os.Mkdir(dir+"/other", 0o755), os.Symlink(dir+"/real", dir+"/out"))
}

func (m moving) judge(dir string, r result, c conversion, complete bool, moved error) error {
	out := filepath.Join(dir, "out")
	for _, name := range []string{"out", "away", "real", "other"} {
		if err := sound(filepath.Join(dir, name), c.want); err != nil {
			return fmt.Errorf("in %s: %w", name, err)
		}
	}
	switch {
	case r.code != 0:
		if err := r.clean(4); err != nil {
			return err
		}
		if left, err := os.ReadDir(filepath.Join(dir, "other")); err == nil && len(left) > 0 {
			return fmt.Errorf("status 4, but %v was written to the other directory: %v", left, r)
		}
	case !complete:
		if err := sameBehind(out, c.want); err != nil {
			return fmt.Errorf("%w as done: %v, but %w", errBad, r, err)
		}
	}
	if moved == nil || errors.Is(moved, fs.ErrNotExist) || r.code == 0 && !complete {
		return nil // it was not there to be moved, or was made after that
	}
	if err := m.back(dir); err != nil {
		return err
	}
	r, err := run(c.args(out)...)
	if err == nil && r.code != 0 {
		err = errors.New(r.String())
	}
	if err == nil {
		err = sameBehind(out, c.want)
	}
	if err != nil {
		return fmt.Errorf("put back, and the same command again: %w", err)
	}
	return nil
}

// sameBehind is sameAs of what a link leads to.
func sameBehind(out string, want tree) error {
	out, err := filepath.EvalSymlinks(out)
	if err != nil {
		return err
	}
	return sameAs(out, want)
}
