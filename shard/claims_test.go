package shard

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/encode"
)

// openUnlocked opens a directory as it is on a file system that has no locks.
func openUnlocked(t testing.TB, dir string) *Output {
	t.Helper()
	out, err := OpenOutput(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.release(); err != nil {
		t.Fatal(err)
	}
	out.lock = nil
	return out
}

// claimed makes the claim of another process.
func claimed(t testing.TB, dir, shard string, age time.Duration) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(claimName(shard)))
	text := `{"host":"elsewhere","pid":7,"since":"2026-11-21T20:00:00Z","task":"1/2","token":"aaaaaaaaaaaaa"}`
	at := time.Now().Add(-age)
	err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644), os.Chtimes(path, at, at))
	if err != nil {
		t.Fatal(err)
	}
}

// Where there are no locks, a claim that is fresh keeps others from replacing, finishing and
// writing the whole of a dataset; nothing is changed then. A stale one does not.
func TestAloneWithoutLocks(t *testing.T) {
	t.Parallel()
	src, other := newFixture(71, 2, 30, 900), newFixture(72, 2, 30, 900)
	plan, another := newPlan(t, src, encode.Options{}, fourShards), newPlan(t, other, encode.Options{}, fourShards)
	for _, row := range []struct {
		name string
		do   func(t *testing.T, out *Output) error
	}{
		{"replace", func(t *testing.T, out *Output) error {
			return out.Begin(another, other.Parts(), nil, true)
		}},
		{"finish", func(t *testing.T, out *Output) error {
			_, err := Finish(t.Context(), out, FinishOptions{})
			return err
		}},
		{"write", func(t *testing.T, out *Output) error {
			_, err := Write(t.Context(), src, plan, out, WriteOptions{})
			return err
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := begin(t, plan, src)
			for k := range 2 {
				if _, err := runTask(t, dir, Task{k, 2}, src, true, WriteOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			before := files(t, dir)
			claimed(t, dir, "PART_00001.ffr", time.Minute)
			out := openUnlocked(t, dir)
			if err := errors.Join(row.do(t, out), out.Close()); !errors.Is(err, ErrLocked) {
				t.Errorf("beside a living process: %v", err)
			}
			if !maps.Equal(files(t, dir), before) {
				t.Error("beside a living process it has changed the shards")
			}
			claimed(t, dir, "PART_00001.ffr", time.Hour)
			out = openUnlocked(t, dir)
			if err := errors.Join(row.do(t, out), out.Close()); err != nil {
				t.Errorf("beside a dead process: %v", err)
			}
		})
	}
}
