package input

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/input/cache"
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
		case <-time.After(10 * time.Second):
			return errors.New("alone")
		}
	}}
	var found []Name
	for i := range 3 * fetches {
		found = append(found, r.add(fmt.Sprintf("s3://b/%d.tar.gz", i), compress(t, "gzip", fmt.Append(nil, i))))
	}
	opts := Options{CacheDir: filepath.Join(t.TempDir(), "cache"), Remote: r, Workers: 1, Fetches: fetches}
	set, err := Open(t.Context(), found, opts)
	must(t, err)
	must(t, set.Release())
	if r.most != fetches {
		t.Errorf("%d objects were fetched at once, want %d", r.most, fetches)
	}
}

// Those that wait for their turn are no hope for who waits for room, or both would wait for
// ever; with room for all of them they all end.
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
				var found []Name
				for i := range 4 {
					text := append(fmt.Append(nil, i), data...)
					name := fmt.Sprintf("%d.gz", i)
					write(t, dir, name, compress(t, "gzip", text))
					names = append(names, filepath.Join(dir, name))
					found = append(found, r.add(fmt.Sprintf("s3://b/%d.zst", i), compress(t, "zstd", text)))
				}
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				opts := Options{CacheDir: filepath.Join(dir, "cache"), Quota: quota, Workers: workers, Fetches: 3, Remote: r, LookupEnv: noEnv, MaxRatio: -1}
				local, err := Find(ctx, names, opts)
				must(t, err)
				for _, group := range [][]Name{local, found, append(local[:2:2], found[:2]...)} {
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

// Whose turn it is counts as at work before it has woken up: whoever waits for room meanwhile
// waits for it, and is not refused.
func TestTurnsAreHandedOver(t *testing.T) {
	t.Parallel()
	c, err := cache.Open(filepath.Join(t.TempDir(), "cache"), 100, cache.Options{Transient: true})
	must(t, err)
	key := func(i int) []string { return []string{fmt.Sprintf("%064x", i)} }
	hold, err := c.Reserve(t.Context(), []cache.Want{{Keys: key(0), Size: 50}, {Keys: key(1), Size: 50}, {Keys: key(2)}})
	must(t, err)
	first, next, gone := hold.Draft(0), hold.Draft(1), hold.Draft(2)
	one := newTurns(1)
	must(t, one.take(t.Context(), first))
	for _, d := range []*cache.Draft{gone, next} { // one leaves, one never wakes up
		if p := one.enqueue(d); d == gone {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := one.await(ctx, p); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			must(t, gone.Discard(nil))
		}
	}
	one.give()
	time.AfterFunc(10*time.Millisecond, func() { next.Discard(nil) })
	if _, err := first.WriteAt(make([]byte, 60), 0); err != nil {
		t.Error(err)
	}
	one.give()
	if one.free != 1 || len(one.queue) != 0 {
		t.Errorf("%d turns, %d wait", one.free, len(one.queue))
	}
	must(t, hold.Release())
	must(t, c.Close())
}
