// Package store reads and writes objects of services, by URL, and repeats requests that fail.
//
//	client := store.New(store.Options{})
//	object, err := client.Stat(ctx, "s3://bucket/train-000000.tar")   // size and version, no bytes
//	err = client.Fetch(ctx, object, file, progress)                   // ranges in parallel, resumed, checked
//	object, err = client.Put(ctx, &store.Upload{URL: "s3://bucket/new", From: file, Size: size, New: true}) // in parts, checked
//
// What a URL may be:
//
//	http://host/path https://host/path     ranges (RFC 9110, 14), ETag
//	s3://bucket/key                        S3, by minio-go
//	gs://bucket/key                        Google Cloud Storage, JSON API
//	ais://bucket/key                       AIStore, native object API at AIS_ENDPOINT
//
// All fetched bytes are of the version that Stat has found: every request names it, and a changed object is
// [ErrChanged], never a mixture of versions. After a failure a request resumes at the first missing byte, after
// a wait that doubles and that the service may extend (Retry-After). Lengths
// are compared, and the checksum of the whole object if the service has one.
//
// s3: and gs: objects can be written and removed. The service compares the checksum in the request with the bytes
// it receives, and the client compares the checksum in the reply. An upload creates the whole object or nothing.
//
// No error and no name from this package contains a password, a token or the signature of a URL.
package store

import (
	"context"
	"io"
	"iter"
	"time"
)

// A Store reads and writes objects by URL: a [Client] over the network, a [Dir] in a local directory. Its methods may be
// called concurrently, retry temporary failures, and return soon after ctx is done, with its cause.
type Store interface {
	// Stat describes an object. It is [ErrNotFound] if there is none.
	Stat(ctx context.Context, url string) (Object, error)
	// List yields the objects with URLs that begin with prefix, in the order of their code points, each once. It
	// ends after the first error.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Pending yields the unfinished uploads with URLs that begin with prefix.
	Pending(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Read fills p with the bytes of o from off on, of the version of o.
	Read(ctx context.Context, o Object, p []byte, off int64) error
	// Fetch writes all bytes of the version of o into a file, and compares their checksum if o has one.
	// progress, which may be nil, is called with the number of bytes received, not concurrently for one object.
	Fetch(ctx context.Context, o Object, into File, progress func(n int64)) error
	// Put uploads an object. Other clients see the whole object or none.
	Put(ctx context.Context, u *Upload) (Object, error)
	// Remove removes an object, or the parts of an upload from Pending. A missing object is not an error.
	Remove(ctx context.Context, o Object) error
}

// A service implements one protocol. Its methods, except put, make one attempt each; all may be called
// concurrently, return an [*Error] with Kind, Status, Again and After, and return soon after ctx is done.
type service interface {
	// stat describes an object.
	stat(ctx context.Context, url string) (Object, error)
	// list returns a page of the objects with URLs that begin with prefix, in the order of their code points:
	// the first page if token is "", otherwise the page after the one that returned token as next. next is "" on
	// the last page. With uploads it lists unfinished uploads instead, in any order and maybe also of other
	// prefixes; each has an Upload. [ErrNoList] if the service has no lists of objects.
	list(ctx context.Context, prefix, token string, uploads bool) (page []Object, next string, err error)
	// open requests n > 0 bytes of the version of o from off on (n < 0: to its end). If the
	// object has changed it returns [ErrChanged], or a reply with another Version.
	open(ctx context.Context, o Object, off, n int64) (*reply, error)
	// put implements [Client.Put]. It retries requests by the methods of u.
	put(ctx context.Context, u *Upload) (Object, error)
	// remove removes an object, or the parts of an Upload. A missing object is not an error.
	remove(ctx context.Context, o Object) error
}

// An Object describes an object, from Stat or List.
type Object struct {
	URL      string    // as given
	Size     int64     // bytes; -1: not known
	Version  string    // ETag or generation; it changes with the bytes; "": not known
	Modified time.Time // zero: not known
	Sum      Sum       // of all its bytes; zero: not known

	// Upload is the id of an unfinished upload of the object, started at Modified. The service stores and bills
	// its parts, which List does not yield. "": this is an object.
	Upload string

	whole  bool   // the service supports no ranges of it
	unsure bool   // the service has not said whether it does
	key    string // Content-Encoding, set by httpStore.stat for open
}

// Ranges reports whether ranges of the object can be read, each of the same version.
func (o *Object) Ranges() bool { return o.Size >= 0 && !o.whole && !o.unsure && o.found() }

// A Sum is the checksum of an object, as the service has sent it.
type Sum struct {
	Kind  string // "crc32", "crc32c", "crc64nvme", "md5", "sha1", "sha256", "xxhash"…; "": none
	Value string // lower-case hexadecimal digits
}

// A File is the destination of Fetch. Fetch calls WriteAt and ReadAt concurrently.
type File interface {
	io.WriterAt
	io.ReaderAt
}

// A reply is the response to a request for bytes. Body must be closed.
type reply struct {
	Body io.ReadCloser
	Off  int64 // offset in the object of the first byte of Body: 0 if the service ignored the range
	N    int64 // announced bytes of Body; -1: not announced
	Size int64 // of the whole object; -1: not known

	Version string // of the object; "": not known
	Sum     Sum    // of the whole object; zero: not known
}
