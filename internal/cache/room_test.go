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

// The least recently used copy is evicted first, whichever process used it; copies in use stay.
func TestEviction(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, other := openCache(t, dir, 400), openCache(t, dir, 400)
	holds := map[string]*Lease{}
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
	h, err := c.Reserve(t.Context(), []Request{request("x", 250), request("d", 100)})
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
		try  func(c, other *Cache) error
		says string
	}{
		{"larger than the quota", func(c, _ *Cache) error {
			_, err := c.Reserve(t.Context(), []Request{request("x", 60), request("y", 41)})
			return err
		}, "101 bytes are needed at once, and it is 100 bytes"},
		{"larger with what stands there", func(c, _ *Cache) error {
			h, _ := put(t, c, "x", make([]byte, 60))
			defer h.Release()
			_, err := c.Reserve(t.Context(), []Request{request("x", 60), request("y", 41)})
			return err
		}, "101 bytes"},
		{"another process has it", func(c, other *Cache) error {
			h, _ := put(t, other, "x", make([]byte, 60))
			defer h.Release()
			_, err := c.Reserve(t.Context(), []Request{request("y", 41)})
			return err
		}, "41 more bytes are needed, and of its 100 bytes no more than 40 can be had; other processes use 60"},
		{"growth beside what another process has", func(c, other *Cache) error {
			h, _ := put(t, other, "x", make([]byte, 60))
			defer h.Release()
			mine, err := c.Reserve(t.Context(), []Request{request("y", -1)})
			if err != nil {
				return err
			}
			defer mine.Release()
			return mine.Writer(0).Await(t.Context(), 41)
		}, "no more than 40 can be had; other processes use 60"},
		{"what is retained", func(c, _ *Cache) error {
			h, copied := put(t, c, "x", make([]byte, 60))
			h.Retain(copied)
			must(t, h.Release())
			_, err := c.Reserve(t.Context(), []Request{request("y", 41)})
			return err
		}, "no more than 40"},
		{"what is kept", func(c, _ *Cache) error {
			h, _ := put(t, c, "x", make([]byte, 60))
			h.Keep()
			defer h.Release()
			_, err := c.Reserve(t.Context(), []Request{request("y", 41)})
			return err
		}, "no more than 40"},
		{"growth beside what is kept, and used again", func(c, _ *Cache) error {
			last, _ := put(t, c, "x", make([]byte, 60))
			last.Keep()
			defer last.Release()
			h, err := c.Reserve(t.Context(), []Request{request("x", 60), request("y", 20)})
			if err != nil {
				return err
			}
			defer h.Release()
			_, err = h.Writer(1).Beside(keyOf("z")).Write(make([]byte, 21))
			return err
		}, "no more than 20"},
		{"growth beyond the quota", func(c, _ *Cache) error {
			h, err := c.Reserve(t.Context(), []Request{request("x", -1)})
			if err != nil {
				return err
			}
			defer h.Release()
			for err == nil {
				_, err = h.Writer(0).Write(make([]byte, 33))
			}
			return h.Writer(0).Discard(err)
		}, "32 more bytes are needed, and of its 100 bytes no more than 0 can"},
		{"growth beside what the same hold has", func(c, _ *Cache) error {
			h, err := c.Reserve(t.Context(), []Request{request("x", 60)})
			if err != nil {
				return err
			}
			defer h.Release()
			_, err = h.Writer(0).Beside(keyOf("z")).Write(make([]byte, 41))
			return err
		}, "no more than 40"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c, other := openCache(t, dir, 100), openCache(t, dir, 100)
			err := tt.try(c, other)
			if !errors.Is(err, ErrQuota) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %s", err, tt.says)
			}
			must(t, c.Close())
			must(t, other.Close())
		})
	}
}

// A request waits for the other leases of its process, or for its context.
func TestWaiting(t *testing.T) {
	t.Parallel()
	c := openCache(t, t.TempDir(), 100)
	h, _ := put(t, c, "x", make([]byte, 60))
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(why) })
	if _, err := c.Reserve(ctx, []Request{request("y", 50)}); !errors.Is(err, why) {
		t.Error(err)
	}
	var releasing atomic.Bool
	released := make(chan error)
	time.AfterFunc(30*time.Millisecond, func() {
		releasing.Store(true)
		released <- h.Release()
	})
	got, err := c.Reserve(t.Context(), []Request{request("y", 30), request("z", 20)})
	must(t, err)
	if !releasing.Load() {
		t.Error("there was no room before")
	}
	must(t, <-released)
	must(t, got.Release())
	must(t, c.Close())
}

