package transfer

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
)

// mostText caps a small file in bytes. The plan of ten million samples has 100 MiB.
const mostText = 1 << 30

// A site is the source or the destination of a copy: a directory or an object store.
type site struct {
	*store.Listing
	name string     // in messages
	dir  *store.Dir // nil: an object store
}

func isURL(name string) bool { return strings.Contains(name, "://") }

func objectStore(url string, client store.Store) site {
	base := bucket.Base(url)
	return site{store.NewListing(client, base), store.Redact(base), nil}
}

func directory(dir *store.Dir) site { return site{store.NewListing(dir, ""), dir.Root.Name(), dir} }

// differ returns ErrSame if from and to are the same place.
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

func openSource(from string, opts Options) (site, error) {
	if isURL(from) {
		return objectStore(from, opts.Bucket.Client), nil
	}
	dir, err := store.OpenDir(from)
	if err != nil {
		return site{}, err
	}
	return directory(dir), nil
}

func (s *site) close() error {
	if s.dir == nil {
		return nil
	}
	return s.dir.Root.Close()
}

// bucketExists returns an error if the bucket does not exist. It lists the bucket, because the reply to a request for an
// object does not tell a missing bucket from a missing object.
func (s *site) bucketExists(ctx context.Context) error {
	for _, err := range s.List(ctx, s.Base) {
		if errors.Is(err, store.ErrNotFound) {
			return err
		}
		break
	}
	return nil
}

// read reads a small file. The manifest has no checksum of some, so from an object store it reads until two replies in a
// row agree, or until the bytes match the checksum of the service: a reply may be wrong. See [store.IsMissing] for the
// error of a missing file.
func (s *site) read(ctx context.Context, name string) ([]byte, error) {
	before, sure, fault := s.readOnce(ctx, name)
	for range 3 {
		if sure || fault != nil && !store.IsMissing(fault) {
			break
		}
		text, now, err := s.readOnce(ctx, name)
		same := store.IsMissing(fault) && store.IsMissing(err) || fault == nil && err == nil && bytes.Equal(text, before)
		if before, sure, fault = text, now, err; same {
			break
		}
	}
	return before, fault
}

// readOnce reads a small file. sure means that the transport cannot have damaged it.
func (s *site) readOnce(ctx context.Context, name string) (text []byte, sure bool, err error) {
	at, err := store.StatTwice(ctx, s, s.Base+name) // the file may be optional
	if err == nil {
		text, err = s.readObject(ctx, at)
	}
	if err != nil {
		return nil, s.dir != nil, err
	}
	if h := at.Sum.NewHash(); h != nil {
		h.Write(text)
		sure = hex.EncodeToString(h.Sum(nil)) == at.Sum.Value
	}
	return text, sure || s.dir != nil, nil
}

// readObject reads a small file of at most mostText bytes.
func (s *site) readObject(ctx context.Context, at store.Object) ([]byte, error) {
	if at.Size < 0 || at.Size > mostText {
		return nil, &place.Error{Where: store.Redact(at.URL), Off: -1, Err: fmt.Errorf("more than %d bytes", int64(mostText)), Kind: place.Refused}
	}
	text := make([]byte, at.Size)
	return text, s.Read(ctx, at, text, 0)
}

// into copies a file of the site into an empty one. It returns ErrSource if the size differs from the manifest.
func (s *site) into(ctx context.Context, f *file, to store.File, progress func(n int64)) error {
	at, err := store.Find(ctx, s, s.Base+f.name)
	if err != nil {
		return err
	}
	if at.Size != f.bytes {
		return &place.Error{Where: s.name, Off: -1, Entry: f.name, Err: fmt.Errorf("%w: it has %d bytes, %d by the manifest", ErrSource, at.Size, f.bytes), Kind: place.Corrupt}
	}
	return s.Fetch(ctx, at, to, progress)
}

// hash returns the checksum of a file, of the kind of like; "" if it is unknown. For an object it returns the checksum of
// the service and reads no bytes.
func (s *site) hash(ctx context.Context, f *file, like store.Sum) (string, error) {
	at, err := store.Find(ctx, s, s.Base+f.name)
	if err != nil || s.dir == nil {
		if at.Sum.Kind != like.Kind {
			return "", err
		}
		return at.Sum.Value, err
	}
	h := like.NewHash()
	if h == nil {
		return "", nil
	}
	from, err := s.dir.Open(f.name)
	if err != nil {
		return "", err
	}
	defer from.Close()
	if err := store.CopyBlocks(ctx, h, from, at.Size, nil); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// local returns a file of the source for repeated reading. It downloads an object to the scratch. The caller must call
// done.
func (j *job) local(ctx context.Context, f *file) (from io.ReaderAt, done func(), err error) {
	if j.from.dir != nil {
		file, err := j.from.dir.Open(f.name)
		return file, func() { file.Close() }, err
	}
	file, done, err := j.unnamed(ctx, f.bytes)
	if err != nil {
		return nil, nil, err
	}
	if err := j.from.into(ctx, f, file, nil); err != nil {
		done()
		return nil, nil, err
	}
	return file, done, nil
}
