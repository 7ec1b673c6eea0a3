package cached

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/ffconvert/ffconvert/dataset"
)

// A Dataset is a dataset in an object store that is open on this machine. Its methods may be called concurrently.
type Dataset struct {
	dir  *dir
	work sync.WaitGroup // the server, where it is in this process
	stop context.CancelFunc

	mu     sync.Mutex
	closed bool
	free   []net.Conn // not in use
	locals []local    // of each shard

	saying sync.Mutex
	ahead  net.Conn // says what comes; it stays open, so that the server stays
	users  *os.File // locked by all users together: where the server was killed, it says that they are there
}

// Open opens the dataset at url. If no process of this machine serves it, this one does, until Close.
func Open(ctx context.Context, url string, opts Options) (*Dataset, error) {
	d, err := find(ctx, url, opts)
	if err != nil {
		return nil, err
	}
	x := newDataset(d)
	first := int64(0)
	for i := range d.manifest.Shards {
		x.locals = append(x.locals, local{first: first})
		first += d.manifest.Shards[i].Samples
	}
	if x.ahead, err = x.connect(ctx); err == nil {
		x.users, err = shareFile(d.root, usersName)
	}
	if err != nil {
		return nil, errors.Join(err, x.Close())
	}
	return x, nil
}

// Find makes the directory for the dataset at url, with its manifest, and reports whether a process serves it.
func Find(ctx context.Context, url string, opts Options) (path string, served bool, err error) {
	d, err := find(ctx, url, opts)
	if err != nil {
		return "", false, err
	}
	defer d.root.Close()
	c, err := d.dial(ctx)
	if err != nil {
		return d.path, false, nil
	}
	return d.path, true, c.Close()
}

// Serve serves the dataset at url, whose directory [Find] has made, until nobody has had it open for two seconds, or ctx
// is done. It calls ready when this process, or another one, answers.
func Serve(ctx context.Context, path, url string, opts Options, ready func()) error {
	m, err := dataset.ReadShards(path)
	if err != nil {
		return err
	}
	d := newDir(baseOf(url), opts)
	d.manifest = m
	if err := d.open(path); err != nil {
		return err
	}
	defer d.root.Close()
	x := newDataset(d)
	c, err := x.connect(ctx)
	if err != nil {
		return err
	}
	ready()
	c.Close()
	defer context.AfterFunc(ctx, x.stop)()
	x.work.Wait()
	return nil
}

func newDataset(d *dir) *Dataset { return &Dataset{dir: d, stop: func() {}} }

// patience is how long a server may take to begin or to end.
const patience = 30 * time.Second

