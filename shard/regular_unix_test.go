//go:build unix

package shard

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
)

// A FIFO in the place of a file that is kept is refused, not waited for.
func TestKeptFIFO(t *testing.T) {
	t.Parallel()
	src := newFixture(31, 1, 20, 100)
	plan := newPlan(t, src, encode.Options{}, fourShards)
	for _, name := range []string{ManifestName, metaName, PlanName, journalName, lockName, indexName("PART_00000.ffr")} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			dir := dataset(src, plan)(t)
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := errors.Join(os.Remove(path), unix.Mkfifo(path, 0o644)); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				_, err := write(t, src, plan, dir, WriteOptions{})
				_, err1 := ReadManifest(dir)
				_, err2 := ReadMeta(dir)
				_, err3 := IndexKeys(filepath.Join(dir, "PART_00000.ffr"), 1)
				done <- errors.Join(err, err1, err2, err3)
			}()
			select {
			case err := <-done:
				made := name == metaName || name == indexName("PART_00000.ffr") // anew, in its place
				if refused := errors.Is(err, converters.ErrUnsupported); refused == made {
					t.Errorf("error %v", err)
				}
			case <-time.After(20 * time.Second):
				t.Error("it waits for a FIFO")
			}
		})
	}
}

// A link, a FIFO or a file in the place of a directory of ours is refused, not followed and not
// waited for; what a link leads to stays.
func TestOwnDirectories(t *testing.T) {
	t.Parallel()
	src := newFixture(32, 1, 20, 100)
	plan := newPlan(t, src, encode.Options{}, fourShards)
	reference := dataset(src, plan)(t)
	want := files(t, reference)
	for _, name := range []string{WorkDir, tmpDir, runningDir, journalsDir, indexedDir} {
		for kind, put := range map[string]func(path string) error{
			"link to the output": func(path string) error {
				return os.Symlink(map[bool]string{true: ".", false: ".."}[name == WorkDir], path)
			},
			"FIFO": func(path string) error { return unix.Mkfifo(path, 0o644) },
			"file": func(path string) error { return os.WriteFile(path, nil, 0o644) },
		} {
			t.Run(filepath.Base(name)+", "+kind, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(reference)); err != nil {
					t.Fatal(err)
				}
				remove(t, dir, "PART_00001.ffr")
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := errors.Join(os.RemoveAll(path), put(path)); err != nil {
					t.Fatal(err)
				}
				done := make(chan error, 1)
				go func() {
					ReadStatus(dir)
					_, err1 := runTask(t, dir, Task{}, src, true, WriteOptions{})
					_, err2 := finishDir(t, dir, FinishOptions{})
					_, err3 := write(t, src, plan, dir, WriteOptions{})
					if err1 == nil || err2 == nil || err3 == nil {
						err1, err2, err3 = errors.New("it was used"), nil, nil
					}
					done <- errors.Join(err1, err2, err3)
				}()
				select {
				case err := <-done:
					if !errors.Is(err, converters.ErrUnsupported) {
						t.Errorf("error %v", err)
					}
				case <-time.After(20 * time.Second):
					t.Fatal("it waits")
				}
				for name, data := range files(t, dir) {
					if want[name] != data {
						t.Errorf("%s was changed", name)
					}
				}
				if got := len(files(t, dir)); got != len(want)-1 {
					t.Errorf("%d files are left of %d", got, len(want)-1)
				}
			})
		}
	}
}
