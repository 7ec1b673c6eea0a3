package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A claim says that a process writes a shard: the file .ffconvert/running/PART_00012, made
// with O_EXCL. Its holder touches it every claimBeat. Other processes then skip the shard, and status
// shows who works on it. A claim is advisory: the rename that gives a shard its name decides which process wrote it.
type claim struct {
	shard string
	holder
	seen time.Time // when it was touched last, by the clock of the file system
}

const (
	claimBeat  = 15 * time.Second // a claim is touched so often
	claimStale = 5 * time.Minute  // a process that has not touched its claim for longer counts as dead
)

// isDead reports whether the holder counts as dead: its process has ended, or has not touched the claim for claimStale.
func (c *claim) isDead(now time.Time) bool { return c.dead() || now.Sub(c.seen) > claimStale }

// tokenForm is what newToken makes.
var tokenForm = text.Pattern(`^[a-z0-9]{13}$`)

func claimName(shard string) string {
	return path.Join(RunningDir, strings.TrimSuffix(shard, record.Ext))
}

// Claims are the claims of one process. Its methods may be called concurrently.
type Claims struct {
	dir  *Dir
	text []byte
	quit chan struct{}
	done sync.WaitGroup

	mu   sync.Mutex
	held map[string]bool
}

// shown returns when a claim was seen, as a time that JSON can have: file times can be set to anything.
func (c *claim) shown() time.Time {
	at := c.seen.UTC()
	if at.Year() < 0 || at.Year() > 9999 {
		return time.Time{}
	}
	return at
}

// NewClaims returns an empty set of claims and starts the goroutine that touches them until Close.
func (t *Task) NewClaims(task plan.Task) (*Claims, error) {
	if err := t.Mkdir(RunningDir); err != nil {
		return nil, err
	}
	h := newHolder()
	h.Task, h.Token = task.String(), t.token
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	c := &Claims{dir: t.Dir, text: text, quit: make(chan struct{}), held: make(map[string]bool)}
	c.done.Go(c.beat)
	return c, nil
}

// Take claims a shard; false: another process has.
func (c *Claims) Take(shard string) (bool, error) {
	f, err := files.Blocking(c.dir.Root.OpenFile(claimName(shard), os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NONBLOCK, 0o644))
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("claim %s: %w", shard, err)
	}
	c.mu.Lock()
	c.held[shard] = true
	c.mu.Unlock()
	_, err = f.Write(c.text)
	return true, errors.Join(err, f.Close())
}

// Seize claims a shard that another process has claimed, and removes its temporary files if that process is dead.
func (c *Claims) Seize(shard string) error {
	if other, ok, _ := readClaim(c.dir.Root, shard); ok && other.Token != c.dir.token && other.isDead(c.dir.now()) {
		for _, name := range []string{shard, IndexName(shard)} {
			c.dir.Root.Remove(tmpOf(other.Token, name))
		}
		c.dir.Root.Remove(tmpOf(other.Token, ""))
	}
	if err := c.dir.Remove(claimName(shard)); err != nil {
		return err
	}
	_, err := c.Take(shard) // if another process takes it at once, both write it
	return err
}

// Release gives a claim up.
func (c *Claims) Release(shard string) {
	c.mu.Lock()
	delete(c.held, shard)
	c.mu.Unlock()
	c.remove(shard)
}

// remove removes a claim, unless another process has seized it.
func (c *Claims) remove(shard string) {
	if now, ok, err := readClaim(c.dir.Root, shard); err == nil && (!ok || now.Token == c.dir.token) {
		c.dir.Root.Remove(claimName(shard))
	}
}

// beat touches the claims every claimBeat.
func (c *Claims) beat() {
	for tick := time.Tick(claimBeat); ; {
		select {
		case <-c.quit:
			return
		case <-tick:
		}
		c.mu.Lock()
		held := slices.Collect(maps.Keys(c.held))
		c.mu.Unlock()
		for _, shard := range held {
			c.touch(shard)
		}
	}
}

// touch rewrites a claim, so that its modification time comes from the clock of the file system, not of this machine.
// If that fails the claim looks dead to others, which costs double work and no data.
func (c *Claims) touch(shard string) {
	f, err := files.Blocking(c.dir.Root.OpenFile(claimName(shard), os.O_RDWR|unhurried, 0))
	if err != nil {
		return
	}
	defer f.Close()
	if h, ok := readHolder(f); ok && h.Token == c.dir.token {
		_, _ = f.WriteAt(c.text, 0)
	}
}

// Close gives all claims up.
func (c *Claims) Close() {
	close(c.quit)
	c.done.Wait()
	for shard := range c.held {
		c.remove(shard)
	}
}

// readClaim reads the claim of a shard. Without one, and where another kind of file has its name, ok is false.
func readClaim(root *os.Root, shard string) (c claim, ok bool, err error) {
	f, err := openKept(root, claimName(shard))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, converters.ErrUnsupported) {
		return claim{}, false, nil
	}
	if err != nil {
		return claim{}, false, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return claim{}, false, err
	}
	h, ok := readHolder(f)
	return claim{shard, h, st.ModTime()}, ok, nil
}

// readClaims reads all claims, in the order of the shards.
func readClaims(root *os.Root) ([]claim, error) {
	names, err := readNames(root, RunningDir)
	if err != nil {
		return nil, err
	}
	all := make([]claim, len(names))
	var g errgroup.Group
	g.SetLimit(filesAtOnce)
	for i, name := range names {
		if shard := name + record.Ext; shardName().MatchString(shard) {
			g.Go(func() error {
				c, ok, err := readClaim(root, shard)
				if ok {
					all[i] = c
				}
				return err
			})
		}
	}
	err = g.Wait()
	return slices.DeleteFunc(all, func(c claim) bool { return c.shard == "" }), err
}

// readNames lists the names in a directory, sorted; one that does not exist is empty. ReadDir would ask
// for the status of each: a directory in an [os.Root] gives no entry without.
func readNames(root *os.Root, dir string) ([]string, error) {
	d, err := root.OpenFile(dir, unhurried, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if errors.Is(err, fs.ErrNotExist) { // it was removed after it had been opened
		err = nil
	}
	slices.Sort(names)
	return names, err
}

// alone refuses a directory that another process writes to. The lock proves that none does. On a file system without
// locks a claim that was touched within claimStale counts as a writer.
func (w *Writing) alone() error {
	if w.lock != nil {
		return nil
	}
	claims, err := readClaims(w.Root)
	if err != nil {
		return err
	}
	for _, c := range claims {
		if !c.isDead(w.now()) {
			return fmt.Errorf("%s: %w: %v (its file system has no locks: if that process is dead, remove %s)", w.path, ErrLocked, c.holder, w.Path(RunningDir))
		}
	}
	return nil
}

// now is the time by the clock of the file system, which the times of claims are by.
func (d *Dir) now() time.Time {
	if f, err := d.Create("now"); err == nil {
		defer f.Discard()
		if st, err := f.Stat(); err == nil {
			return st.ModTime()
		}
	}
	return time.Now()
}
