package shard_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/memsource"
	"github.com/ffconvert/ffconvert/internal/shardtest"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A damaged index is an error or gives keys: it never ends the program, nor does a length
// in it decide what is allocated.
func TestIndexKeysDamaged(t *testing.T) {
	src := memsource.New(21, 1, 20, 50)
	dir := t.TempDir()
	if _, err := shardtest.Write(t, src, shardtest.NewPlan(t, src, encode.Options{}, plan.Options{}), dir, shard.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	s := filepath.Join(dir, "PART_00000.ffr")
	name := filepath.Join(dir, filepath.FromSlash(dataset.IndexName("PART_00000.ffr")))
	sound, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	var before, after runtime.MemStats
	for i := 0; i < len(sound)*2; i += 3 {
		damaged := append([]byte{}, sound...)
		if at := i / 2; i%2 == 0 {
			damaged[at] ^= 0x80
		} else if at%3 == 0 {
			damaged = damaged[:at]
		} else {
			damaged[at] = 0x7f
		}
		if err := os.WriteFile(name, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&before)
		_, err := shard.IndexKeys(s, 10)
		runtime.ReadMemStats(&after)
		if err != nil && !errors.Is(err, shard.ErrIndex) {
			t.Fatalf("case %d: %v", i, err)
		}
		if err != nil {
			refused++
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Fatalf("case %d: %d bytes allocated for a file of %d", i, n, len(damaged))
		}
	}
	if refused < len(sound)/12 {
		t.Errorf("%d of %d damaged indexes were refused", refused, 2*len(sound)/3)
	}
}
