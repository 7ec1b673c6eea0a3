package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"

	"github.com/ffconvert/ffconvert/aio"
)

// A file is an open shard of which the head was checked.
type file struct {
	table
	src    io.ReaderAt
	opts   Options
	sized  bool   // the caller knew its size
	crc    uint32 // of the header; computed for a legacy file
	mapped bool   // head is mapped

	once sync.Once // for load
	bad  error     // of load

	mu      sync.Mutex
	batches *aio.File // the same file for ReadBatch, past the page cache if possible; the first batch opens it
}

// openFile opens a shard: a regular file or a link to one. It checks the type of the file first,
// because opening a FIFO blocks.
func openFile(want FileInfo, opts Options) (f *file, err error) {
	info, err := os.Stat(want.Path)
	if err != nil {
		return nil, fmt.Errorf("open shard: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open shard %s: %w", want.Path, errNotRegular)
	}
	osf, err := os.Open(want.Path)
	if err != nil {
		return nil, fmt.Errorf("open shard: %w", err)
	}
	defer func() {
		if err != nil {
			osf.Close()
		}
	}()
	if info, err = osf.Stat(); err != nil { // the path may name another file since then
		return nil, fmt.Errorf("open shard: %w", err)
	}
	aio.ReadAhead(osf, false)
	defer aio.ReadAhead(osf, true)
	return newFile(osf, want, info.Size(), opts)
}

// newFile reads and checks the head and the first offset, or the whole header of a file that has no sample or is legacy.
// Of a file whose size is known the first offset is not read: the head is the one that the caller knows.
func newFile(src io.ReaderAt, want FileInfo, size int64, opts Options) (*file, error) {
	h := header{table: table{path: want.Path, size: size}, opts: opts}
	if err := h.readHead(src); err != nil {
		return nil, err
	}
	if bad := h.unlike(want); bad != nil {
		return nil, bad
	}
	f := &file{table: h.table, src: src, opts: opts, sized: want.Size != 0, crc: h.sum}
	if f.sized && f.sum != 0 && f.n > 0 {
		return f, nil
	}
	var first [offSize]byte
	if f.n > 0 {
		if err := f.readAt(src, first[:], offsetsOff(f.n), 0); err != nil {
			return nil, err
		}
	}
	if f.sum == 0 || f.n == 0 || parseOff(first[:]) != payloadOff(f.n) {
		if err := f.load(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// unlike returns an error if the file is not the one that want describes. Zeros in want are not compared.
func (t *table) unlike(want FileInfo) *FormatError {
	switch {
	case want.Size != 0 && t.size < want.Size:
		return t.fault(-1, t.size, truncated("%d bytes, %d by its manifest", t.size, want.Size))
	case want.Size != 0 && t.size != want.Size:
		return t.fault(-1, want.Size, fmt.Errorf("%w: %d bytes, %d by its manifest", ErrHeader, t.size, want.Size))
	case (want.Samples != 0 || want.HeaderCRC != 0) && (t.n != want.Samples || t.sum != want.HeaderCRC):
		return t.fault(-1, 0, fmt.Errorf("%w: %d samples with the header checksum %08x, by its manifest %d with %08x",
			ErrHeader, t.n, t.sum, want.Samples, want.HeaderCRC))
	}
	return nil
}

// load checks the rest of the header and maps it, once. It returns the same error each time.
func (f *file) load() error {
	f.once.Do(func() { f.bad = f.check() })
	return f.bad
}

// check checks the header, and the last sample unless the size is known, and maps the header. A header that cannot be
// mapped is read into memory.
func (f *file) check() (err error) {
	onDisk, isFile := f.src.(*os.File)
	if isFile {
		aio.ReadAhead(onDisk, false)
		defer aio.ReadAhead(onDisk, true)
	}
	h := header{table: table{path: f.path, size: f.size}, opts: f.opts, most: f.opts.maxSample()}
	if err := h.read(f.src, !f.sized); err != nil {
		return err
	}
	if h.n != f.n || h.sum != f.sum {
		return f.fault(-1, 0, ErrReplaced)
	}
	if f.sum == 0 { // newFile calls check: no other goroutine has f
		f.crc = h.crc
	}
	if isFile {
		f.head, err = aio.Map(onDisk, payloadOff(f.n))
		f.mapped = err == nil
	}
	if !f.mapped {
		f.head = make([]byte, payloadOff(f.n))
		return f.readAt(f.src, f.head, 0, -1)
	}
	return nil
}

// locate returns the extent of sample i. The first call checks the header.
func (f *file) locate(i int64) (e Extent, err error) {
	if err := f.load(); err != nil {
		return Extent{}, err
	}
	found := false
	guarded(func() { e, found = f.row(i) })
	if !found {
		if e, err = f.reread(i); err != nil {
			return Extent{}, err
		}
	}
	if bad := f.limit(i, e, f.opts.maxSample()); bad != nil {
		return Extent{}, bad
	}
	return e, nil
}

// guarded calls f, which ends early where a mapped file was cut: the access is a fault.
func guarded(f func()) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		if _, fault := p.(interface{ Addr() uintptr }); p != nil && !fault {
			panic(p)
		}
	}()
	f()
}

// row returns the extent of sample i after load. ok is false if the file was written to since then. It needs guarded.
func (f *file) row(i int64) (e Extent, ok bool) {
	e = f.extent(i)
	return e, parseSum(f.head) == f.sum && e.Off >= payloadOff(f.n) && 0 <= e.Size && e.Size <= f.size-e.Off
}

// reread returns the extent of sample i by reads, which have an error of their own for a file that was cut.
func (f *file) reread(i int64) (Extent, error) {
	h := header{table: table{path: f.path, size: f.size}, opts: f.opts}
	if err := h.readHead(f.src); err != nil {
		return Extent{}, err
	}
	if h.n != f.n || h.sum != f.sum {
		return Extent{}, f.fault(i, 0, ErrReplaced)
	}
	at, err := ReadExtents(f.src, f.info(), i, 1, nil)
	if err != nil {
		return Extent{}, err
	}
	return at[0], nil
}

// unchanged returns an error unless the path still names the open file, with the same size.
func (f *file) unchanged() error {
	src, ok := f.src.(*os.File)
	if !ok {
		return nil
	}
	was, err := src.Stat()
	if err != nil {
		return err
	}
	is, err := os.Stat(f.path)
	switch {
	case errors.Is(err, os.ErrNotExist), err == nil && !os.SameFile(was, is):
		return ErrReplaced
	case err != nil:
		return err
	case is.Size() != f.size:
		return fmt.Errorf("%w: it has %d bytes, it had %d", ErrReplaced, is.Size(), f.size)
	}
	return nil
}

func (f *file) close() error {
	f.once.Do(func() {})
	f.bad = os.ErrClosed
	err := f.closeBatches()
	if f.mapped {
		err = errors.Join(err, aio.Free(f.head))
	}
	if c, ok := f.src.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	return err
}
