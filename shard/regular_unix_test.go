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
