package cache

import (
	"crypto/rand"
	"io"
	"os"
	"sync"

	"github.com/ffconvert/ffconvert/internal/blocking"
	"github.com/ffconvert/ffconvert/internal/blocksum"
)

// A Draft is a copy in the making. [Draft.Commit] or [Draft.Discard] ends it. WriteAt and ReadAt
// may be called concurrently.
type Draft struct {
	h       *Hold
	key     string
	once    bool
	label   string
	temp    string // its name; it is there once created
	created bool
	primary bool   // it is of a want
	least   int64  // what the want said
	from    *Draft // the one that it is beside; nil: none
	tree    bool   // it stands for a directory; c.mu guards it
	resting bool   // see Rest; c.mu guards it

	mu       sync.Mutex
	f        *os.File // nil: not opened yet
	reserved int64    // bytes that the account knows of
	size     int64    // where the last byte written ends
	pos      int64    // of Write
	rec      blocksum.Recorder
}

// newDraft returns a draft that has no file yet. c.mu is held.
func (h *Hold) newDraft(key string, once bool, label string) *Draft {
	d := &Draft{h: h, key: key, once: once, label: label, temp: key + "." + rand.Text() + tempSuffix}
	h.open[d] = true
	h.c.making[key], h.c.temps[d.temp] = true, true
	return d
}

// Beside returns another draft, of what d becomes. It has no size yet; when it grows, it takes the
// extra of d first. It must end before d.
func (d *Draft) Beside(key string) *Draft {
	d.h.c.mu.Lock()
	defer d.h.c.mu.Unlock()
	b := d.h.newDraft(key, d.once, d.label)
	b.from = d
	return b
}

// Rest says that nothing is done to a draft of a want until others of its hold have ended:
// whoever waits for room does not wait for it meanwhile, or all could wait for each other.
func (d *Draft) Rest() { d.setRest(true) }

// Work says that something is done to it again.
func (d *Draft) Work() { d.setRest(false) }

func (d *Draft) setRest(rest bool) {
	c := d.h.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if d.primary && d.h.open[d] {
		d.h.rest(d, rest)
		c.tell()
	}
}

// rest keeps count. c.mu is held.
func (h *Hold) rest(d *Draft, rest bool) {
	switch {
	case rest && !d.resting:
		h.resting++
	case !rest && d.resting:
		h.resting--
	}
	d.resting = rest
}

// create makes the file and reserves n bytes for it: it is that long at once, so that all
// processes count it. Where n is not 0 the account is held. Nothing stays behind after an error.
func (d *Draft) create(n int64) error {
	c := d.h.c
	if err := c.injected("create"); err != nil {
		return err
	}
	if _, err := c.claim(exclusive, d.temp); err != nil { // nobody else has a name like that
		return err
	}
	f, err := blocking.File(c.root.OpenFile(d.temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600))
	if err != nil {
		c.unclaim(d.temp)
		return err
	}
	d.created = true
	setLabel(f, d.label)
	if n == 0 {
		d.f = f
		return nil
	}
	if err := d.truncate(f, n); err != nil {
		f.Close()
		return err
	}
	d.reserved = n
	return f.Close() // opened again when it is written to: of many drafts few are at once
}

func (d *Draft) truncate(f *os.File, n int64) error {
	if err := d.h.c.injected("truncate"); err != nil {
		return err
	}
	return f.Truncate(n)
}

// file opens the file, creates it if need be. d.mu is held.
func (d *Draft) file() (*os.File, error) {
	if d.f != nil {
		return d.f, nil
	}
	if !d.created {
		err := d.create(0)
		return d.f, err
	}
	if err := d.h.c.injected("open"); err != nil {
		return nil, err
	}
	f, err := blocking.File(d.h.c.root.OpenFile(d.temp, os.O_RDWR, 0))
	if err != nil {
		return nil, err
	}
	d.f = f
	return f, nil
}

// Write writes behind what Write has written before.
func (d *Draft) Write(p []byte) (int, error) {
	n, err := d.WriteAt(p, d.pos)
	d.pos += int64(n)
	return n, err
}

// WriteAt writes at an offset. What goes past the size reserved waits for room.
func (d *Draft) WriteAt(p []byte, off int64) (int, error) {
	end := off + int64(len(p))
	d.mu.Lock()
	f, err := d.file()
	if err == nil && end > d.reserved {
		err = d.grow(d.h.ctx, end)
	}
	d.mu.Unlock()
	if err == nil {
		err = d.h.c.injected("write")
	}
	if err != nil {
		return 0, err
	}
	n, err := f.WriteAt(p, off)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rec.Wrote(p[:n], off)
	d.size = max(d.size, off+int64(n))
	return n, err
}

// Checked returns a reader of the draft, which must be complete. Its ReadAt returns [ErrCopy] where a
// block has other bytes than were written to it. It must be closed before the draft ends.
func (d *Draft) Checked() (blocksum.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.file()
	if err != nil {
		return nil, err
	}
	sums, err := d.rec.Sums(d.size, f)
	if err != nil {
		return nil, err
	}
	return sums.Check(noClose{f}), nil
}

// A noClose file is another's to close.
type noClose struct{ io.ReaderAt }

func (noClose) Close() error { return nil }

// ReadAt reads what was written, as the file has it now.
func (d *Draft) ReadAt(p []byte, off int64) (int, error) {
	d.mu.Lock()
	f, err := d.file()
	size := d.size
	d.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return io.NewSectionReader(f, 0, size).ReadAt(p, off)
}

// Size is where the last byte written ends.
func (d *Draft) Size() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.size
}
