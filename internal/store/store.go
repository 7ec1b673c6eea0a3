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
// All bytes are of the version that was found: every request names it, and an object that has another
// version by then is [ErrChanged], never a mixture. A failed request is repeated from the byte
// where it failed, after a wait that grows and that the service may prolong (Retry-After). Lengths
// are compared, and the checksum of the whole object if the service has one.
//
// s3: and gs: objects can be written and removed. The service compares a checksum of the bytes with what it
// has got; its reply is compared as well. An object is there whole or not at all.
//
// No error and no name from this package contains a password, a token or the signature of a URL.
package store

import (
	"context"
	"io"
	"iter"
	"time"
)

// A Store reads and writes objects by URL. A [Client] is the Store of services, a [Dir] that of local files. Its methods may be
// called concurrently, repeat a request whose failure may pass, and end soon after ctx does, with its cause.
type Store interface {
	// Stat looks at an object.
	Stat(ctx context.Context, url string) (Object, error)
	// List yields the objects with URLs that begin with prefix, in the order of their code points, each once. It
	// ends after the first error.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Pending yields the uploads that were begun below prefix, and neither completed nor removed.
	Pending(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Read reads len(p) bytes of o from off on, of its version.
	Read(ctx context.Context, o Object, p []byte, off int64) error
	// Fetch writes all bytes of o, of its version, into a file, and compares their checksum if there is one.
	// progress may be nil; it is called with numbers of bytes that have arrived, not concurrently for one object.
	Fetch(ctx context.Context, o Object, into File, progress func(n int64)) error
	// Put makes an object, whole or not at all.
	Put(ctx context.Context, u *Upload) (Object, error)
	// Remove removes an object, or the parts of an upload from Pending. One that is missing is not an error.
	Remove(ctx context.Context, o Object) error
}

// A service is one kind of service. Except for put, its methods make one attempt each; all may be called
// concurrently, return an [*Error] with Kind, Status, Again and After, and end soon after ctx does.
type service interface {
	// stat looks at an object.
	stat(ctx context.Context, url string) (Object, error)
	// list returns a page of the objects with URLs that begin with prefix, in the order of their code points:
	// the first page if token is "", else the one after the page that returned token. next is "" at the end.
	// With begun it lists uploads in parts that were neither completed nor aborted, in any order and maybe
	// also of other prefixes; each has an Upload. [ErrNoList] if the service has no lists of objects.
	list(ctx context.Context, prefix, token string, begun bool) (page []Object, next string, err error)
	// open requests n > 0 bytes of the object from off on (n < 0: to its end), of the version of o. If the
	// object has changed it returns [ErrChanged], or a reply of another version.
	open(ctx context.Context, o Object, off, n int64) (*reply, error)
	// put makes an object as [Client.Put] says. It makes its requests by u, which repeats them.
	put(ctx context.Context, u *Upload) (Object, error)
	// remove removes an object, or of an Upload its parts. That it is missing is not an error.
	remove(ctx context.Context, o Object) error
}

// An Object describes an object, from Stat or List.
type Object struct {
	URL      string    // as given
	Size     int64     // bytes; -1: not known
	Version  string    // ETag or generation, which changes with the bytes; "": not known
	Modified time.Time // zero: not known
	Sum      Sum       // of all its bytes; zero: not known

	// Upload is the id of an upload in parts that would make the object, begun at Modified. The service keeps
	// its parts, which cost, and which no list of objects shows. "": it is an object.
	Upload string

	whole bool   // the service gives no ranges of it
	key   string // set by stat for open; each service has its own meaning
}

// A Sum is a checksum of an object, from the service.
type Sum struct {
	Kind  string // "crc32", "crc32c", "crc64nvme", "md5", "sha1", "sha256", "xxhash"…; "": none
	Value string // lower-case hexadecimal digits
}

// A File receives an object. WriteAt and ReadAt may be called concurrently.
type File interface {
	io.WriterAt
	io.ReaderAt
}

// A reply answers one request for bytes. Body must be closed.
type reply struct {
	Body io.ReadCloser
	Off  int64 // of the first byte of Body in the object: 0 if the service has ignored the range
	N    int64 // announced bytes of Body; -1: not announced
	Size int64 // of the whole object; -1: not known

	Version string // of the object; "": not known
	Sum     Sum    // of the whole object; zero: not known
}
