package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/converters"
)

// mostPerClass is the memory that a class with one file may take, in bytes, as long as the source is
// there: 100,000 of them 30 MB.
const mostPerClass = 300

// It is not parallel: what other tests hold would count.
func TestMemoryOfAClass(t *testing.T) {
	need.Time(t, "100,000 classes")
	root := t.TempDir()
	const classes = 2000
	for i := range classes {
		dir := filepath.Join(root, fmt.Sprintf("class%06d", i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a.jpg"), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	held := func() int64 {
		runtime.GC()
		runtime.GC() // what pools hold goes with the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := held()
	src, err := Open(t.Context(), []converters.Part{{Name: "imagenet/train", Path: root}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for p := range src.Parts() {
		for _, err := range src.Index(t.Context(), p) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	each := (held() - before) / classes
	runtime.KeepAlive(src)
	t.Logf("%d bytes a class", each)
	if each > mostPerClass {
		t.Errorf("%d bytes a class, want %d at the most", each, mostPerClass)
	}
}
