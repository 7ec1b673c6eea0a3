package cache

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// kept tells the names of the copies in dir.
func kept(t *testing.T, dir string, names ...string) (found string) {
	t.Helper()
	for _, name := range names {
		for _, f := range files(t, dir) {
			if strings.HasPrefix(f, keyOf(name)) {
				found += name
			}
		}
	}
	return found
}

// What was used longest ago goes first, whoever used it; what is in use stays.
func TestEviction(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, other := openAs(t, dir, 400, 1), openAs(t, dir, 400, 2)
	holds := map[string]*Hold{}
	for _, name := range []string{"a", "b", "c", "d"} {
		holds[name], _ = put(t, c, name, make([]byte, 100))
		must(t, holds[name].Release())
	}
	must(t, age(dir, "a", 4))
	must(t, age(dir, "b", 3))
	must(t, age(dir, "c", 2))
	must(t, age(dir, "d", 1))
	used, before := put(t, other, "a", make([]byte, 100)) // is there
	for _, step := range []struct{ name, left string }{{"e", "acde"}, {"f", "adef"}, {"a", "adef"}} {
		h, _ := put(t, c, step.name, make([]byte, 100))
		must(t, h.Release())
		if got := kept(t, dir, "a", "b", "c", "d", "e", "f"); got != step.left {
			t.Errorf("after %s: %s, want %s", step.name, got, step.left)
		}
	}
	// The time of use is kept where readers do not look.
	if fi, err := os.Stat(before.Path); err != nil || !fi.ModTime().Equal(before.ModTime) {
		t.Errorf("%v, before %v: %v", fi.ModTime(), before.ModTime, err)
	}
	must(t, used.Release())
	h, err := c.Reserve(t.Context(), []Want{want("x", 250), want("d", 100)})
	must(t, err)
	if got := kept(t, dir, "a", "d", "e", "f", "x"); got != "dx" {
		t.Errorf("left %s", got)
	}
	must(t, h.Release())
	must(t, c.Close())
	must(t, other.Close())
}

// age sets the access time of a copy back.
func age(dir, name string, hours int) error {
	paths, err := filepath.Glob(filepath.Join(dir, keyOf(name)+"*"))
	for _, path := range paths {
		err = errors.Join(err, os.Chtimes(path, time.Now().Add(-time.Duration(hours)*time.Hour), time.Time{}))
	}
	return err
}

// What can never be had is refused at once, with the numbers.
func TestHopeless(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		try  func(c, same *Cache) error
		says string
	}{
		{"larger than the quota", func(c, _ *Cache) error {
			_, err := c.Reserve(t.Context(), []Want{want("x", 60), want("y", 41)})
			return err
		}, "101 bytes are needed at once, and it is 100 bytes"},
		{"larger with what stands there", func(c, _ *Cache) error {
			h, _ := put(t, c, "x", make([]byte, 60))
			defer h.Release()
			_, err := c.Reserve(t.Context(), []Want{want("x", 60), want("y", 41)})
			return err
		}, "101 bytes"},
		{"another cache of this process has it", func(c, same *Cache) error {
			h, _ := put(t, same, "x", make([]byte, 60))
			defer h.Release()
			_, err := c.Reserve(t.Context(), []Want{want("y", 41)})
			return err
		}, "41 more bytes are needed, and of its 100 bytes no more than 40 can be had"},
		{"what is kept for good", func(c, _ *Cache) error {
			h, copied := put(t, c, "x", make([]byte, 60))
			kept := h.Keep(copied)
			must(t, h.Release())
			defer kept.Release()
			_, err := c.Reserve(t.Context(), []Want{want("y", 41)})
			return err
		}, "no more than 40"},
		{"what is let go of last", func(c, _ *Cache) error {
			h, _ := put(t, c, "x", make([]byte, 60))
			h.Last()
			defer h.Release()
			_, err := c.Reserve(t.Context(), []Want{want("y", 41)})
			return err
		}, "no more than 40"},
		{"growth beside what is let go of last, and used again", func(c, _ *Cache) error {
			last, _ := put(t, c, "x", make([]byte, 60))
			last.Last()
			defer last.Release()
			h, err := c.Reserve(t.Context(), []Want{want("x", 60), want("y", 20)})
			if err != nil {
				return err
			}
			defer h.Release()
			_, err = h.Draft(1).Beside(keyOf("z")).Write(make([]byte, 21))
			return err
		}, "no more than 20"},
		{"growth beyond the quota", func(c, _ *Cache) error {
			h, err := c.Reserve(t.Context(), []Want{want("x", -1)})
			if err != nil {
				return err
			}
			defer h.Release()
			for err == nil {
				_, err = h.Draft(0).Write(make([]byte, 33))
			}
			return h.Draft(0).Discard(err)
		}, "32 more bytes are needed, and of its 100 bytes no more than 0 can"},
		{"growth beside what the same hold has", func(c, _ *Cache) error {
			h, err := c.Reserve(t.Context(), []Want{want("x", 60)})
			if err != nil {
				return err
			}
			defer h.Release()
			_, err = h.Draft(0).Beside(keyOf("z")).Write(make([]byte, 41))
			return err
		}, "no more than 40"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c, same := openAs(t, dir, 100, 1), openAs(t, dir, 100, 1)
			err := tt.try(c, same)
			if !errors.Is(err, ErrQuota) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %s", err, tt.says)
			}
			must(t, c.Close())
			must(t, same.Close())
		})
	}
}