// connect connects to the server, and begins one if there is none.
func (x *Dataset) connect(ctx context.Context) (net.Conn, error) {
	for end := time.Now().Add(patience); ; {
		c, err := x.dir.dial(ctx)
		if err == nil {
			return c, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := x.serve(); err != nil && !errors.Is(err, errBusy) {
			return nil, unwritable(x.dir.path, err)
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("%s: its process does not answer: %w", x.dir.at(lockName), err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (d *dir) dial(ctx context.Context) (c net.Conn, err error) {
	err = d.nearby(socketName, func(path string) error {
		c, err = new(net.Dialer).DialContext(ctx, "unix", path)
		return err
	})
	return c, err
}

// serve begins a server in this process; errBusy: another one has it, or is about to end.
func (x *Dataset) serve() error {
	v, err := newServer(x.dir)
	if err != nil {
		return err
	}
	l, err := x.dir.listen()
	if err != nil {
		v.close()
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		cancel()
		l.Close()
		v.close()
		return net.ErrClosed
	}
	x.stop = cancel
	x.work.Go(func() { v.serve(ctx, l) })
	return nil
}

// Manifest returns the manifest of the dataset.
func (x *Dataset) Manifest() *dataset.Manifest { return x.dir.manifest }

// Len returns the number of samples.
func (x *Dataset) Len() int64 {
	k := len(x.locals) - 1
	return x.locals[k].first + x.dir.manifest.Shards[k].Samples
}

// Path returns the directory in the cache.
func (x *Dataset) Path() string { return x.dir.path }

// Read fills memory with samples, which are given by their numbers in the dataset and ascend. It has the size that they
// have together. Each was compared with its CRC. One that the object store does not have so is [ErrChanged].
func (x *Dataset) Read(ctx context.Context, numbers []int64, memory []byte) error {
	n, err := x.ask(ctx, memory, askRead, numbers...)
	if err == nil && n < len(memory) {
		err = fmt.Errorf("the process that fetches sent %d bytes of %d", n, len(memory))
	}
	return err
}

// Shards makes the headers of shards be in their copies, and reports of each whether all its samples will be.
func (x *Dataset) Shards(ctx context.Context, numbers ...int64) (kept []bool, err error) {
	said := make([]byte, len(numbers))
	_, err = x.ask(ctx, said, askShards, numbers...)
	for _, one := range said {
		kept = append(kept, one == 1)
	}
	return kept, err
}

// Coming says which samples will be read, in this order. What was said before comes before them.
func (x *Dataset) Coming(ctx context.Context, numbers []int64) { x.say(ctx, askComing, numbers...) }

// Forget takes back what [Dataset.Coming] has said.
func (x *Dataset) Forget(ctx context.Context) { x.say(ctx, askForget) }

// mostSaying is how long a server may take to hear what comes. It does nothing but hear it, unless it is stopped.
const mostSaying = time.Second

// say sends a request about what comes. If that fails, samples are fetched when they are read.
func (x *Dataset) say(ctx context.Context, kind int64, numbers ...int64) {
	ctx, cancel := context.WithTimeout(ctx, mostSaying)
	defer cancel()
	x.saying.Lock()
	defer x.saying.Unlock()
	for {
		if x.ahead != nil {
			err := within(ctx, x.ahead, func() error {
				err := writeRequest(x.ahead, kind, numbers...)
				if err == nil && kind == askComing { // it is known before the first of them is asked for
					_, err = readReply(x.ahead, nil)
				}
				return err
			})
			if err == nil {
				return
			}
			x.ahead.Close()
		}
		var err error
		if x.ahead, err = x.connect(ctx); err != nil {
			return
		}
	}
}

// Fetched returns how many bytes of shards came from the object store since the server began.
func (x *Dataset) Fetched(ctx context.Context) (int64, error) {
	var n [8]byte
	_, err := x.ask(ctx, n[:], askCounts)
	return int64(binary.LittleEndian.Uint64(n[:])), err
}

// Filled waits until those of the shards with these numbers that are kept are here whole.
func (x *Dataset) Filled(ctx context.Context, shards ...int64) error {
	_, err := x.ask(ctx, nil, askFilled, shards...)
	return err
}

// attempts is how often a request is sent to a server that ends before it replies.
const attempts = 10

// ask sends a request and waits for its reply.
func (x *Dataset) ask(ctx context.Context, memory []byte, kind int64, numbers ...int64) (n int, err error) {
	for range attempts {
		var c net.Conn
		if c, err = x.connection(ctx); err != nil {
			return 0, err
		}
		err = within(ctx, c, func() (err error) {
			if err = writeRequest(c, kind, numbers...); err == nil {
				n, err = readReply(c, memory)
			}
			return err
		})
		if err == nil || errors.As(err, new(*serverError)) {
			x.mu.Lock()
			defer x.mu.Unlock()
			if x.closed {
				c.Close()
			} else {
				x.free = append(x.free, c)
			}
			return n, err
		}
		c.Close()
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
	}
	return 0, fmt.Errorf("%s: the process that fetches has ended %d times: %w", x.dir.path, attempts, err)
}

// within calls use, which ends when ctx does. Then the connection is of no use any more.
func within(ctx context.Context, c net.Conn, use func() error) error {
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	err := use()
	if !stop() {
		return context.Cause(ctx)
	}
	return err
}

// connection returns a connection that nobody uses.
func (x *Dataset) connection(ctx context.Context) (net.Conn, error) {
	x.mu.Lock()
	if n := len(x.free); n > 0 {
		defer x.mu.Unlock()
		c := x.free[n-1]
		x.free = x.free[:n-1]
		return c, nil
	}
	x.mu.Unlock()
	return x.connect(ctx)
}

// Close ends the use of the dataset, and the server if it is in this process.
func (x *Dataset) Close() error {
	x.mu.Lock()
	if x.closed {
		x.mu.Unlock()
		return nil
	}
	x.closed = true
	for _, c := range x.free {
		c.Close()
	}
	x.free = nil
	for _, l := range x.locals {
		if l.have != nil {
			l.have.Close()
		}
	}
	x.stop()
	x.mu.Unlock()
	x.saying.Lock()
	defer x.saying.Unlock()
	if x.ahead != nil {
		x.ahead.Close()
	}
	x.work.Wait()
	if x.users != nil {
		x.users.Close()
	}
	return x.dir.root.Close()
}
