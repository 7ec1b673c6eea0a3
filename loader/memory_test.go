package loader_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/loader"
)

// TestEndsAtOnce: a loop that is left, fails or is cancelled leaves no goroutine, and the loader can be used. What its
// readers keep for the next loop ends with Close.
func TestEndsAtOnce(t *testing.T) {
	dir := made(t, "raw:bin", 0, 400, 3)
	before := goroutines("")
	l := opened(t, loader.Options{Order: loader.Order{Batch: 4}, Prefetch: 8, Readers: 4}, dir)
	const kept = "/aio.(*pool).work"
	idle := func(what, except string) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); ; { // a context that was cancelled may have a goroutine yet
			now := goroutines(except)
			if len(now) <= len(before) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s: %d goroutines, %d before:\n%s", what, len(now), len(before), strings.Join(now, "\n\n"))
			}
			time.Sleep(time.Millisecond)
		}
	}
	for range 20 {
		for b, err := range l.Batches(t.Context()) {
			if b == nil || err != nil {
				t.Fatal(b, err)
			}
			break
		}
	}
	idle("left", kept)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	n := 0
	for b, err := range l.Batches(ctx) {
		if last = err; err == nil && b.Len() == 4 {
			n++
			cancel()
		}
	}
	if n != 1 || !errors.Is(last, context.Canceled) {
		t.Errorf("cancelled: %d more batches, %v", n, last)
	}
	idle("cancelled", kept)
	for _, err := range l.Batches(ctx) {
		last = err
	}
	if !errors.Is(last, context.Canceled) || l.Stats().Batches != 21 {
		t.Errorf("cancelled before: %v, %+v", last, l.Stats())
	}

	func() {
		defer func() { recover() }()
		for range l.Batches(t.Context()) {
			panic("in the loop")
		}
	}()
	idle("panic", kept)
	if steps := epoch(t, l); len(steps) != 100-22 {
		t.Errorf("after all that %d batches are left", len(steps))
	}
	idle("ended", kept)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	idle("closed", "")
}

// goroutines returns the stack of each goroutine, less those in the function except.
func goroutines(except string) []string {
	buf := make([]byte, 1<<20)
	stacks := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	return slices.DeleteFunc(stacks, func(s string) bool { return except != "" && strings.Contains(s, except) })
}

// TestOneLoop: a loader in a loop refuses what would disturb it.
func TestOneLoop(t *testing.T) {
	t.Parallel()
	l := opened(t, loader.Options{}, made(t, "raw:bin", 0, 40, 1))
	n := 0
	for _, err := range l.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if l.SetEpoch(4) == nil || l.Close() == nil {
			t.Error("the loader was changed in a loop")
		}
		for b, err := range l.Batches(t.Context()) {
			if b != nil || err == nil {
				t.Error("two loops at once")
			}
		}
	}
	if n != 5 {
		t.Errorf("%d batches", n)
	}
}

// TestKeep: what the loop keeps stays as it is, what it does not is filled again.
func TestKeep(t *testing.T) {
	t.Parallel()
	l := opened(t, loader.Options{Order: loader.Order{Batch: 10}}, made(t, "raw:bin", 0, 200, 2))
	var kept []*loader.Batch
	seen := make(map[*loader.Batch]bool)
	for b, err := range l.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(kept, b) {
			t.Fatal("a batch was kept, and filled again")
		}
		delete(seen, b)
		if l.Stats().Batches%2 == 0 {
			b.Keep()
			kept = append(kept, b)
		} else {
			seen[b] = true
		}
	}
	if len(kept) != 10 || len(seen) > prefetched+1 {
		t.Errorf("%d batches kept, %d others in memory", len(kept), len(seen))
	}
	for _, b := range kept {
		compare(t, b)
	}
}

const prefetched = 4 // batches, by default

// TestFlat: the slabs are allocated once; the rest of an epoch takes a small part of what it reads.
func TestFlat(t *testing.T) {
	l := opened(t, loader.Options{Order: loader.Order{Batch: 200}}, made(t, "raw:bin", 0, 20_000, 2))
	slabs, least := int64(0), int64(math.MaxInt64)
	for epoch := range uint64(3) { // other goroutines of the process allocate, too, now and then
		if err := l.SetEpoch(epoch); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		read := l.Stats().Bytes
		runtime.ReadMemStats(&before)
		for range l.Batches(t.Context()) {
		}
		runtime.ReadMemStats(&after)
		slabs = (l.Stats().Bytes - read) / l.Steps() * (prefetched + 1)
		least = min(least, int64(after.TotalAlloc-before.TotalAlloc))
	}
	if l.Stats().Batches != 300 || least > 4*slabs {
		t.Errorf("%d batches; %d bytes allocated in an epoch with slabs of %d", l.Stats().Batches, least, slabs)
	}
}
