package transfer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/semaphore"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/internal/blocking"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
)

// mostText bounds a small file: of ten million samples a plan has 100 MiB.
const mostText = 1 << 30

func isURL(name string) bool { return strings.Contains(name, "://") }

func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, store.ErrNotFound)
}

// differ returns an error if both places are one.
func differ(from, to string) error {
	same := bucket.Base(from) == bucket.Base(to)
	if !isURL(from) && !isURL(to) {
		a, err := os.Stat(from)
		if err != nil {
			return err
		}
		b, err := os.Stat(to)
		same = err == nil && os.SameFile(a, b)
	}
	if same {
		return fmt.Errorf("%s: %w", store.Redact(to), ErrSame)
	}
	return nil
}

func openSource(from string, opts Options) (source, error) {
	if isURL(from) {
		size := cmp.Or(opts.Bucket.Size, bucket.DefaultSize)
		return &objects{url: bucket.Base(from), client: opts.Bucket.Client, scratch: opts.Bucket.Scratch, size: size, room: semaphore.NewWeighted(size)}, nil
	}
	root, err := os.OpenRoot(from)
	if err != nil {
		return nil, placed(from, err)
	}
	return &directory{root}, nil
}

// placed places an error about a path. A file that does not exist is the input's fault, and not the system's.
func placed(path string, err error) error {
	e := place.IOError(path, err)
	if errors.Is(err, fs.ErrNotExist) {
		e.Kind = place.None
	}
	return e
}

// A directory is a dataset in one.
type directory struct{ root *os.Root }

func (d *directory) name() string { return d.root.Name() }
func (d *directory) close() error { return d.root.Close() }

// open opens a regular file. A link in its place is refused.
func (d *directory) open(name string) (*os.File, int64, error) {
	st, err := d.root.Lstat(name)
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, 0, placed(filepath.Join(d.root.Name(), name), err)
	}
	f, err := blocking.File(d.root.OpenFile(name, os.O_RDONLY, 0))
	if err != nil {
		return nil, 0, err
	}
	return f, st.Size(), nil
}

func (d *directory) read(_ context.Context, name string) ([]byte, error) {
	f, size, err := d.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > mostText {
		return nil, tooLong(f.Name())
	}
	return io.ReadAll(io.LimitReader(f, size))
}

func tooLong(name string) error {
	return &place.Error{Where: name, Off: -1, Err: fmt.Errorf("more than %d bytes", int64(mostText)), Kind: place.Refused}
}

func (d *directory) into(ctx context.Context, name string, size int64, to store.File, progress func(n int64)) error {
	f, _, err := d.open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	buf := make([]byte, min(block, size))
	for off := int64(0); off < size; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p := buf[:min(int64(len(buf)), size-off)]
		if _, err := io.ReadFull(f, p); err != nil {
			return &place.Error{Where: filepath.Join(d.root.Name(), name), Off: off, Err: fmt.Errorf("%w: %w", ErrSource, err)}
		}
		if _, err := to.WriteAt(p, off); err != nil {
			return err
		}
		off += int64(len(p))
		progress(int64(len(p)))
	}
	return nil
}

func (d *directory) local(_ context.Context, name string, _ int64) (io.ReaderAt, func(), error) {
	f, _, err := d.open(name)
	if err != nil {
		return nil, nil, err
	}
	return f, func() { f.Close() }, nil
}

