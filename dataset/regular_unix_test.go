//go:build unix

package dataset_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A FIFO in the place of a file that is kept is refused, not waited for.
func TestKeptFIFO(t *testing.T) {
	t.Parallel()
	src := memsource.New(31, 1, 20, 100)
	plan := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	for _, name := range []string{dataset.ManifestName, dataset.MetaName, dataset.PlanName, dataset.JournalName, dataset.LockName, dataset.IndexName("PART_00000.ffr")} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			dir := shardtest.Dataset(src, plan)(t)
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := errors.Join(os.Remove(path), unix.Mkfifo(path, 0o644)); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() {
				_, err := shardtest.Write(t, src, plan, dir, write.Options{})
				_, err1 := dataset.ReadManifest(dir)
				_, err2 := dataset.ReadMeta(dir)
				done <- errors.Join(err, err1, err2)
			}()
			select {
			case err := <-done:
				made := name == dataset.MetaName || name == dataset.IndexName("PART_00000.ffr") // anew, in its place
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
	src := memsource.New(32, 1, 20, 100)
	p := shardtest.NewPlan(t, src, encode.Options{}, shardtest.FourShards)
	reference := shardtest.Dataset(src, p)(t)
	want := shardtest.Files(t, reference)
	for _, name := range []string{dataset.WorkDir, dataset.TmpDir, dataset.RunningDir, dataset.JournalsDir, dataset.IndexedDir} {
		for kind, put := range map[string]func(path string) error{
			"link to the output": func(path string) error {
				return os.Symlink(map[bool]string{true: ".", false: ".."}[name == dataset.WorkDir], path)
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
				shardtest.Remove(t, dir, "PART_00001.ffr")
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := errors.Join(os.RemoveAll(path), put(path)); err != nil {
					t.Fatal(err)
				}
				done := make(chan error, 1)
				go func() {
					shardtest.Status(dir)
					_, err1 := shardtest.RunTask(t, dir, plan.Task{}, src, true, write.Options{})
					_, err2 := shardtest.Finish(t, dir, write.Options{})
					_, err3 := shardtest.Write(t, src, p, dir, write.Options{})
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
				for name, data := range shardtest.Files(t, dir) {
					if want[name] != data {
						t.Errorf("%s was changed", name)
					}
				}
				if got := len(shardtest.Files(t, dir)); got != len(want)-1 {
					t.Errorf("%d files are left of %d", got, len(want)-1)
				}
			})
		}
	}
}
