// Package remote reads objects over the network, by URL: all bytes of an object, once,
// whatever breaks on the way.
//
//	client := remote.New(remote.Options{})
//	object, err := client.Stat(ctx, "s3://bucket/train-000000.tar")   // size and version, no bytes
//	err = client.Fetch(ctx, object, file, progress)                   // ranges in parallel, resumed, checked
//
// What a URL may be:
//
//	http://host/path https://host/path     ranges (RFC 9110, 14), ETag
//	s3://bucket/key                        S3, by minio-go
//	gs://bucket/key                        Google Cloud Storage, JSON API
//	ais://bucket/key                       AIStore, native object API at AIS_ENDPOINT
//
// An object is fetched as it was when it was found: every request names the version, and an
// object that has another one by then is [ErrChanged], never a mixture. What breaks is asked
// for again from the byte where it broke, after a wait that grows and that the service may
// prolong (Retry-After). Lengths are compared, and so is the checksum of the whole where the
// service gives one.
//
// No error, name or log of this package holds a password, a token or the signature of a URL.
package remote

import (
	"context"
	"io"
	"time"
)

// An Object is one object as it was found.
type Object struct {
	URL      string    // as named
	Size     int64     // bytes; -1 where the service does not say
	Version  string    // changes whenever the bytes may: ETag, generation; "" where the service gives none
	Modified time.Time // zero where the service does not say
	Sum      Sum       // of all its bytes; zero where the service gives none

	whole bool   // the service gives no ranges of it
	key   string // what Stat has learned and get needs; each store has its own meaning
}

// A Sum is a checksum of an object as a service gives it.
type Sum struct {
	Kind  string // "crc32", "crc32c", "crc64nvme", "md5", "sha1", "sha256", "xxhash"…; "": none
	Value string // lower-case hexadecimal digits
}

// A File is what an object is fetched into. WriteAt and ReadAt may be called concurrently.
type File interface {
	io.WriterAt
	io.ReaderAt
}

// A store is one kind of service. Its methods make one attempt each, may be called
// concurrently, and return an [*Error] whose Kind, Status, Again and After are filled in.
// They end soon after ctx does.
type store interface {
	// stat looks at an object.
	stat(ctx context.Context, url string) (Object, error)
	// page lists objects whose URLs begin with prefix: the first ones where token is "", else the ones
	// after the page that gave the token. next is the token of the page that follows, "" at the end. [ErrNoList] where the service has no lists.
	page(ctx context.Context, prefix, token string) (items []item, next string, err error)
	// get asks for n > 0 bytes of the object from off on (n < 0: to its end), as it was when
	// it was found: [ErrChanged], or a reply of another version, where it has changed.
	get(ctx context.Context, o Object, off, n int64) (*reply, error)
}

// An item is an object of a list under its name in the bucket. Its URL is left to [Client.List].
type item struct {
	name string
	Object
}

// A reply is the body that answers one request. Body must be closed.
type reply struct {
	Body io.ReadCloser
	Off  int64 // of the first byte of Body in the object: 0 where the service has ignored the range
	N    int64 // bytes of Body as announced; -1 where they are not
	Size int64 // of the whole object; -1 where it is not said
	// Version of the object that the bytes are of; "" where it is not said.
	Version string
	// Sum of the whole object, where this reply tells it and Stat did not.
	Sum Sum
}