// A reservation waits for what is let go of, here or elsewhere, or for its context.
func TestWaiting(t *testing.T) {
	t.Parallel()
	for _, process := range []int64{1, 2} {
		dir := t.TempDir()
		c, other := openAs(t, dir, 100, 1), openAs(t, dir, 100, process)
		if process == 1 {
			must(t, other.Close())
			other = c
		}
		h, _ := put(t, other, "x", make([]byte, 60))
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(10*time.Millisecond, func() { cancel(why) })
		if _, err := c.Reserve(ctx, []Want{want("y", 50)}); !errors.Is(err, why) {
			t.Error(err)
		}
		var releasing atomic.Bool
		released := make(chan error)
		time.AfterFunc(30*time.Millisecond, func() {
			releasing.Store(true)
			released <- h.Release()
		})
		got, err := c.Reserve(t.Context(), []Want{want("y", 30), want("z", 20)})
		must(t, err)
		if !releasing.Load() {
			t.Error("there was no room before")
		}
		must(t, <-released)
		must(t, got.Release())
		must(t, c.Close())
		if other != c {
			must(t, other.Close())
		}
	}
}

// Two who wait for each other's room: one of them is told, the other goes on.
func TestGrowthIsNoDeadlock(t *testing.T) {
	t.Parallel()
	for _, process := range []int64{1, 2} {
		t.Run(fmt.Sprint(process), func(t *testing.T) {
			dir := t.TempDir()
			c, other := openAs(t, dir, 100, 1), openAs(t, dir, 100, process)
			if process == 1 {
				must(t, other.Close())
				other = c
			}
			var wg sync.WaitGroup
			var failed, done atomic.Int64
			var both sync.WaitGroup
			both.Add(2)
			for i, c := range []*Cache{c, other} {
				wg.Go(func() {
					h, err := c.Reserve(t.Context(), []Want{want(fmt.Sprint("raw", i), 20)})
					must(t, err)
					d := h.Draft(0).Beside(keyOf(fmt.Sprint(i)))
					_, err = d.Write(make([]byte, 20))
					must(t, err)
					both.Done()
					both.Wait()
					_, err = d.Write(make([]byte, 50))
					switch {
					case err == nil:
						_, err = d.Commit()
						must(t, err)
						done.Add(1)
					case errors.Is(err, ErrQuota):
						failed.Add(1)
					default:
						t.Error(err)
					}
					must(t, h.Release())
				})
			}
			wg.Wait()
			if failed.Load() != 1 || done.Load() != 1 {
				t.Errorf("%d done, %d refused", done.Load(), failed.Load())
			}
			must(t, c.Close())
			if other != c {
				must(t, other.Close())
			}
		})
	}
}

