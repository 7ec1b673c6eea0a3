package store

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"github.com/minio/minio-go/v7/pkg/signer"
)

// An s3Store reads and writes s3://bucket/key of Amazon S3 or a compatible service:
//
//	HEAD, GET {endpoint}/BUCKET/KEY     or https://BUCKET.{host}/KEY
//	GET       {endpoint}/BUCKET?list-type=2&prefix=…&continuation-token=…
//	PUT, POST, DELETE: see s3put.go and s3parts.go
//
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html.
// minio-go signs requests and finds credentials.
//
// The key is literal; ?versionId= is a part of it. The version of an object is its ETag, which
// every request for bytes sends in If-Match: lists do not return version ids. An
// ETag is not compared as an MD5, since it often is not one. The checksum is the one that the service
// stores for the whole object (x-amz-checksum-type: FULL_OBJECT), if any.
type s3Store struct {
	config   s3Config
	creds    *credentials.Credentials // nil: anonymous
	client   *http.Client
	pageSize int // keys per page of a list; 0: the service decides

	mu    sync.Mutex
	found map[string]string // region by bucket, from errors of the service

	renewing sync.Mutex // one request at a time replaces expired credentials

	// What replies of the service have shown so far. The first three are the members of variant.
	md5only, signBody, noConditions atomic.Bool
	noUploads                       atomic.Bool // the user may not list uploads
	written                         atomic.Bool // the service has accepted a body
}

func newS3(opts Options, hc *http.Client) (service, error) {
	p, err := readProfile(opts)
	if err != nil {
		return nil, err
	}
	config, err := newS3Config(opts, p)
	if err != nil {
		return nil, err
	}
	s := &s3Store{config: config, client: noRedirects(hc), found: map[string]string{}}
	s.signBody.Store(!config.secure) // over http an attacker could change a body and its CRC
	if !opts.Anonymous {
		s.creds = credentials.New(newS3Creds(opts, p, hc))
	}
	return s, nil
}

func (s *s3Store) stat(ctx context.Context, name string) (Object, error) {
	resp, err := s.do(ctx, name, http.MethodHead, nil, http.Header{"X-Amz-Checksum-Mode": {"ENABLED"}})
	if e, ok := errors.AsType[*Error](err); ok && (e.Status/100 == 3 || e.Status/100 == 4) && e.Status != http.StatusTooManyRequests {
		// A reply to HEAD has no body, which would tell a missing bucket from an expired token and other
		// reasons. A GET request for one byte fails for the same reason, with a body.
		resp, err = s.do(ctx, name, http.MethodGet, nil, http.Header{"Range": {"bytes=0-0"}})
	}
	if err != nil {
		return Object{}, err
	}
	defer resp.Body.Close()
	h := resp.Header
	o := Object{URL: name, Size: resp.ContentLength, Version: strong(h.Get("ETag")), Modified: lastModified(h), Sum: s3Sum(h)}
	if _, _, size, ok := contentRange(h.Get("Content-Range")); ok && resp.StatusCode == http.StatusPartialContent {
		o.Size = size
	}
	return o, nil
}

func (s *s3Store) open(ctx context.Context, o Object, off, n int64) (*reply, error) {
	header := http.Header{"X-Amz-Checksum-Mode": {"ENABLED"}}
	if o.Version != "" {
		header.Set("If-Match", `"`+o.Version+`"`)
	}
	setRange(header, off, n)
	resp, err := s.do(ctx, o.URL, http.MethodGet, nil, header)
	if err != nil {
		return nil, err
	}
	return replyOf(o, resp, strong(resp.Header.Get("ETag")), s3Sum(resp.Header))
}

