package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// An s3Store reads s3://bucket/key, of Amazon or of any service that speaks its protocol.
//
// The key is taken letter for letter: there is no ?versionId=. The version of an object is
// its ETag, which every request for bytes names in If-Match; lists, stat and replies give the
// same one, as they would not with the ids of a bucket that keeps versions. An ETag is not
// taken for an MD5, which it often is not. The checksum is the one that the service keeps of
// the whole object (x-amz-checksum-type: FULL_OBJECT), where it keeps one.
type s3Store struct {
	config s3Config
	creds  *s3Creds // nil: anonymous
	shared *credentials.Credentials
	client *http.Client
	// dualstack names Amazon's endpoints that have IPv6 as well: AWS_USE_DUALSTACK_ENDPOINT.
	dualstack bool
	page      int // keys to a page of a list; 0: as many as the service gives

	mu    sync.Mutex
	cores map[string]*minio.Core // by region; "" asks for that of each bucket
	found map[string]string      // regions of buckets that the service has told in an error
}

func newS3(opts Options, hc *http.Client) (store, error) {
	s, err := newS3Store(opts, hc)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func newS3Store(opts Options, hc *http.Client) (*s3Store, error) {
	config, err := readS3Config(opts)
	if err != nil {
		return nil, err
	}
	s := &s3Store{config: config, client: hc, cores: map[string]*minio.Core{}, found: map[string]string{}}
	s.dualstack = opts.flagEnv("AWS_USE_DUALSTACK_ENDPOINT")
	if opts.Anonymous {
		s.shared = credentials.NewStatic("", "", "", credentials.SignatureAnonymous)
	} else {
		s.creds = newS3Creds(opts, config.profile, hc)
		s.shared = credentials.New(s.creds)
	}
	if _, err := s.core(config.region); err != nil {
		return nil, err
	}
	return s, nil
}

// core is the client of a region. All share the credentials.
func (s *s3Store) core(region string) (*minio.Core, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.cores[region]; c != nil {
		return c, nil
	}
	lookup := minio.BucketLookupDNS
	if s.config.pathStyle {
		lookup = minio.BucketLookupPath
	} else if s.config.amazon {
		lookup = minio.BucketLookupAuto // by path, where the certificate does not cover a bucket's dots
	}
	c, err := minio.NewCore(s.config.host, &minio.Options{
		Creds:        s.shared,
		Secure:       s.config.secure,
		Transport:    s3Wire{s.client.Transport},
		Region:       region,
		BucketLookup: lookup,
		MaxRetries:   1, // the caller's retries know the object and the time left
	})
	if err != nil {
		return nil, &Error{Kind: ErrSetting, Err: fmt.Errorf("endpoint %s: %s", s.config.host, said(err.Error())),
			Hint: "as in https://host:port; see --s3-endpoint, AWS_ENDPOINT_URL_S3"}
	}
	// minio-go's own choice, the names of both protocols, is not what firewalls let through.
	c.SetS3EnableDualstack(s.dualstack)
	s.cores[region] = c
	return c, nil
}

// call makes a request of a bucket. Where the service says that the bucket is in another
// region, and nobody has named one, it is made once more there: that is a redirect.
func (s *s3Store) call(ctx context.Context, url, bucket string, seen *s3Seen, do func(context.Context, *minio.Core) error) error {
	s.mu.Lock()
	region := s.config.region
	if region == "" {
		region = s.found[bucket]
	}
	s.mu.Unlock()
	for moved := false; ; moved = true {
		core, err := s.core(region)
		if err != nil {
			return s.failure(ctx, url, err, seen)
		}
		if err = do(seen.in(ctx), core); err == nil {
			return nil
		}
		failure := s.failure(ctx, url, err, seen)
		right := regionTold(err)
		elsewhere := right != "" && right != region && (errors.Is(failure, ErrSetting) || errors.Is(failure, ErrDenied))
		if moved || s.config.region != "" || !elsewhere {
			return failure
		}
		region = right
		s.mu.Lock()
		s.found[bucket] = region
		s.mu.Unlock()
	}
}

func (s *s3Store) stat(ctx context.Context, url string) (Object, error) {
	bucket, key, bad := splitBucket(url, false)
	if bad != nil {
		return Object{}, bad
	}
	seen := &s3Seen{}
	err := s.call(ctx, url, bucket, seen, func(ctx context.Context, c *minio.Core) error {
		_, err := c.StatObject(ctx, bucket, key, minio.StatObjectOptions{Checksum: true})
		refused := seen.status/100 == 3 || seen.status/100 == 4 && seen.status != http.StatusTooManyRequests
		if err == nil || seen.err != nil || !refused {
			return err
		}
		// The reason comes in a body, which the answer to HEAD has none of: no such bucket, an
		// expired token and many others look alike. A byte of the object is refused for the same.
		return s.reason(ctx, c, bucket, key)
	})
	if err != nil {
		return Object{}, err
	}
	if page := s.page200(url, seen); page != nil {
		return Object{}, page
	}
	o := Object{URL: url, Size: -1, Version: s3Version(seen.header), Modified: lastModified(seen.header), Sum: s3Sum(seen.header)}
	if seen.status == http.StatusPartialContent { // to reason, which has come through
		if off, _, size, ok := contentRange(seen.header.Get("Content-Range")); ok && off >= 0 {
			o.Size = size
		}
	} else if size, ok := number(seen.header.Get("Content-Length")); ok {
		o.Size = size
	}
	return o, nil
}

// reason asks for the first byte of an object, for the error.
func (s *s3Store) reason(ctx context.Context, c *minio.Core, bucket, key string) error {
	opts := minio.GetObjectOptions{}
	opts.Set("Range", "bytes=0-0")
	body, _, _, err := c.GetObject(ctx, bucket, key, opts)
	if err == nil {
		body.Close()
	}
	return err
}

func (s *s3Store) get(ctx context.Context, o Object, off, n int64) (*reply, error) {
	bucket, key, bad := splitBucket(o.URL, false)
	if bad != nil {
		return nil, bad
	}
	if n == 0 {
		return &reply{Body: http.NoBody, Off: off, Size: o.Size, Version: o.Version}, nil
	}
	opts := minio.GetObjectOptions{}
	opts.Set("x-amz-checksum-mode", "ENABLED") // Checksum: true would check it as well, a second time
	if o.Version != "" {
		opts.Set("If-Match", `"`+o.Version+`"`)
	}
	if span := rangeOf(off, n); span != "" {
		opts.Set("Range", span)
	}
	var body io.ReadCloser
	seen := &s3Seen{object: true}
	err := s.call(ctx, o.URL, bucket, seen, func(ctx context.Context, c *minio.Core) (err error) {
		body, _, _, err = c.GetObject(ctx, bucket, key, opts)
		return err
	})
	if err != nil {
		return nil, err
	}
	r, problem := replyOf(o, body, seen.status, seen.header)
	if problem == nil {
		problem = s.page200(o.URL, seen)
	}
	if problem == nil {
		r.Version, r.Sum = s3Version(seen.header), s3Sum(seen.header)
		problem = sameVersion(o, r.Version)
	}
	if problem != nil {
		body.Close()
		return nil, problem
	}
	return r, nil
}

// page200 refuses what a proxy or a web site answers in place of the service. No service
// describes an object without an ETag.
func (s *s3Store) page200(url string, seen *s3Seen) error {
	if seen.header.Get("ETag") == "" && isHTML(seen.header) {
		return &Error{URL: Redact(url), Kind: ErrPage, Status: seen.status,
			Hint: fmt.Sprintf("is %s an S3 service? a proxy in between?", s.config.host)}
	}
	return nil
}

// s3Version is the ETag without its quotes, where it is strong.
func s3Version(h http.Header) string { return strong(h.Get("ETag")) }

func strong(etag string) string {
	if strings.HasPrefix(etag, "W/") {
		return ""
	}
	return strings.Trim(etag, `"`)
}

// s3Sum is the checksum of the whole object. Those of several parts (COMPOSITE) are
// checksums of checksums.
func s3Sum(h http.Header) Sum {
	if h.Get("X-Amz-Checksum-Type") != "FULL_OBJECT" {
		return Sum{}
	}
	given := map[string]string{}
	for _, kind := range []string{"crc64nvme", "crc32c", "crc32", "sha256", "sha1"} {
		given[kind] = h.Get("X-Amz-Checksum-" + kind)
	}
	return bestSum(given)
}

var _ store = (*s3Store)(nil)
