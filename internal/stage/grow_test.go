package stage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/input"
)

// Objects are fetched by more at once than decompress what has come.
func TestFetches(t *testing.T) {
	t.Parallel()
	const fetches = 4
	var together atomic.Int64
	all := make(chan struct{})
	r := &heldRemote{fail: func(string) error {
		if together.Add(1) == fetches {
			close(all)
		}
		select {
		case <-all:
			return nil
		case <-time.After(time.Minute):
			return errors.New("alone")
		}
	}}
	var found []input.Name
	for i := range 3 * fetches {
		found = append(found, r.add(fmt.Sprintf("s3://b/%d.tar.gz", i), compress(t, "gzip", fmt.Append(nil, i))))
	}
	opts := Options{Options: input.Options{Remote: r}, CacheDir: filepath.Join(t.TempDir(), "cache"), Workers: 1, Fetches: fetches}
	set, err := Open(t.Context(), found, opts)
	must(t, err)
	must(t, set.Release())
	if r.most != fetches {
		t.Errorf("%d objects were fetched at once, want %d", r.most, fetches)
	}
}

// Jobs that wait for a decoder and jobs that wait for room do not wait for each other; with room for
// all of them they all end.
func TestRoomAndTurns(t *testing.T) {
	t.Parallel()
	data := make([]byte, 600_000)
	for _, workers := range []int{1, 2, 5} {
		for _, quota := range []int64{700_000, 1_000_000, 2_000_000, 0} {
			t.Run(fmt.Sprintf("%d at once, quota %d", workers, quota), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				r := &heldRemote{}
				var names []string
				var found []input.Name
				for i := range 4 {
					text := append(fmt.Append(nil, i), data...)
					name := fmt.Sprintf("%d.gz", i)
					write(t, dir, name, compress(t, "gzip", text))
					names = append(names, filepath.Join(dir, name))
					found = append(found, r.add(fmt.Sprintf("s3://b/%d.zst", i), compress(t, "zstd", text)))
				}
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				opts := Options{Options: input.Options{Remote: r, LookupEnv: noEnv}, CacheDir: filepath.Join(dir, "cache"), Quota: quota, Workers: workers, Fetches: 3, MaxRatio: -1}
				local, err := input.Find(ctx, names, opts.Options)
				must(t, err)
				for _, group := range [][]input.Name{local, found, append(local[:2:2], found[:2]...)} {
					set, err := Open(ctx, group, opts)
					if quota == 0 && err == nil {
						must(t, set.Release())
					} else if quota == 0 || !errors.Is(err, ErrQuota) {
						t.Fatal(err)
					}
				}
			})
		}
	}
}

// In a cache that has room for any one group, all groups are had by any number of takers at once,
// whatever they become: none is refused for the room that others of its process have.
func TestGroupsThatFitAlone(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 1))
			dir := t.TempDir()
			r := &heldRemote{}
			const groups, each = 10, 3
			var found []input.Name
			var quota int64
			for range groups {
				var need int64
				for range each {
					data := make([]byte, 1000+rng.IntN(200_000))
					for i := range len(data) / (1 + rng.IntN(8)) {
						data[i] = byte(rng.Uint32())
					}
					compression := []string{"", "gzip", "zstd"}[min(rng.IntN(8), 2)]
					raw := compress(t, compression, data)
					n := r.add(fmt.Sprintf("s3://b/%d.%s", len(found), compression), raw)
					found = append(found, n)
					need += int64(len(raw) + len(data))
				}
				quota = max(quota, need)
			}
			s, err := NewStager(found, Options{Options: input.Options{Remote: r}, CacheDir: filepath.Join(dir, "cache"), Quota: quota, Workers: 2, Fetches: 3})
			must(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			work := make(chan int)
			var wg sync.WaitGroup
			for range 5 {
				wg.Go(func() {
					for first := range work {
						set, err := s.Take(ctx, span(first, each))
						if err != nil {
							t.Error(err)
							continue
						}
						time.Sleep(5 * time.Millisecond)
						if err := set.Remove(); err != nil {
							t.Error(err)
						}
					}
				})
			}
			for first := 0; first < len(found); first += each {
				work <- first
			}
			close(work)
			wg.Wait()
			must(t, s.Close())
			t.Logf("%d fetches of %d objects", r.fetches.Load(), len(found))
		})
	}
}

// Commands run once: in a cache that has room for what all copies grow by they all end, in a smaller one
// they are refused.
func TestCommandsInATightCache(t *testing.T) {
	t.Parallel()
	for workers := 1; workers <= 5; workers++ {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := &heldRemote{}
			var found []input.Name
			var quota int64
			for i := range 3 {
				raw := compress(t, "gzip", make([]byte, 300_000))
				found = append(found, input.FromCommand(shell(dir, `head -c 500000 /dev/zero; printf x >>"$1/runs"`)), r.add(fmt.Sprintf("s3://b/%d", i), raw))
				quota += 2*500_000 + 2*300_000 + int64(len(raw))
			}
			opts := Options{Options: input.Options{Remote: r}, CacheDir: filepath.Join(dir, "cache"), Quota: quota, Workers: workers, Fetches: 2}
			set, err := Open(t.Context(), found, opts)
			must(t, err)
			for i, f := range set.Parts {
				if want := []int64{500_000, 300_000}[i%2]; f.Size != want {
					t.Errorf("%s has %d bytes, want %d", f.Name, f.Size, want)
				}
			}
			must(t, set.Release())
			if runs, err := os.ReadFile(filepath.Join(dir, "runs")); err != nil || string(runs) != "xxx" {
				t.Errorf("the commands ran %q, %v", runs, err)
			}
			opts.Quota = 3*500_000 + 3*300_000 - 1
			if _, err := Open(t.Context(), found, opts); !errors.Is(err, ErrQuota) {
				t.Error(err)
			}
		})
	}
}