func (d *directory) hash(ctx context.Context, name string, like store.Sum) (string, error) {
	h := like.NewHash()
	if h == nil {
		return "", nil
	}
	f, size, err := d.open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	buf := make([]byte, block)
	for off := int64(0); off < size; off += block {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		n, err := io.ReadFull(f, buf[:min(block, size-off)])
		if h.Write(buf[:n]); err != nil {
			return "", &place.Error{Where: f.Name(), Off: off, Err: err}
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Objects are a dataset in an object store.
type objects struct {
	url     string // with a slash at its end
	client  store.Store
	scratch string
	size    int64 // of the scratch, bytes
	room    *semaphore.Weighted
}

func (o *objects) name() string { return store.Redact(o.url) }
func (o *objects) close() error { return nil }

// bucketThere returns an error if the bucket does not exist. It lists the bucket, because a request for one object is
// answered alike for a missing bucket and a missing object.
func (o *objects) bucketThere(ctx context.Context) error {
	for _, err := range o.client.List(ctx, o.url) {
		if errors.Is(err, store.ErrNotFound) {
			return err
		}
		break
	}
	return nil
}

// read reads a file until two times agree, or its bytes have the checksum that the service keeps: it may be one without a
// sum, and a reply wrong.
func (o *objects) read(ctx context.Context, name string) ([]byte, error) {
	before, sure, fault := o.readOnce(ctx, name)
	for range 3 {
		if sure || fault != nil && !isMissing(fault) {
			break
		}
		text, now, err := o.readOnce(ctx, name)
		same := isMissing(fault) && isMissing(err) || fault == nil && err == nil && bytes.Equal(text, before)
		if before, sure, fault = text, now, err; same {
			break
		}
	}
	return before, fault
}

// stat looks at a file that the manifest names.
func (o *objects) stat(ctx context.Context, name string) (store.Object, error) {
	return store.Find(ctx, o.client, o.url+name)
}

// readOnce reads a file. sure: its bytes have a checksum of the service.
func (o *objects) readOnce(ctx context.Context, name string) (text []byte, sure bool, err error) {
	at, err := o.client.Stat(ctx, o.url+name)
	if errors.Is(err, store.ErrNotFound) { // one reply may be wrong; a dataset may do without it
		at, err = o.client.Stat(ctx, o.url+name)
	}
	if err != nil {
		return nil, false, err
	}
	if text, err = readObject(ctx, o.client, at); err != nil {
		return nil, false, err
	}
	if h := at.Sum.NewHash(); h != nil {
		h.Write(text)
		sure = hex.EncodeToString(h.Sum(nil)) == at.Sum.Value
	}
	return text, sure, nil
}

// readObject reads a small object.
func readObject(ctx context.Context, client store.Store, at store.Object) ([]byte, error) {
	if at.Size < 0 || at.Size > mostText {
		return nil, tooLong(store.Redact(at.URL))
	}
	text := make([]byte, at.Size)
	return text, client.Read(ctx, at, text, 0)
}

func (o *objects) into(ctx context.Context, name string, size int64, to store.File, progress func(n int64)) error {
	at, err := o.stat(ctx, name)
	if err != nil {
		return err
	}
	if at.Size != size {
		return &place.Error{Where: store.Redact(o.url), Off: -1, Entry: name, Err: fmt.Errorf("%w: it has %d bytes, %d by the manifest", ErrSource, at.Size, size), Kind: place.Corrupt}
	}
	return o.client.Fetch(ctx, at, to, progress)
}

// local fetches the object into a file without a name, of which nothing is left after any end.
func (o *objects) local(ctx context.Context, name string, size int64) (io.ReaderAt, func(), error) {
	if size > o.size {
		return nil, nil, bucket.TooLarge(o.size, size)
	}
	dir, err := bucket.ScratchDir(o.scratch)
	if err != nil {
		return nil, nil, err
	}
	if err := o.room.Acquire(ctx, size); err != nil {
		return nil, nil, context.Cause(ctx)
	}
	f, err := dataset.Unnamed(dir)
	if err != nil {
		o.room.Release(size)
		return nil, nil, err
	}
	done := func() {
		f.Close()
		o.room.Release(size)
	}
	if err := o.into(ctx, name, size, f, func(int64) {}); err != nil {
		done()
		return nil, nil, err
	}
	return f, done, nil
}

// hash asks the service, and reads nothing.
func (o *objects) hash(ctx context.Context, name string, like store.Sum) (string, error) {
	at, err := o.stat(ctx, name)
	if err != nil || at.Sum.Kind != like.Kind {
		return "", err
	}
	return at.Sum.Value, nil
}
