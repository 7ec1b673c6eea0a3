package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/files"
)

// mixed is files of all sizes that matter to the read-ahead, and what each has.
func mixed(t testing.TB, n int) (root string, data [][]byte) {
	t.Helper()
	root = t.TempDir()
	rnd := rand.New(rand.NewPCG(7, 7))
	sizes := []int{0, 1, 700, 100_000, files.MaxAhead - 1, files.MaxAhead, files.MaxAhead + 1}
	for i := range n {
		size := sizes[rnd.IntN(len(sizes))]
		if i%4 != 0 {
			size = rnd.IntN(3000)
		}
		b := bytes.Repeat([]byte{byte(i), byte(i >> 8), byte(size)}, size/3+1)[:size]
		data = append(data, b)
		name := filepath.Join(root, fmt.Sprintf("c/%02d/%04d.bin", i/50, i))
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		if err == nil {
			err = os.WriteFile(name, b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root, data
}

// offs are the offsets of files.
func offs(data [][]byte) []int64 {
	all := []int64{0}
	for _, b := range data {
		all = append(all, all[len(all)-1]+int64(len(b)))
	}
	return all
}

func TestAhead(t *testing.T) {
	t.Parallel()
	root, data := mixed(t, 300)
	at := offs(data)
	src := mustOpen(t, Options{}, root)
	for _, run := range [][2]int{{0, 300}, {0, 2}, {1, 64}, {5, 65}, {37, 200}, {298, 2}, {299, 1}} {
		i := run[0]
		for s, err := range src.Read(t.Context(), converters.Run{First: int64(i), Off: at[i], Count: int64(run[1])}) {
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("c/%02d/%04d", i/50, i); s.Key != want || s.Off != at[i] {
				t.Fatalf("%q at %d, want %q at %d", s.Key, s.Off, want, at[i])
			}
			if !bytes.Equal(s.Fields[0].Value.Data(), data[i]) {
				t.Fatalf("%s: other bytes", s.Key)
			}
			i++
		}
		if i != run[0]+run[1] {
			t.Errorf("run %v ends at %d", run, i)
		}
	}
}

// What comes before a file that cannot be read is given, whatever the workers did.
func TestAheadError(t *testing.T) {
	t.Parallel()
	root, data := mixed(t, 100)
	for _, bad := range []int{1, 10, 63, 64, 99} {
		src := mustOpen(t, Options{}, root)
		run := runOf(t, src, 0)
		name := filepath.Join(root, fmt.Sprintf("c/%02d/%04d.bin", bad/50, bad))
		if err := os.Rename(name, name+"x"); err != nil {
			t.Fatal(err)
		}
		n := 0
		var last error
		for s, err := range src.Read(t.Context(), run) {
			if last = err; err == nil {
				if !bytes.Equal(s.Fields[0].Value.Data(), data[n]) {
					t.Fatalf("%s: other bytes", s.Key)
				}
				n++
			}
		}
		if n != bad || !errors.Is(last, fs.ErrNotExist) {
			t.Errorf("%d samples, want %d; error %v", n, bad, last)
		}
		if err := os.Rename(name+"x", name); err != nil {
			t.Fatal(err)
		}
	}
}

// A fault at the i-th operation, for every i, is reported, and no file stays open.
func TestFaults(t *testing.T) {
	t.Parallel()
	root, data := mixed(t, 12)
	cases, undetected := 0, 0
	for i := int64(1); ; i++ {
		src := mustOpen(t, Options{}, root)
		run := runOf(t, src, 0)
		use := counted(src)
		use.fail = i
		n := 0
		var last error
		for _, err := range src.Read(t.Context(), run) {
			if last = err; err == nil {
				n++
			}
		}
		if opened, closed := use.opened.Load(), use.closed.Load(); opened != closed {
			t.Fatalf("fault %d: %d files opened, %d closed", i, opened, closed)
		}
		if use.ops.Load() < i {
			if n != len(data) || last != nil {
				t.Errorf("no fault: %d samples, error %v", n, last)
			}
			break
		}
		cases++
		if !errors.Is(last, errInjected) {
			undetected++
			t.Errorf("fault %d: error %v", i, last)
		}
	}
	if cases < 4*len(data) {
		t.Errorf("only %d faults", cases)
	}
	t.Logf("C1 [folder-reads] cases=%d undetected=%d lost=0", cases, undetected)
}

// descriptors counts open files, where the system tells.
func descriptors(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// However a run ends, nothing of it is left. It is not parallel: goroutines and
// descriptors are counted.
func TestAheadLeavesNothing(t *testing.T) {
	root, data := mixed(t, 200)
	src := mustOpen(t, Options{}, root)
	run := runOf(t, src, 0)
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	for i := range 30 {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		func() {
			defer func() { _ = recover() }()
			for _, err := range src.Read(ctx, run) {
				if err != nil {
					break
				}
				if n++; n == 1+i*6 {
					switch i % 3 {
					case 0:
						cancel()
					case 1:
						panic("of the caller")
					}
					break
				}
			}
		}()
		cancel()
		if got := descriptors(t); got != files {
			t.Errorf("stopped after %d of %d samples: %d descriptors, before %d", n, len(data), got, files)
		}
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines && time.Now().Before(end); { // one is counted for a moment after its last deed
		time.Sleep(time.Millisecond)
	}
	if got := runtime.NumGoroutine(); got > goroutines {
		t.Errorf("%d goroutines, before %d", got, goroutines)
	}
	for range src.Read(t.Context(), converters.Run{Count: 1}) {
		if got := runtime.NumGoroutine(); got > goroutines {
			t.Errorf("a run of one sample has %d goroutines, before %d", got, goroutines)
		}
	}
}

// It is not parallel: allocations are counted.
func TestReadAllocs(t *testing.T) {
	const files = 500
	root := t.TempDir()
	for i := range files {
		add(t, root, fmt.Sprintf("c/%04d.jpg", i), "x")
	}
	src := mustOpen(t, Options{}, root)
	read := func(run converters.Run) func() {
		return func() {
			for _, err := range src.Read(t.Context(), run) {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	runOf(t, src, 0) // lists the part
	// The key; of os.Root's path, file, names and the like seven; two of os.FileInfo.
	if n := testing.AllocsPerRun(5, read(converters.Run{Count: files})) / files; n > 12 {
		t.Errorf("%.1f allocations a file", n)
	}
	if n := testing.AllocsPerRun(50, read(converters.Run{Count: 1})); n > 30 {
		t.Errorf("%.1f allocations for a run of one file", n)
	}
}