func (s *s3Store) list(ctx context.Context, prefix, token string, uploads bool) (page []Object, next string, err error) {
	_, keys, bad := splitBucket(prefix, true)
	if bad != nil {
		return nil, "", bad
	}
	query, root := url.Values{"encoding-type": {"url"}, "prefix": {keys}}, "ListBucketResult"
	if uploads { // token is the two markers of the service, separated by a line break
		query.Set("uploads", "")
		root = "ListMultipartUploadsResult"
		if key, id, ok := strings.Cut(token, "\n"); ok {
			query.Set("key-marker", key)
			query.Set("upload-id-marker", id)
		}
	} else {
		query.Set("list-type", "2")
		if token != "" {
			query.Set("continuation-token", token)
		}
		if s.pageSize > 0 {
			query.Set("max-keys", strconv.Itoa(s.pageSize))
		}
	}
	resp, err := s.do(ctx, prefix, http.MethodGet, query, nil)
	if uploads && errors.Is(err, errNoUpload) { // some services report an empty list like this
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	type entry struct {
		Key          string
		Size         int64
		ETag         string
		LastModified time.Time
		UploadID     string `xml:"UploadId"`
		Initiated    time.Time
	}
	var answer struct {
		XMLName  xml.Name
		Encoding string  `xml:"EncodingType"`
		More     bool    `xml:"IsTruncated"`
		Next     string  `xml:"NextContinuationToken"`
		NextKey  string  `xml:"NextKeyMarker"`
		NextID   string  `xml:"NextUploadIdMarker"`
		Contents []entry // objects
		Upload   []entry
	}
	unmarshal := func(text []byte) error {
		err := xml.Unmarshal(text, &answer)
		if have := answer.XMLName.Local; err == nil && have != root {
			err = fmt.Errorf("expected element type <%s> but have <%s>", root, have)
		}
		return err
	}
	if err := decode(ctx, prefix, resp, maxPage, unmarshal); err != nil {
		return nil, "", err
	}
	plain := func(key string) string {
		if answer.Encoding == "url" && err == nil { // XML cannot represent all characters of a key
			key, err = url.QueryUnescape(key)
		}
		return key
	}
	for _, c := range answer.Contents {
		page = append(page, Object{URL: listed(prefix, plain(c.Key)), Size: c.Size, Version: strong(c.ETag), Modified: c.LastModified})
	}
	for _, u := range answer.Upload {
		page = append(page, Object{URL: listed(prefix, plain(u.Key)), Size: -1, Modified: u.Initiated, Upload: u.UploadID})
	}
	if next = answer.Next; uploads && answer.More {
		next = plain(answer.NextKey) + "\n" + answer.NextID
	}
	switch {
	case err != nil:
		return nil, "", noList(prefix, errors.New("a key of the list is not encoded as it says"))
	case answer.More && next == "":
		return nil, "", noList(prefix, errors.New("the list says that there is more of it, and not where"))
	}
	return page, next, nil
}

// do calls request without a body, for an object or, with a query, for a list.
func (s *s3Store) do(ctx context.Context, name, method string, query url.Values, header http.Header) (*http.Response, error) {
	return s.request(ctx, request{name: name, method: method, query: query, list: query != nil, header: header})
}

// request sends a request. It returns a reply of success, whose body the caller must close, or an
// [*Error]. It sends the request a second time if the reply names another region and none is configured,
// and if the credentials have expired and can be renewed.
func (s *s3Store) request(ctx context.Context, r request) (*http.Response, error) {
	bucket, key, bad := splitBucket(r.name, r.list)
	if bad != nil {
		return nil, bad
	}
	if err := s3utils.CheckValidBucketName(bucket); err != nil {
		return nil, &Error{URL: Redact(r.name), Kind: ErrURL, Err: errors.New(serviceText(err.Error()))}
	}
	if r.list {
		key = ""
	}
	for moved, renewed := false, false; ; {
		s.mu.Lock()
		region := s.config.regionOf(s.found[bucket])
		s.mu.Unlock()
		r.address = s.config.address(region, bucket, key, r.query)
		resp, keys, err := s.send(ctx, r, region)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode/100 == 2 {
			if !r.list && isHTML(resp) && resp.Header.Get("ETag") == "" { // every S3 service sends an ETag for an object
				return nil, notService(r.name, resp, fmt.Sprintf("is %s an S3 service? a proxy in between?", s.config.host))
			}
			return resp, nil
		}
		refusal, right := s.refused(r.name, resp, region, []string{keys.SecretAccessKey, keys.SessionToken})
		resp.Body.Close()
		elsewhere := right != "" && (refusal.Kind == ErrSetting || refusal.Kind == ErrDenied)
		switch {
		case !renewed && slices.Contains(s3Expired, refusal.code) && s.renew(ctx, keys):
			renewed = true
		case !moved && s.config.region == "" && elsewhere:
			moved = true
			s.mu.Lock()
			s.found[bucket] = right
			s.mu.Unlock()
		default:
			return nil, refusal
		}
	}
}

// renew retrieves new credentials in place of old, which have expired. It reports whether they differ from old.
func (s *s3Store) renew(ctx context.Context, old credentials.Value) bool {
	s.renewing.Lock()
	defer s.renewing.Unlock()
	cc := &credentials.CredContext{Context: ctx}
	now, err := s.creds.GetWithContext(cc)
	if err == nil && now.AccessKeyID == old.AccessKeyID && now.SessionToken == old.SessionToken { // otherwise another request has renewed them
		s.creds.Expire()
		now, err = s.creds.GetWithContext(cc)
	}
	return err == nil && (now.AccessKeyID != old.AccessKeyID || now.SessionToken != old.SessionToken)
}

const (
	emptySHA256     = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	unsignedPayload = "UNSIGNED-PAYLOAD"
)

// send signs a request and sends it. It returns the keys, so that the caller can remove their secrets from the text
// of an error.
func (s *s3Store) send(ctx context.Context, r request, region string) (resp *http.Response, keys credentials.Value, err error) {
	if s.creds != nil {
		if keys, err = s.creds.GetWithContext(&credentials.CredContext{Context: ctx}); err != nil {
			return nil, keys, unreached(ctx, r.name, err)
		}
		payload := emptySHA256
		if r.body != nil {
			payload = cmp.Or(r.sha256, unsignedPayload)
		}
		r.sign = func(req *http.Request) *http.Request {
			req.Header.Set("X-Amz-Content-Sha256", payload)
			return signer.SignV4(*req, keys.AccessKeyID, keys.SecretAccessKey, keys.SessionToken, region)
		}
	}
	resp, err = r.send(ctx, s.client)
	if e, ok := errors.AsType[*Error](err); ok {
		if _, plain := errors.AsType[tls.RecordHeaderError](err); plain || errors.Is(err, http.ErrSchemeMismatch) {
			e.Kind, e.Again = ErrSetting, false
			e.Hint = fmt.Sprintf("the endpoint speaks http: name it http://%s", s.config.host)
		}
	}
	return resp, keys, err
}

// s3Sum returns the checksum of the whole object. It ignores a COMPOSITE checksum, which is computed from the
// checksums of parts.
func s3Sum(h http.Header) Sum {
	if h.Get("X-Amz-Checksum-Type") != "FULL_OBJECT" {
		return Sum{}
	}
	return bestSum(amazonSums(h))
}

// strong returns an ETag without its quotes; "" for a weak ETag.
func strong(etag string) string {
	if strings.HasPrefix(etag, "W/") {
		return ""
	}
	return strings.Trim(etag, `"`)
}
