package cache

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/files"
)

// Commit completes the written file and renames it. The lease then covers the copy. If another process has
// already committed the same copy, the lease covers that copy.
func (l *Lease) Commit() (*Copy, error) {
	sums, err := l.finish()
	if err != nil {
		return nil, err
	}
	c, e := l.c, &entry{key: l.key, size: sums.Size(), sum: sums.Sum64(), once: l.once}
	e.name = stagedName(e.key, e.size, e.sum, e.once)
	var fi fs.FileInfo
	// The account is locked because a process that lists the directory during the rename could see neither name.
	err = c.accounted(l.ctx, func() error {
		if err := c.use(e.name); err != nil {
			return err
		}
		if fi, err = l.place(e, sums); err == nil {
			err = l.drop(l.name)
		}
		if err != nil {
			c.disuse(e.name)
			return err
		}
		l.name, l.copied = e.name, e
		return nil
	})
	if err != nil {
		return nil, err
	}
	return verified{fi, sums}.copy(l.Path()), nil
}

// finish truncates the file to the bytes written, and closes it.
func (l *Lease) finish() (*checksum.Sums, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, sums, err := l.sums()
	if err != nil {
		return nil, err
	}
	if err := l.resize(f, l.size); err != nil {
		return nil, err
	}
	if err := l.c.injected("close"); err != nil {
		return nil, err
	}
	l.f = nil
	return sums, f.Close()
}

// place renames the file. It does not replace an existing copy, which other processes may be
// reading: the lease then uses that copy, and readers compare it with the checksums computed here.
// The account must be locked.
func (l *Lease) place(e *entry, sums *checksum.Sums) (fi fs.FileInfo, err error) {
	c := l.c
	if e.info, err = c.root.Lstat(e.name); err == nil && e.whole() {
		return e.info, nil
	}
	if err := c.injected("rename"); err != nil {
		return nil, err
	}
	if fi, err = c.root.Lstat(l.name); err != nil {
		return nil, err
	}
	if fi.Size() != e.size || !trusted(fi) {
		return nil, fmt.Errorf("%w: the copy has %d bytes, not the %d written to it", ErrChanged, fi.Size(), e.size)
	}
	if err := c.root.Rename(l.name, e.name); err != nil {
		return nil, err
	}
	l.created = false
	c.intact[e.name] = verified{fi, sums}
	return fi, nil
}

// verified describes a copy that this cache has written or compared with its digest.
type verified struct {
	info fs.FileInfo // at that time
	sums *checksum.Sums
}

func (s verified) copy(path string) *Copy {
	return &Copy{Path: path, Size: s.info.Size(), ModTime: s.info.ModTime(), Sums: s.sums}
}

// same reports whether two states of a file have the same identity, size and modification time.
func same(before, now fs.FileInfo) bool {
	return os.SameFile(before, now) && before.Size() == now.Size() && before.ModTime().Equal(now.ModTime())
}

// check compares a copy with the digest in its name, unless this cache has already written or verified it.
// It removes a copy that differs. The caller must hold a lease on the copy.
func (c *Cache) check(ctx context.Context, e *entry) (verified, error) {
	f, err := files.Blocking(c.root.Open(e.name))
	if err != nil {
		return verified{}, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return verified{}, err
	}
	c.mu.Lock()
	known, ok := c.intact[e.name]
	c.mu.Unlock()
	if ok && same(known.info, fi) {
		return known, nil
	}
	if err := c.injected("check"); err != nil {
		return verified{}, err
	}
	sums, err := checksum.Of(ctx, f)
	if err != nil {
		return verified{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if sums.Size() == e.size && sums.Sum64() == e.sum && trusted(fi) {
		c.intact[e.name] = verified{fi, sums}
		return c.intact[e.name], nil
	}
	damaged := fmt.Errorf("%w: %s", ErrDamaged, e.name)
	if err := c.removeFile(e.name); err != nil { // its other users get errors, too
		return verified{}, fmt.Errorf("%w, and cannot be removed: %w", damaged, err)
	}
	return verified{}, damaged
}
