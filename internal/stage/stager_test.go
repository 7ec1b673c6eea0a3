package stage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// Groups go through a cache much smaller than all of them, taken by many at once, and twice.
func TestStager(t *testing.T) {
	t.Parallel()
	need.Shell(t)
	const size, group, quota = 10_000, 5, 130_000
	dir := t.TempDir()
	r := &heldRemote{}
	var found []input.Name
	var want [][]byte
	for i := range 60 {
		data := bytes.Repeat([]byte{byte(i)}, size+i)
		want = append(want, data)
		switch i % 4 {
		case 0:
			found = append(found, r.add(fmt.Sprintf("s3://b/%d", i), compress(t, "gzip", data)))
		case 1, 2:
			found = append(found, r.add(fmt.Sprintf("s3://b/%d", i), data))
		case 3:
			write(t, dir, fmt.Sprint(i), compress(t, []string{"", "zstd"}[i/4%2], data))
			n, err := input.Find(t.Context(), []string{filepath.Join(dir, fmt.Sprint(i))}, input.Options{LookupEnv: noEnv})
			must(t, err)
			found = append(found, n...)
		}
	}
	want[30], want[31] = []byte("stdin"), []byte("31")
	found[30], found[31] = input.Name{Name: "-", Size: -1}, input.FromCommand(shell(dir, `printf 31; printf x >>"$1/runs"`))
	s, err := NewStager(found, Options{Options: input.Options{Remote: r, Stdin: strings.NewReader("stdin")}, CacheDir: filepath.Join(dir, "cache"), Quota: quota, Workers: 3})
	must(t, err)
	var most atomic.Int64
	stop := make(chan struct{})
	must(t, s.open())
	c := s.cache
	var watcher, wg sync.WaitGroup
	watcher.Go(func() {
		for ; ; time.Sleep(time.Millisecond) {
			select {
			case <-stop:
				return
			default:
			}
			total := int64(0)
			entries, err := c.Entries()
			for _, e := range entries {
				total += e.Size
			}
			if err != nil {
				t.Error(err)
			}
			most.Store(max(most.Load(), total))
		}
	})
	work := make(chan int)
	for range 4 {
		wg.Go(func() {
			for first := range work {
				set, err := s.Take(t.Context(), span(first, group))
				if err != nil {
					t.Error(err)
					continue
				}
				for i, f := range set.Parts {
					got, err := os.ReadFile(f.Path)
					if err != nil || !bytes.Equal(got, want[first+i]) || f.Name != found[first+i].Name {
						t.Errorf("%d, %s: %d bytes, %v", first+i, f.Name, len(got), err)
					}
				}
				if err := set.Remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		for first := 0; first < len(found); first += group {
			work <- first
		}
	}
	close(work)
	wg.Wait()
	close(stop)
	watcher.Wait()
	must(t, s.Close())
	must(t, s.Close())
	runs, err := os.ReadFile(filepath.Join(dir, "runs"))
	if err != nil || string(runs) != "x" || left(t, dir) != nil || most.Load() > quota {
		t.Errorf("the command ran %q, %v; left %q; %d bytes at most", runs, err, left(t, dir), most.Load())
	}
	if r.most < 2 || r.most > 12 {
		t.Errorf("%d fetches at once", r.most)
	}
}

// A group is had whole or not at all: two halves that wait for each other are never had.
func TestStagerTakesWholeGroups(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := &heldRemote{}
	var found []input.Name
	for i := range 6 {
		found = append(found, r.add(fmt.Sprintf("s3://b/%d", i), make([]byte, 1000)))
	}
	opts := Options{Options: input.Options{Remote: r}, CacheDir: filepath.Join(dir, "cache"), Quota: 3500}
	s, err := NewStager(found, opts)
	must(t, err)
	first, err := s.Take(t.Context(), span(0, 3))
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Take(ctx, span(3, 3)); !errors.Is(err, context.DeadlineExceeded) || len(left(t, dir)) != 3 {
		t.Error(err, left(t, dir))
	}
	if _, err := s.Take(t.Context(), span(0, 4)); !errors.Is(err, ErrQuota) {
		t.Error(err)
	}
	again, err := s.Take(t.Context(), span(1, 2))
	must(t, err)
	if again.Parts[0].Path != first.Parts[1].Path || !again.Parts[0].ModTime.Equal(first.Parts[1].ModTime) {
		t.Errorf("%+v, before %+v", again.Parts[0], first.Parts[1])
	}
	time.AfterFunc(10*time.Millisecond, func() { first.Release(); again.Release() })
	second, err := s.Take(t.Context(), span(3, 3))
	must(t, err)
	must(t, second.Release())
	must(t, s.Close())
}

// What does not fit once it is decompressed is refused, also where some of the group waits for
// workers that wait for room.
func TestStagerRefusesWhatGrows(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 2, 3} {
		for _, kind := range []string{"compressed", "of unknown size"} {
			t.Run(fmt.Sprintf("%d %s", workers, kind), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				r := &heldRemote{}
				var found []input.Name
				for i := range 4 {
					data := bytes.Repeat([]byte{byte(i)}, 100_000)
					if kind == "compressed" {
						data = compress(t, "gzip", data)
					}
					found = append(found, r.add(fmt.Sprintf("s3://b/%d", i), data))
					if kind != "compressed" {
						found[i].Size, found[i].Object.Size = -1, -1
					}
				}
				s, err := NewStager(found, Options{Options: input.Options{Remote: r}, CacheDir: filepath.Join(dir, "cache"), Quota: 150_000, Workers: workers})
				must(t, err)
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				if _, err := s.Take(ctx, span(0, 4)); !errors.Is(err, ErrQuota) {
					t.Error(err)
				}
				must(t, s.Close())
			})
		}
	}
}

// A narrowRemote has so many connections, each of which writes as it reads.
type narrowRemote struct {
	heldRemote
	slots chan struct{}
}

func (r *narrowRemote) Fetch(ctx context.Context, o store.Object, into store.File, progress func(int64)) error {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return r.heldRemote.Fetch(ctx, o, into, progress)
}

// Who waits for room keeps his connection, so that those who wait for a connection are of no help.
func TestStagerRefusesWithFewConnections(t *testing.T) {
	t.Parallel()
	for _, connections := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(connections), func(t *testing.T) {
			t.Parallel()
			r := &narrowRemote{slots: make(chan struct{}, connections)}
			var found []input.Name
			for i := range 4 {
				found = append(found, r.add(fmt.Sprintf("http://h/%d", i), bytes.Repeat([]byte{byte(i)}, 100_000)))
				found[i].Size, found[i].Object.Size = -1, -1
			}
			s, err := NewStager(found, Options{Options: input.Options{Remote: r}, CacheDir: filepath.Join(t.TempDir(), "cache"), Quota: 90_000, Workers: 4, Fetches: connections})
			must(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if _, err := s.Take(ctx, span(0, 4)); !errors.Is(err, ErrQuota) {
				t.Error(err)
			}
			must(t, s.Close())
		})
	}
}

