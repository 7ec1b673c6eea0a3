package cache

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/files"
)

// growth is the largest step in bytes by which a file of unknown size grows. Each step lists the directory; the
// unused part of a large step is room that other copies lack.
const growth = 16 << 20

// begin names the file without creating it. c.mu must be held.
func (l *Lease) begin() {
	l.name = l.key + "." + rand.Text() + tempSuffix
	l.c.users[l.name], l.c.writing[l.key] = 1, true
}

// Path returns the path of the leased file.
func (l *Lease) Path() string { return filepath.Join(l.c.dir, l.name) }

// Split returns a second lease, to write a copy with another key. It gets the part of the room of l that is not
// written to.
func (l *Lease) Split(key string) (*Lease, error) {
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

// create creates the file with n bytes, and closes it until the first write: a process may have more
// leases than open files. The account must be locked.
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

// file returns the open file, and opens or creates it if necessary. l.mu must be held.
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
	f, err := files.Blocking(c.root.OpenFile(l.name, flags, 0o600))
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

// sums returns the open file, and the checksums of the bytes written to it. l.mu must be held.
func (l *Lease) sums() (*os.File, *checksum.Sums, error) {
	f, err := l.file()
	if err != nil {
		return nil, nil, err
	}
	sums, err := l.rec.Sums(l.size, f)
	return f, sums, err
}

// grow extends the file to at least size bytes. The account must be locked and l.mu held.
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

// Write appends to the bytes written.
func (l *Lease) Write(p []byte) (int, error) { return l.WriteAt(p, l.Size()) }

// WriteAt writes at an offset. If that needs more room than there is, it writes nothing and
// returns [ErrQuota].
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

// Checked returns a reader of the written bytes. Nothing may be written after the call. ReadAt returns
// [checksum.ErrChanged] if a block has other bytes than were written to it. The reader must be closed before the
// lease ends.
func (l *Lease) Checked() (checksum.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, sums, err := l.sums()
	if err != nil {
		return nil, err
	}
	return sums.Check(noClose{f}), nil
}

// A noClose ignores Close: the lease closes the file.
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

// Size returns the end of the bytes written.
func (l *Lease) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}