// Of two writers that wait for each other's room the last one is refused, and told that the other
// lease has the room; once it has released its own, the first one goes on.
func TestGrowthIsNoDeadlock(t *testing.T) {
	t.Parallel()
	c := openCache(t, t.TempDir(), 100)
	var wg, both sync.WaitGroup
	var failed, done atomic.Int64
	both.Add(2)
	for i := range 2 {
		wg.Go(func() {
			h, err := c.Reserve(t.Context(), []Request{request(fmt.Sprint("raw", i), 20)})
			must(t, err)
			w := h.Writer(0).Beside(keyOf(fmt.Sprint(i)))
			_, err = w.Write(make([]byte, 20))
			must(t, err)
			both.Done()
			both.Wait()
			if err = w.Await(t.Context(), 70); err == nil {
				_, err = w.Write(make([]byte, 50))
			}
			short, full := errors.AsType[*Shortage](err)
			switch {
			case err == nil:
				_, err = w.Commit()
				must(t, err)
				done.Add(1)
			case full && short.Others:
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
}

// Spare room is waited for while another lease may be released, left to the lease by others, and
// done without where there is none.
func TestSpare(t *testing.T) {
	t.Parallel()
	c := openCache(t, t.TempDir(), 100)
	h, _ := put(t, c, "x", make([]byte, 40))
	spare := request("y", 10)
	spare.Spare = 60
	var releasing atomic.Bool
	time.AfterFunc(20*time.Millisecond, func() {
		releasing.Store(true)
		h.Release()
	})
	got, err := c.Reserve(t.Context(), []Request{spare})
	must(t, err)
	if !releasing.Load() {
		t.Error("there was no room before")
	}
	other, err := c.Reserve(t.Context(), []Request{request("z", -1)})
	must(t, err)
	if _, err := other.Writer(0).Write(make([]byte, 31)); !errors.Is(err, ErrQuota) {
		t.Errorf("the room of another lease is taken: %v", err)
	}
	_, err = other.Writer(0).Write(make([]byte, 30))
	must(t, err)
	_, err = got.Writer(0).Write(make([]byte, 70))
	must(t, err)
	must(t, other.Release())
	must(t, got.Release())

	h, _ = put(t, c, "x", make([]byte, 40))
	h.Keep()
	got, err = c.Reserve(t.Context(), []Request{spare})
	must(t, err)
	w := got.Writer(0)
	_, err = w.Write(make([]byte, 60))
	must(t, err)
	short, full := errors.AsType[*Shortage](w.Await(t.Context(), 61))
	if !full || short.Others || short.Need != 1 || short.Have != 0 {
		t.Errorf("%+v", short)
	}
	must(t, got.Release())
	must(t, h.Release())
	must(t, c.Close())
}

// A copy is written once, by the first lease that needs it.
func TestOneWriter(t *testing.T) {
	t.Parallel()
	c := openCache(t, t.TempDir(), 0)
	var wg sync.WaitGroup
	var written atomic.Int64
	for range 8 {
		wg.Go(func() {
			h, err := c.Reserve(t.Context(), []Request{request("x", 1)})
			must(t, err)
			if d := h.Writer(0); d != nil {
				written.Add(1)
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
	if written.Load() != 1 {
		t.Errorf("%d writers", written.Load())
	}
	must(t, c.Close())
}

// Many work at once, of two processes: the quota holds at every moment, all get done, and
// no worker reads what is not there any more.
func TestQuotaHolds(t *testing.T) {
	t.Parallel()
	const quota = 100_000
	dir := t.TempDir()
	caches := []*Cache{openCache(t, dir, quota), openCache(t, dir, quota)}
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
	var refused atomic.Int64
	for worker := range 12 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(worker), 1))
			c := caches[worker%2]
			for done := 0; done < 40; {
				err := work(t.Context(), c, rng)
				if err == nil {
					done++
				}
				switch {
				case err == nil:
				case errors.Is(err, ErrQuota): // all grow at once, or the other process has the room
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
	t.Logf("%d refused; %d bytes at most", refused.Load(), most)
	if most > quota || most < quota/2 {
		t.Errorf("%d bytes at most, the quota is %d", most, quota)
	}
	for _, c := range caches {
		must(t, c.Close())
	}
}

// work has some copies, of which each byte is its number.
func work(ctx context.Context, c *Cache, rng *rand.Rand) error {
	var wants []Request
	numbers := rng.Perm(30)[:1+rng.IntN(3)]
	for _, n := range numbers {
		wants = append(wants, request(fmt.Sprint(n), int64(1000+n*300)))
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
		if d := h.Writer(i); d != nil {
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
