package cached_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/dataset/cached"
)

// allOf returns the numbers below n.
func allOf(n int) (numbers []int64) {
	for i := range n {
		numbers = append(numbers, int64(i))
	}
	return numbers
}

// keptOf asks for all shards and returns the bytes of those that are kept.
func keptOf(t testing.TB, x *cached.Dataset) (size int64) {
	t.Helper()
	kept, err := x.Shards(t.Context(), allOf(len(x.Manifest().Shards))...)
	if err != nil {
		t.Error(err)
	}
	for k, is := range kept {
		if is {
			size += x.Manifest().Shards[k].Bytes
		}
	}
	return size
}

// Two servers that reserve room in one cache at once fill it, and do not exceed its size. What a removed dataset had is
// there for others.
func TestRoomOfTwo(t *testing.T) {
	t.Parallel()
	dirs := make([]string, 3)
	for k := range dirs {
		dirs[k], _ = made(t, 400+k, 2000, 40)
	}
	const size = 500_000 // of 800,000 bytes of two
	opts := options(t, size)
	var x []*cached.Dataset
	for _, dir := range dirs[:2] {
		x = append(x, opened(t, served(t, dir), opts))
	}
	var used atomic.Int64
	var work sync.WaitGroup
	for _, one := range x {
		work.Go(func() { used.Add(keptOf(t, one)) })
	}
	work.Wait()
	largest := int64(0)
	for _, one := range x {
		for _, s := range one.Manifest().Shards {
			largest = max(largest, s.Bytes)
		}
	}
	if n := used.Load(); n > size || n <= size-largest {
		t.Errorf("%d bytes are kept, want almost %d", n, size)
	}
	late := opened(t, served(t, dirs[2]), opts)
	before := keptOf(t, late)
	if n := used.Load() + before; n > size {
		t.Errorf("%d bytes are kept, want almost %d", n, size)
	}
	for _, one := range []*cached.Dataset{x[0], late} {
		if err := one.Close(); err != nil {
			t.Fatal(err)
		}
	}
	late = opened(t, served(t, dirs[2]), opts)
	if n := keptOf(t, late); n != before { // it counts what the cache keeps before it reserves
		t.Errorf("%d bytes are kept, %d before", n, before)
	}
	if err := late.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := cached.List(opts.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if gone, err := e.Remove(); err != nil || gone != (e.Path != x[1].Path()) {
			t.Errorf("%s: removed %t, %v", e.Path, gone, err)
		}
	}
	stays := int64(0)
	for _, e := range all {
		if e.Path == x[1].Path() {
			stays = e.Bytes
		}
	}
	if n := keptOf(t, opened(t, served(t, dirs[2]), opts)); n+stays > size || n+stays <= size-largest && n < 300_000 {
		t.Errorf("%d and %d bytes are kept, want almost %d", n, stays, size)
	}
}

// A server ends with its users, also with one that waited for what does not come.
func TestEndsWithUsers(t *testing.T) {
	t.Parallel()
	dir, _ := made(t, 300, 3000, 3)
	asked, end := make(chan struct{}, 1), make(chan struct{})
	files := http.FileServer(http.Dir(dir))
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rest, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); !ok || strings.HasPrefix(rest, "0-") {
			files.ServeHTTP(w, r)
			return
		}
		select {
		case asked <- struct{}{}:
		default:
		}
		select {
		case <-r.Context().Done():
		case <-end:
		}
	}))
	t.Cleanup(store.Close)
	t.Cleanup(func() { close(end) })
	opts, url := options(t, 0), store.URL
	path, _, err := cached.Find(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- cached.Serve(t.Context(), path, url, opts, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	x := opened(t, url, opts)
	if _, err := x.Shards(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := x.LeaveWaiting(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the server waits for nobody")
	}
}

// A server that does not read, as one that is stopped, keeps no user from saying what comes; the next one reads.
func TestDeafServer(t *testing.T) {
	t.Parallel()
	dir, records := made(t, 300, 3000, 3)
	url, opts := served(t, dir), options(t, 0)
	path, _, err := cached.Find(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	deaf, err := net.Listen("unix", filepath.Join(path, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	x := opened(t, url, opts)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	said := make(chan struct{})
	go func() {
		defer close(said)
		for _, ctx := range []context.Context{t.Context(), ended, t.Context()} {
			x.Coming(ctx, make([]int64, 1<<18)) // more than a socket takes
		}
		x.Forget(t.Context())
	}()
	select {
	case <-said:
	case <-time.After(time.Minute):
		deaf.Close()
		t.Fatal("it waits for a server that does not read")
	}
	if err := deaf.Close(); err != nil {
		t.Fatal(err)
	}
	epoch(t, records, 1, x)
}

// A full is a listener of a process that has too many files open for some time.
type full struct {
	net.Listener
	left atomic.Int32
}

func (l *full) Accept() (net.Conn, error) {
	if l.left.Add(-1) >= 0 {
		return nil, &net.OpError{Op: "accept", Net: "unix", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	return l.Listener.Accept()
}

// A server that cannot accept a user tries again.
func TestTooManyFiles(t *testing.T) {
	t.Parallel()
	dir, records := made(t, 300, 3000, 3)
	url, opts := served(t, dir), options(t, 0)
	listens, ended := make(chan *full, 1), make(chan error, 1)
	go func() {
		ended <- cached.ServeThrough(t.Context(), url, opts, func(l net.Listener) net.Listener {
			f := &full{Listener: l}
			f.left.Store(3)
			listens <- f
			return f
		})
	}()
	var l *full
	select {
	case l = <-listens:
	case err := <-ended:
		t.Fatal(err)
	}
	x := opened(t, url, opts)
	if err := read(t.Context(), x, records, slices.Sorted(slices.Values([]int64{1, 7, 250}))); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		t.Fatalf("the server has ended: %v", err)
	default:
	}
	if n := l.left.Load(); n >= 0 {
		t.Errorf("%d errors were not met", n)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Where the server has ended, whoever still has the dataset open keeps it from being removed.
func TestOpenIsInUse(t *testing.T) {
	t.Parallel()
	dir, records := made(t, 200, 3000, 2)
	url, opts := served(t, dir), options(t, 0)
	server := opened(t, url, opts)
	x := opened(t, url, opts)
	epoch(t, records, 1, x)
	filled(t, server)
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	look := func(inUse bool) {
		t.Helper()
		all, err := cached.List(opts.Dir)
		if err != nil || len(all) != 1 || all[0].InUse != inUse {
			t.Fatalf("%+v, %v; want in use: %t", all, err, inUse)
		}
		if removed, err := all[0].Remove(); err != nil || removed == inUse {
			t.Fatalf("removed: %t, %v", removed, err)
		}
	}
	look(true)
	epoch(t, records, 2, x)
	if n, err := x.Fetched(t.Context()); err != nil || n > 0 {
		t.Errorf("%d bytes were fetched again, %v", n, err)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	look(false)
}

// What was to be filled is filled by the server that follows another.
func TestFilledByTheNext(t *testing.T) {
	t.Parallel()
	dir, records := made(t, 400, 3000, 4)
	url, opts := served(t, dir), options(t, 0)
	server := opened(t, url, opts)
	x := opened(t, url, opts)
	if _, err := x.Shards(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	filled(t, x)
	for k := range 4 {
		if have, err := os.ReadFile(filepath.Join(x.Path(), fmt.Sprintf("PART_%05d.ffr.have", k))); err != nil || have[0] != 1 {
			t.Errorf("shard %d is not whole, %v", k, err)
		}
	}
	epoch(t, records, 1, x)
}
