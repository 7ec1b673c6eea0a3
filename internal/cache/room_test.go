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
		for _, f := range namesIn(t, dir) {
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
	leases := reserve(t, c, request("x", 250), request("d", 100))
	if got := kept(t, dir, "a", "d", "e", "f", "x"); got != "dx" {
		t.Errorf("left %s", got)
	}
	must(t, releaseAll(leases, nil))
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
			mine := reserve(t, c, request("y", -1))[0]
			defer mine.Release()
			_, err := mine.Write(make([]byte, 41))
			return err
		}, "no more than 40 can be had; other processes use 60"},
		{"what another lease has", func(c, _ *Cache) error {
			h, _ := put(t, c, "x", make([]byte, 60))
			defer h.Release()
			_, err := c.Reserve(t.Context(), []Request{request("y", 41)})
			return err
		}, "41 more bytes are needed, and of its 100 bytes no more than 40 can be had"},
		{"growth beyond the quota", func(c, _ *Cache) (err error) {
			l := reserve(t, c, request("x", -1))[0]
			for err == nil {
				_, err = l.Write(make([]byte, 33))
			}
			return errors.Join(err, l.Release())
		}, "32 more bytes are needed, and of its 100 bytes no more than 0 can"},
		{"growth beside what the same caller has", func(c, _ *Cache) error {
			l := reserve(t, c, request("x", 60))[0]
			defer l.Release()
			_, err := l.WriteAt(make([]byte, 60), 0)
			must(t, err)
			beside, err := l.Split(keyOf("z"))
			must(t, err)
			defer beside.Release()
			_, err = beside.Write(make([]byte, 41))
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

// The room of a lease that is not written to is left to the lease beside it.
func TestBeside(t *testing.T) {
	t.Parallel()
	c := openCache(t, t.TempDir(), 100)
	l := reserve(t, c, request("x", 90))[0]
	_, err := l.Write(make([]byte, 20))
	must(t, err)
	beside, err := l.Split(keyOf("y"))
	must(t, err)
	other := reserve(t, c, request("z", 10))[0] // all the room that the two leave
	_, err = beside.Write(make([]byte, 70))
	must(t, err)
	if _, err := beside.Write(make([]byte, 1)); !errors.Is(err, ErrQuota) {
		t.Error(err)
	}
	must(t, releaseAll([]*Lease{l, beside, other}, nil))
	must(t, c.Close())
}

// A copy is written by the first lease that needs it alone.
func TestOneWriter(t *testing.T) {
	t.Parallel()
	c := openCache(t, t.TempDir(), 0)
	first := reserve(t, c, request("x", 1))[0]
	for range 2 {
		if _, err := c.Reserve(t.Context(), []Request{request("y", 1), request("x", 1)}); err != ErrWriting {
			t.Error(err)
		}
	}
	_, err := first.Write([]byte("x"))
	must(t, err)
	_, err = first.Commit()
	must(t, err)
	second, copied := put(t, c, "x", nil)
	if copied.Size != 1 {
		t.Errorf("%+v", copied)
	}
	must(t, releaseAll([]*Lease{first, second}, nil))
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
				for _, name := range namesIn(t, dir) {
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
				case errors.Is(err, ErrQuota), err == ErrWriting: // by another worker
					refused.Add(1)
					time.Sleep(time.Duration(rng.IntN(500)) * time.Microsecond)
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
	leases, err := c.Reserve(ctx, wants)
	if err != nil {
		return err
	}
	for i, n := range numbers {
		d := leases[i]
		copied, err := d.Copy(ctx)
		if copied == nil && err == nil {
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
			return releaseAll(leases, err)
		}
	}
	time.Sleep(time.Duration(rng.IntN(500)) * time.Microsecond)
	return releaseAll(leases, nil)
}

func read(copied *Copy, n int) error {
	b, err := os.ReadFile(copied.Path)
	if err == nil && (len(b) != 1000+n*300 || b[0] != byte(n) || b[len(b)-1] != byte(n)) {
		err = fmt.Errorf("%s has %d bytes of %d, want %d of %d", copied.Path, len(b), b[0], 1000+n*300, n)
	}
	return err
}
