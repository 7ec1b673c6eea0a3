package cache

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/ffconvert/ffconvert/internal/blocking"
	"github.com/ffconvert/ffconvert/internal/blocksum"
)

// growth is the largest step by which a file of unknown size grows, bytes. Small steps list the
// directory often; the unused part of a large one is room that others lack.
const growth = 16 << 20

// A Writer writes one copy. [Writer.Commit] or [Writer.Discard] ends it. WriteAt and ReadAt may be
// called concurrently.
type Writer struct {
	l       *Lease
	key     string
	once    bool
	label   string
	temp    string // base name of its file
	created bool   // the file is there
	tree    bool   // it has a directory; c.mu guards it

	mu       sync.Mutex
	f        *os.File // nil: not open
	reserved int64    // bytes that its file is long
	size     int64    // where the last byte written ends
	rec      blocksum.Recorder
}

// newWriter returns a writer that has no file yet. c.mu is held.
func (l *Lease) newWriter(key string, once bool, label string) *Writer {
	w := &Writer{l: l, key: key, once: once, label: label, temp: key + "." + rand.Text() + tempSuffix}
	l.open[w], l.c.writing[key], l.c.writing[w.temp] = true, true, true
	return w
}

// Path returns the name of the file that is being written.
func (w *Writer) Path() string { return filepath.Join(w.l.c.dir, w.temp) }

// Beside returns a writer of another key in the same lease, with no room yet.
func (w *Writer) Beside(key string) *Writer {
	w.l.c.mu.Lock()
	defer w.l.c.mu.Unlock()
	return w.l.newWriter(key, w.once, w.label)
}

// create makes the file, n bytes long, and closes it until it is written to: a lease may have more
// writers than a process may have open files. The account is locked.
func (w *Writer) create(n int64) error {
	f, err := w.file()
	if err != nil {
		return err
	}
	w.f = nil
	return errors.Join(w.resize(f, n), f.Close())
}

func (w *Writer) resize(f *os.File, n int64) error {
	if n == w.reserved {
		return nil
	}
	if err := w.l.c.injected("truncate"); err != nil {
		return err
	}
	if err := f.Truncate(n); err != nil {
		return err
	}
	w.reserved = n
	return nil
}

// file opens the file, and creates it if need be. w.mu is held.
func (w *Writer) file() (*os.File, error) {
	if w.f != nil {
		return w.f, nil
	}
	c, flags, op := w.l.c, os.O_RDWR, "open"
	if !w.created {
		flags, op = os.O_RDWR|os.O_CREATE|os.O_EXCL, "create"
	}
	if err := c.injected(op); err != nil {
		return nil, err
	}
	if err := c.lock(w.temp); err != nil {
		return nil, err
	}
	f, err := blocking.File(c.root.OpenFile(w.temp, flags, 0o600))
	if err != nil {
		return nil, err
	}
	if !w.created {
		w.created = true
		setLabel(f, w.label)
	}
	w.f = f
	return f, nil
}

// sums returns the open file, and the checksums of the bytes written to it. w.mu is held.
func (w *Writer) sums() (*os.File, *blocksum.Sums, error) {
	f, err := w.file()
	if err != nil {
		return nil, nil, err
	}
	sums, err := w.rec.Sums(w.size, f)
	return f, sums, err
}

// grow makes the file as long as size at least. The account is locked, and w.mu held.
func (w *Writer) grow(size int64) error {
	c := w.l.c
	least := size - w.reserved
	if least <= 0 {
		return nil
	}
	n := max(least, min(w.reserved, growth))
	entries, err := c.scan()
	if err == nil {
		n, err = c.reserve(w.l, entries, least, n, 0)
	}
	if err != nil {
		return err
	}
	w.l.spare = max(0, w.l.spare-n)
	return w.resize(w.f, w.reserved+n)
}

// Await grows the reserved room to size bytes. While there is too little it waits for other leases of
// this process to be released. The error is a [Shortage] if no lease can be released, or if all of them
// wait for room.
func (w *Writer) Await(ctx context.Context, size int64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.file(); err != nil {
		return err
	}
	c := w.l.c
	for {
		var changed <-chan struct{} // nil: there is no need to wait, or no use
		err := c.accounted(ctx, func() error {
			err := w.grow(size)
			if w.l.stuck = errors.Is(err, ErrQuota) && c.others(w.l, true); w.l.stuck {
				c.wake() // a lease that waits may be the last one now
				changed = c.changed
			}
			return err
		})
		if changed == nil {
			return err
		}
		if err := wait(ctx, changed); err != nil {
			return err
		}
	}
}

// Write writes behind the last byte written.
func (w *Writer) Write(p []byte) (int, error) { return w.WriteAt(p, w.Size()) }

// WriteAt writes at an offset. Where that needs more room and there is none, nothing is written and
// the error is a [Shortage]; see [Writer.Await].
func (w *Writer) WriteAt(p []byte, off int64) (int, error) {
	end, c := off+int64(len(p)), w.l.c
	w.mu.Lock()
	f, err := w.file()
	if err == nil && end > w.reserved {
		err = c.accounted(w.l.ctx, func() error { return w.grow(end) })
	}
	w.mu.Unlock()
	if err == nil {
		err = c.injected("write")
	}
	if err != nil {
		return 0, err
	}
	n, err := f.WriteAt(p, off)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rec.Wrote(p[:n], off)
	w.size = max(w.size, off+int64(n))
	return n, err
}

// Checked returns a reader of the written bytes; nothing may be written after it. Its ReadAt returns
// [ErrCopy] where a block has other bytes than were written to it. It must be closed before the
// writer ends.
func (w *Writer) Checked() (blocksum.File, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, sums, err := w.sums()
	if err != nil {
		return nil, err
	}
	return sums.Check(noClose{f}), nil
}

// A noClose file is closed by its owner.
type noClose struct{ io.ReaderAt }

func (noClose) Close() error { return nil }

// ReadAt reads the written bytes without comparing them.
func (w *Writer) ReadAt(p []byte, off int64) (int, error) {
	w.mu.Lock()
	f, err := w.file()
	size := w.size
	w.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return io.NewSectionReader(f, 0, size).ReadAt(p, off)
}

// Size is where the last byte written ends.
func (w *Writer) Size() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.size
}