// What can be read once and has failed is not begun again; what was not begun is.
func TestStagerOnceFails(t *testing.T) {
	t.Parallel()
	need.Shell(t)
	dir := t.TempDir()
	opts := Options{CacheDir: filepath.Join(dir, "cache")}
	s, err := NewStager([]input.Name{input.FromCommand(shell(dir, `printf x >>"$1/runs"; exit 3`)), input.FromCommand(shell(dir, "printf ab"))}, opts)
	must(t, err)
	for range 2 {
		if _, err := s.Take(t.Context(), span(0, 1)); !errors.Is(err, input.ErrCommand) {
			t.Error(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Take(ctx, span(1, 1)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	set, err := s.Take(t.Context(), span(1, 1))
	must(t, err)
	must(t, set.Release())
	if b, err := os.ReadFile(set.Parts[0].Path); string(b) != "ab" {
		t.Errorf("it is not kept: %q, %v", b, err)
	}
	must(t, s.Close())
	runs, err := os.ReadFile(filepath.Join(dir, "runs"))
	if err != nil || string(runs) != "x" || left(t, dir) != nil {
		t.Errorf("it ran %q, %v; left %q", runs, err, left(t, dir))
	}
}

// No source is begun in the place of one that has failed.
func TestStagerFailsOnce(t *testing.T) {
	t.Parallel()
	for _, opts := range []Options{{Workers: 1}, {Workers: 1, Fetches: 1}} {
		for range 150 {
			r := &heldRemote{}
			var found []input.Name
			for i := range 4 {
				url := fmt.Sprintf("s3://b/%d", i)
				found = append(found, input.Name{Name: url, Size: 10, Object: &store.Object{URL: url, Size: 10, Version: "1"}}) // not there
			}
			opts.Remote, opts.CacheDir = r, filepath.Join(t.TempDir(), "cache")
			s, err := NewStager(found, opts)
			must(t, err)
			_, err = s.Take(t.Context(), span(0, len(found)))
			if n := r.fetches.Load(); n != 1 || !errors.Is(err, input.ErrNotFound) {
				t.Fatalf("%d workers, %d objects were asked for: %v", opts.Workers, n, err)
			}
			must(t, s.Close())
		}
	}
}
