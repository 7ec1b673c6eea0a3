package shard

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ffconvert/ffconvert/encode"
)

// A damaged index is an error or gives keys: it never ends the program, nor does a length
// in it decide what is allocated.
func TestIndexKeysDamaged(t *testing.T) {
	src := newFixture(21, 1, 20, 50)
	dir := t.TempDir()
	if _, err := write(t, src, newPlan(t, src, encode.Options{}, Options{}), dir, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	shard := filepath.Join(dir, "PART_00000.ffr")
	name := filepath.Join(dir, filepath.FromSlash(indexName("PART_00000.ffr")))
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
		_, err := IndexKeys(shard, 10)
		runtime.ReadMemStats(&after)
		if err != nil && !errors.Is(err, ErrIndex) {
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
