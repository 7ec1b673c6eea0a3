package cached

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"
)

// A server fetches the samples of one dataset for all processes of the machine.
type server struct {
	dir    *dir
	shards []*shard
	doubt  bool // what is kept may be from before the last start of the machine
	lock   *os.File

	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup // everything that the server has begun
	filler *filler
	pace   pace
	slots  *semaphore.Weighted // flights that were asked for ahead
	now    *semaphore.Weighted // flights that somebody waits for
	room   *semaphore.Weighted // bytes of these that are kept in memory
	heads  *semaphore.Weighted // bytes of headers that are fetched
	memory int64               // all of room

	mu     sync.Mutex
	aheads map[*ahead]bool
	users  int
	quiet  *time.Timer // ends the server when no user has been there for some time
}

const (
	aheadAtOnce = 48        // flights
	nowAtOnce   = 128       // flights
	aheadMemory = 256 << 20 // bytes
	headsAtOnce = 64 << 20  // bytes

	// linger is how long a server waits for a user: workers of a loader that start anew find it.
	linger = 2 * time.Second
)

// errBusy says that another process serves the dataset.
var errBusy = errors.New("another process serves it")

// newServer takes the lock of the directory, which no other server may have.
func newServer(d *dir) (*server, error) {
	l, err := lockFile(d.root, lockName, false)
	if err != nil {
		return nil, err
	}
	v := &server{dir: d, lock: l, memory: cmp.Or(d.opts.memory, aheadMemory), aheads: make(map[*ahead]bool)}
	if v.doubt, err = d.newBoot(); err != nil {
		l.Close()
		return nil, err
	}
	v.ctx, v.cancel = context.WithCancel(context.Background())
	v.now = semaphore.NewWeighted(nowAtOnce)
	v.slots, v.room, v.heads = semaphore.NewWeighted(aheadAtOnce), semaphore.NewWeighted(v.memory), semaphore.NewWeighted(headsAtOnce)
	var first, toCome int64
	for i := range d.manifest.Shards {
		s := &d.manifest.Shards[i]
		v.shards = append(v.shards, &shard{ManifestShard: s, dir: d, first: first, pace: &v.pace})
		first += s.Samples
		toCome += headSize + 12*s.Samples
	}
	d.toCome.Store(toCome) // a server of this directory may have been before, in this process
	d.counted.Store(false)
	v.filler = v.newFiller()
	for _, s := range v.shards {
		s.wake = v.filler.wake
	}
	return v, nil
}

// newBoot reports whether what is in the directory was written by a server before the last start of the machine.
func (d *dir) newBoot() (bool, error) {
	kept, err := fs.Glob(d.root.FS(), "*"+haveExt)
	if err != nil {
		return false, err
	}
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return len(kept) > 0, nil // not Linux: all is compared
	}
	was, err := d.get(bootName)
	if err == nil && bytes.Equal(was, id) {
		return false, nil
	}
	for _, name := range kept { // its bits are cleared, before boot: the next server must not trust what this one has not come to
		st, err := d.root.Stat(name)
		if err == nil {
			err = d.root.WriteFile(name, make([]byte, st.Size()), 0o600)
		}
		if err != nil {
			return false, err
		}
	}
	return len(kept) > 0, d.put(bootName, id)
}

const bootName = "boot"

// parts returns which samples of which shards have these numbers, with the headers of the shards here. Numbers that no
// sample has are left out.
func (v *server) parts(ctx context.Context, numbers []int64) (all []*part, err error) {
	sorted := slices.Compact(slices.Sorted(slices.Values(numbers)))
	for _, s := range v.shards {
		n, _ := slices.BinarySearch(sorted, s.first+s.Samples)
		p := &part{shard: s}
		for _, number := range sorted[:n] {
			if number >= 0 {
				p.samples = append(p.samples, number-s.first)
			}
		}
		if sorted = sorted[n:]; len(p.samples) > 0 {
			all = append(all, p)
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(entersAtOnce)
	for _, p := range all {
		g.Go(func() error { return v.enter(ctx, p.shard) })
	}
	return all, g.Wait()
}

// entersAtOnce is how many headers are fetched at once.
const entersAtOnce = 64

// enter makes the header of a shard be here, and begins to fill it.
func (v *server) enter(ctx context.Context, s *shard) error {
	if s.entered() {
		return nil
	}
	size := min(headSize+12*s.Samples, headsAtOnce)
	if err := v.heads.Acquire(ctx, size); err != nil {
		return err
	}
	defer v.heads.Release(size)
	if err := s.enter(ctx, v.doubt); err != nil {
		return err
	}
	v.filler.add(s)
	return nil
}

// serve answers users until there is none for some time, or ctx is done.
func (v *server) serve(ctx context.Context, l net.Listener) {
	defer v.close()
	defer context.AfterFunc(ctx, v.cancel)()
	defer context.AfterFunc(v.ctx, func() { l.Close() })()
	v.quiet = time.AfterFunc(linger, v.cancel)
	for {
		c, err := l.Accept()
		if err != nil { // where too many files are open, users wait
			select {
			case <-time.After(50 * time.Millisecond):
				continue
			case <-v.ctx.Done():
				return
			}
		}
		v.count(1)
		v.work.Go(func() {
			defer v.count(-1)
			defer c.Close()
			defer context.AfterFunc(v.ctx, func() { c.Close() })()
			v.answer(c)
		})
	}
}

func (v *server) count(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.users += n; v.users == 0 {
		v.quiet.Reset(linger)
	} else {
		v.quiet.Stop()
	}
}

// close ends everything, and then lets the next server begin.
func (v *server) close() {
	v.cancel()
	v.filler.close()
	v.work.Wait()
	for _, s := range v.shards {
		s.close()
	}
	v.dir.root.Remove(socketName)
	v.lock.Close()
}

// listen makes the socket of the directory.
func (d *dir) listen() (l *net.UnixListener, err error) {
	if err := d.root.Remove(socketName); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	err = d.nearby(socketName, func(path string) error {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err == nil {
			l.SetUnlinkOnClose(false) // close removes it while it has the lock
		}
		return err
	})
	return l, err
}

const (
	lockName   = "lock"
	usersName  = "users"
	socketName = "socket"
)

// longestSocket is the longest path that an address of a Unix socket has room for.
const longestSocket = 100

// nearby calls use with a path of a socket that is short enough.
func (d *dir) nearby(name string, use func(path string) error) error {
	path := d.at(name)
	if len(path) <= longestSocket {
		return use(path)
	}
	f, err := d.root.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	return use(procPath(f, name))
}