// A draft of a key is written once, whoever else waits for it.
func TestOneDraft(t *testing.T) {
	t.Parallel()
	c := openAs(t, t.TempDir(), 0, 0)
	var wg sync.WaitGroup
	var drafts atomic.Int64
	for range 8 {
		wg.Go(func() {
			h, err := c.Reserve(t.Context(), []Want{want("x", 1)})
			must(t, err)
			if d := h.Draft(0); d != nil {
				drafts.Add(1)
				_, err := d.Write([]byte("x"))
				must(t, err)
				time.Sleep(time.Millisecond)
				_, err = d.Commit()
				must(t, err)
			} else if copied, err := h.Copy(t.Context(), 0); err != nil || copied.Size != 1 {
				t.Error(copied, err)
			}
			must(t, h.Release())
		})
	}
	wg.Wait()
	if drafts.Load() != 1 {
		t.Errorf("%d drafts", drafts.Load())
	}
	must(t, c.Close())
}

// Many work at once, of two processes: the quota holds at every moment, all get done, and
// nobody reads what is not there any more.
func TestQuotaHolds(t *testing.T) {
	t.Parallel()
	const quota = 100_000
	dir := t.TempDir()
	caches := []*Cache{openAs(t, dir, quota, 1), openAs(t, dir, quota, 2)}
	stop := make(chan struct{})
	var watcher sync.WaitGroup
	most := int64(0)
	watcher.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			total := int64(0)
			caches[0].accounted(t.Context(), func() error { // so that the sum is of one moment
				for _, name := range files(t, dir) {
					if fi, err := os.Lstat(filepath.Join(dir, name)); err == nil {
						total += fi.Size()
					}
				}
				return nil
			})
			most = max(most, total)
			time.Sleep(100 * time.Microsecond)
		}
	})
	var wg sync.WaitGroup
	var done, refused atomic.Int64
	for worker := range 12 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(worker), 1))
			c := caches[worker%2]
			for range 40 {
				err := work(t.Context(), c, rng)
				switch {
				case err == nil:
					done.Add(1)
				case errors.Is(err, ErrQuota): // all grow at once
					refused.Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	watcher.Wait()
	t.Logf("%d done, %d refused; %d bytes at most", done.Load(), refused.Load(), most)
	if most > quota || most < quota/2 || done.Load() < 300 {
		t.Errorf("%d bytes at most, the quota is %d; %d done, %d refused", most, quota, done.Load(), refused.Load())
	}
	for _, c := range caches {
		must(t, c.Close())
	}
}

// work has some copies, of which each byte is its number.
func work(ctx context.Context, c *Cache, rng *rand.Rand) error {
	var wants []Want
	numbers := rng.Perm(30)[:1+rng.IntN(3)]
	for _, n := range numbers {
		wants = append(wants, want(fmt.Sprint(n), int64(1000+n*300)))
	}
	if rng.IntN(4) == 0 {
		wants[0].Size = -1
	}
	h, err := c.Reserve(ctx, wants)
	if err != nil {
		return err
	}
	for i, n := range numbers {
		copied, err := h.Copy(ctx, i)
		if d := h.Draft(i); d != nil {
			data := make([]byte, 1000+n*300)
			for j := range data {
				data[j] = byte(n)
			}
			for len(data) > 0 && err == nil {
				_, err = d.Write(data[:min(700, len(data))])
				data = data[min(700, len(data)):]
			}
			if err == nil {
				copied, err = d.Commit()
			}
		}
		if err == nil {
			err = read(copied, n)
		}
		if err != nil {
			return errors.Join(err, h.Release())
		}
	}
	time.Sleep(time.Duration(rng.IntN(500)) * time.Microsecond)
	return h.Release()
}

func read(copied *Copy, n int) error {
	b, err := os.ReadFile(copied.Path)
	if err == nil && (len(b) != 1000+n*300 || b[0] != byte(n) || b[len(b)-1] != byte(n)) {
		err = fmt.Errorf("%s has %d bytes of %d, want %d of %d", copied.Path, len(b), b[0], 1000+n*300, n)
	}
	return err
}
