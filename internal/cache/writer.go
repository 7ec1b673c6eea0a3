package cache

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/internal/blocking"
	"github.com/ffconvert/ffconvert/internal/blocksum"
)

// growth is the largest step by which a file of unknown size grows, bytes. Small steps list the
// directory often; the unused part of a large one is room that others lack.
const growth = 16 << 20

// begin names the file, which is not created yet. c.mu is held.
func (l *Lease) begin() {
	l.name = l.key + "." + rand.Text() + tempSuffix
	l.c.users[l.name], l.c.writing[l.key] = 1, true
}

// Path returns the name of the leased file.
func (l *Lease) Path() string { return filepath.Join(l.c.dir, l.name) }

// Beside returns a lease to write a copy of another key as well, in the room that is reserved for l and
// not written to.
func (l *Lease) Beside(key string) (*Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := &Lease{c: l.c, ctx: l.ctx, key: key, once: l.once, label: l.label}
	return b, l.c.accounted(l.ctx, func() error {
		b.begin()
		spare := l.reserved - l.size
		if spare <= 0 {
			return nil
		}
		f, err := l.file()
		if err == nil {
			err = l.resize(f, l.size)
		}
		if err == nil {
			err = b.create(spare)
		}
		return err
	})
}

// create makes the file, n bytes long, and closes it until it is written to: a lease may have more
// writers than a process may have open files. The account is locked.
func (l *Lease) create(n int64) error {
	f, err := l.file()
	if err != nil {
		return err
	}
	l.f = nil
	return errors.Join(l.resize(f, n), f.Close())
}

func (l *Lease) resize(f *os.File, n int64) error {
	if n == l.reserved {
		return nil
	}
	if err := l.c.injected("truncate"); err != nil {
		return err
	}
	if err := f.Truncate(n); err != nil {
		return err
	}
	l.reserved = n
	return nil
}

// file opens the file, and creates it if need be. l.mu is held.
func (l *Lease) file() (*os.File, error) {
	if l.f != nil {
		return l.f, nil
	}
	c, flags, op := l.c, os.O_RDWR, "open"
	if !l.created {
		flags, op = os.O_RDWR|os.O_CREATE|os.O_EXCL, "create"
	}
	if err := c.injected(op); err != nil {
		return nil, err
	}
	if err := c.lock(l.name); err != nil {
		return nil, err
	}
	f, err := blocking.File(c.root.OpenFile(l.name, flags, 0o600))
	if err != nil {
		return nil, err
	}
	if !l.created {
		l.created = true
		setLabel(f, l.label)
	}
	l.f = f
	return f, nil
}

// sums returns the open file, and the checksums of the bytes written to it. l.mu is held.
func (l *Lease) sums() (*os.File, *blocksum.Sums, error) {
	f, err := l.file()
	if err != nil {
		return nil, nil, err
	}
	sums, err := l.rec.Sums(l.size, f)
	return f, sums, err
}

// grow makes the file as long as size at least. The account is locked, and l.mu held.
func (l *Lease) grow(size int64) error {
	c := l.c
	least := size - l.reserved
	if least <= 0 {
		return nil
	}
	n := max(least, min(l.reserved, growth))
	entries, err := c.scan()
	if err == nil {
		n, err = c.reserve(entries, least, n)
	}
	if err != nil {
		return err
	}
	return l.resize(l.f, l.reserved+n)
}

// Write writes behind the last byte written.
func (l *Lease) Write(p []byte) (int, error) { return l.WriteAt(p, l.Size()) }

// WriteAt writes at an offset. Where that needs more room and there is none, nothing is written and
// the error is [ErrQuota].
func (l *Lease) WriteAt(p []byte, off int64) (int, error) {
	end, c := off+int64(len(p)), l.c
	l.mu.Lock()
	f, err := l.file()
	if err == nil && end > l.reserved {
		err = c.accounted(l.ctx, func() error { return l.grow(end) })
	}
	l.mu.Unlock()
	if err == nil {
		err = c.injected("write")
	}
	if err != nil {
		return 0, err
	}
	n, err := f.WriteAt(p, off)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rec.Wrote(p[:n], off)
	l.size = max(l.size, off+int64(n))
	return n, err
}

// Checked returns a reader of the written bytes; nothing may be written after it. Its ReadAt returns
// [blocksum.ErrChanged] where a block has other bytes than were written to it. It must be closed before the
// lease ends.
func (l *Lease) Checked() (blocksum.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, sums, err := l.sums()
	if err != nil {
		return nil, err
	}
	return sums.Check(noClose{f}), nil
}

// A noClose file is closed by its owner.
type noClose struct{ io.ReaderAt }

func (noClose) Close() error { return nil }

// ReadAt reads the written bytes without comparing them.
func (l *Lease) ReadAt(p []byte, off int64) (int, error) {
	l.mu.Lock()
	f, err := l.file()
	size := l.size
	l.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return io.NewSectionReader(f, 0, size).ReadAt(p, off)
}

// Size is where the last byte written ends.
func (l *Lease) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}
