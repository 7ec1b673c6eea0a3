// Package store reads and writes objects over the network, by URL, and repeats requests that fail.
//
//	client := store.New(store.Options{})
//	object, err := client.Stat(ctx, "s3://bucket/train-000000.tar")   // size and version, no bytes
//	err = client.Fetch(ctx, object, file, progress)                   // ranges in parallel, resumed, checked
//	object, err = client.Put(ctx, "s3://bucket/new", file, size, store.PutOptions{New: true}) // in parts, checked
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
	"time"
)

// An Object describes an object, from Stat or List.
type Object struct {
	URL      string    // as given
	Size     int64     // bytes; -1: not known
	Version  string    // ETag or generation, which changes with the bytes; "": not known
	Modified time.Time // zero: not known
	Sum      Sum       // of all its bytes; zero: not known

	whole bool   // the service gives no ranges of it
	key   string // set by Stat for get; each store has its own meaning
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

// A store is one kind of service. Its methods make one attempt each, may be called concurrently, and
// return an [*Error] with Kind, Status, Again and After. They end soon after ctx does.
type store interface {
	// stat looks at an object.
	stat(ctx context.Context, url string) (Object, error)
	// page lists objects with URLs that begin with prefix: the first ones if token is "", else the
	// ones after the page that returned token. next is the token for the page that follows, "" at the end.
	// [ErrNoList] if the service has no lists.
	page(ctx context.Context, prefix, token string) (items []item, next string, err error)
	// get requests n > 0 bytes of the object from off on (n < 0: to its end), of the version of o. If the
	// object has changed it returns [ErrChanged], or a reply of another version.
	get(ctx context.Context, o Object, off, n int64) (*reply, error)
}

// An item is an object of a list, by its name in the bucket. [Client.List] sets its URL.
type item struct {
	name string
	Object
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
