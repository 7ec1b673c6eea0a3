package dataset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/shard/plan"
)

func newTestClaims(t *testing.T, dir string, task plan.Task) *Claims {
	t.Helper()
	out, err := OpenTask(dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := out.NewClaims(task)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		if err := out.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// A claim is one process's until another seizes it; what a dead one has half written goes with
// it, and nothing of one that lives.
func TestClaims(t *testing.T) {
	t.Parallel()
	const name = "PART_00003.ffr"
	for _, row := range []struct {
		name string
		age  time.Duration // since it was touched
		kept bool          // its temporary file
	}{{"alive", 0, true}, {"a minute ago", time.Minute, true}, {"dead", time.Hour, false}} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			a, b := newTestClaims(t, dir, plan.Task{K: 0, N: 2}), newTestClaims(t, dir, plan.Task{K: 1, N: 2})
			half := a.dir.Temp(name)
			if err := errors.Join(a.dir.Mkdir(filepath.Dir(half)), a.dir.Root.WriteFile(half, []byte("half"), 0o644)); err != nil {
				t.Fatal(err)
			}
			if ok, err := a.Take(name); !ok || err != nil {
				t.Fatal(ok, err)
			}
			if ok, err := b.Take(name); ok || err != nil {
				t.Fatalf("it was claimed twice: %v", err)
			}
			then := time.Now().Add(-row.age)
			if err := a.dir.Root.Chtimes(claimName(name), then, then); err != nil {
				t.Fatal(err)
			}
			if err := b.Seize(name); err != nil {
				t.Fatal(err)
			}
			a.touch(name)
			a.Release(name)
			if now, ok, _ := readClaim(b.dir.Root, name); !ok || now.Task != "1/2" || now.Token != b.dir.token {
				t.Errorf("it is %+v", now)
			}
			if _, err := os.Stat(filepath.Join(dir, half)); (err == nil) != row.kept {
				t.Errorf("its temporary file: %v", err)
			}
			b.Release(name)
			if _, err := os.Stat(filepath.Join(dir, claimName(name))); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it is left: %v", err)
			}
		})
	}
}

// A claim that is touched is as new as the file system's clock says.
func TestClaimIsTouched(t *testing.T) {
	t.Parallel()
	const name = "PART_00000.ffr"
	c := newTestClaims(t, t.TempDir(), plan.Task{K: 0, N: 1})
	if ok, err := c.Take(name); !ok || err != nil {
		t.Fatal(ok, err)
	}
	then := time.Now().Add(-time.Hour)
	if err := c.dir.Root.Chtimes(claimName(name), then, then); err != nil {
		t.Fatal(err)
	}
	c.touch(name)
	if now, ok, _ := readClaim(c.dir.Root, name); !ok || c.dir.now().Sub(now.seen) > time.Minute || now.PID != os.Getpid() {
		t.Errorf("%+v", now)
	}
}
