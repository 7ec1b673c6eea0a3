package store

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A gsStore reads and writes gs://bucket/object of Google Cloud Storage, by its JSON API:
//
//	GET {endpoint}/storage/v1/b/BUCKET/o/OBJECT              its size, generation and checksums
//	GET {endpoint}/storage/v1/b/BUCKET/o/OBJECT?alt=media    its bytes
//	GET {endpoint}/storage/v1/b/BUCKET/o?prefix=…&pageToken=…
//	POST, PUT, DELETE: see gsput.go
//
// https://cloud.google.com/storage/docs/json_api/v1. The version of an object is its
// generation; requests for bytes send it in ifGenerationMatch. The checksum is the CRC32C.
//
// An object that is stored compressed (contentEncoding: gzip) is fetched compressed: its size and checksum
// describe the compressed bytes. Without Accept-Encoding: gzip the service would decompress it.
//
// STORAGE_EMULATOR_HOST replaces the endpoint by an emulator, which gets no credentials.
type gsStore struct {
	endpoint string // without a trailing slash
	client   *http.Client
	tokens   *gsTokens // nil: anonymous
	pageSize int       // names per page of a list; 0: the service's 1000

	writing func() (*gsTokens, error) // returns tokens with the scope for writing, requested on first use
}

const googleStorage = "https://storage.googleapis.com"

func newGS(opts Options, hc *http.Client) (service, error) {
	s := &gsStore{endpoint: googleStorage, client: hc, writing: func() (*gsTokens, error) { return nil, nil }}
	if host := opts.env("STORAGE_EMULATOR_HOST"); host != "" {
		u, err := readEndpoint("STORAGE_EMULATOR_HOST", host, "http", "127.0.0.1:4443")
		if err != nil {
			return nil, err
		}
		s.endpoint = u.Scheme + "://" + u.Host
		return s, nil
	}
	if opts.Anonymous {
		return s, nil
	}
	var err error
	if s.tokens, err = findGSTokens(opts, hc, gsReading); err != nil {
		return nil, err
	}
	s.writing = sync.OnceValues(func() (*gsTokens, error) { return findGSTokens(opts, hc, gsWriting) })
	return s, nil
}

// A gsObject has the requested fields of https://cloud.google.com/storage/docs/json_api/v1/objects#resource.
type gsObject struct {
	Name       string    `json:"name"`
	Size       string    `json:"size"`
	Generation string    `json:"generation"`
	Updated    time.Time `json:"updated"`
	CRC32C     string    `json:"crc32c"`  // base64, big endian
	MD5        string    `json:"md5Hash"` // base64; "" for an object composed of others
}

const gsFields = "name,size,generation,updated,crc32c,md5Hash"

func (g gsObject) object(url string) Object {
	o := Object{URL: url, Size: -1, Version: g.Generation, Modified: g.Updated}
	if n, ok := number(g.Size); ok {
		o.Size = n
	}
	o.Sum = bestSum(map[string]string{"crc32c": g.CRC32C, "md5": g.MD5})
	return o
}

func (s *gsStore) stat(ctx context.Context, name string) (Object, error) {
	var found gsObject
	resp, err := s.do(ctx, request{name: name, method: http.MethodGet, query: url.Values{"fields": {gsFields}}})
	if err != nil {
		return Object{}, err
	}
	defer resp.Body.Close()
	if err := decode(ctx, name, resp, maxAnswer, into(json.Unmarshal, &found)); err != nil {
		return Object{}, err
	}
	return found.object(name), nil
}

func (s *gsStore) open(ctx context.Context, o Object, off, n int64) (*reply, error) {
	query := url.Values{"alt": {"media"}}
	if o.Version != "" {
		query.Set("ifGenerationMatch", o.Version)
	}
	header := http.Header{"Accept-Encoding": {"gzip"}}
	setRange(header, off, n)
	resp, err := s.do(ctx, request{name: o.URL, method: http.MethodGet, query: query, header: header})
	if err != nil {
		return nil, err
	}
	return replyOf(o, resp, resp.Header.Get("X-Goog-Generation"), gsSum(resp.Header))
}

// gsSum parses X-Goog-Hash: crc32c=…, md5=…. It describes the whole stored object, also in replies to ranges.
func gsSum(h http.Header) Sum {
	given := map[string]string{}
	digests(given, h.Values("X-Goog-Hash"))
	return bestSum(given)
}

func (s *gsStore) list(ctx context.Context, prefix, token string, uploads bool) (page []Object, next string, err error) {
	if uploads { // sessions expire by themselves and cost nothing
		return nil, "", nil
	}
	query := url.Values{"fields": {"nextPageToken,items(" + gsFields + ")"}}
	if s.pageSize > 0 {
		query.Set("maxResults", strconv.Itoa(s.pageSize))
	}
	if token != "" {
		query.Set("pageToken", token)
	}
	var answer struct {
		Items []gsObject `json:"items"`
		Next  string     `json:"nextPageToken"`
	}
	resp, err := s.do(ctx, request{name: prefix, list: true, method: http.MethodGet, query: query})
	if e, ok := errors.AsType[*Error](err); ok && e.Kind == ErrNotFound { // an emulator's reply has no reason
		e.Err = errors.New("there is no such bucket")
	}
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	err = decode(ctx, prefix, resp, maxPage, into(json.Unmarshal, &answer))
	for _, o := range answer.Items {
		page = append(page, o.object(listed(prefix, o.Name)))
	}
	return page, answer.Next, err
}

// escapeAll escapes all characters but the unreserved ones. In a name of dots alone it escapes the dots,
// which would otherwise be resolved as a path.
func escapeAll(name string) string {
	if strings.Trim(name, ".") == "" {
		return strings.ReplaceAll(name, ".", "%2E")
	}
	return strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}

// do sends a request. also are statuses of success besides 200 and 201 of a request that writes; for such a
// request do follows no redirects.
func (s *gsStore) do(ctx context.Context, r request, also ...int) (*http.Response, error) {
	bucket, object, bad := splitBucket(r.name, r.list)
	if bad != nil {
		return nil, bad
	}
	if r.address == "" {
		r.address = s.endpoint + "/storage/v1/b/" + url.PathEscape(bucket) + "/o"
		if r.list {
			r.query.Set("prefix", object)
		} else {
			r.address += "/" + escapeAll(object)
		}
		r.address += "?" + r.query.Encode()
	}
	tokens, client, accept := s.tokens, s.client, read
	writes := r.method != http.MethodGet
	var err error
	if writes {
		client, accept = noRedirects(client), append(also, http.StatusOK, http.StatusCreated)
		tokens, err = s.writing()
	}
	if err == nil {
		err = tokens.authorize(ctx, &r)
	}
	if err != nil {
		return nil, placed(r.name, err)
	}
	resp, err := r.send(ctx, client)
	if err != nil || slices.Contains(accept, resp.StatusCode) {
		return resp, err
	}
	defer resp.Body.Close()
	e := s.refused(r.name, resp)
	if writes {
		e.gsWriteError(tokens != nil)
	}
	return nil, e
}

const hintGoogle = "run gcloud auth application-default login, or name a key in GOOGLE_APPLICATION_CREDENTIALS"

func (s *gsStore) refused(name string, resp *http.Response) *Error {
	e := statusError(name, resp)
	text := gsText(resp)
	if text != "" {
		e.Err = errors.New(text)
	}
	switch {
	case resp.StatusCode == http.StatusNotFound && strings.Contains(text, "bucket"):
		e.Err = errors.New("there is no such bucket")
	case resp.StatusCode == http.StatusNotFound:
		e.Err = errors.New("the bucket holds no such object")
	case resp.StatusCode == http.StatusPreconditionFailed:
		e.Err = errors.New("it has another generation")
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		e.Err = errors.New("it is shorter")
	case e.Kind == ErrDenied && s.tokens == nil:
		e.Hint = hintGoogle
	case resp.StatusCode == http.StatusUnauthorized:
		e.Hint = hintGoogle
	case e.Kind == ErrDenied:
		e.Hint = "reading needs storage.objects.get, patterns need storage.objects.list; " + hintAnonymous
	case strings.Contains(text, "requester pays"):
		e.Kind, e.Hint = ErrDenied, "buckets for which the requester pays are not supported"
	}
	return e
}

// gsText returns the message of an error: {"error":{"message":…}}, or, in replies to requests for bytes, one
// line of text of any Content-Type; "" for an HTML page.
func gsText(resp *http.Response) string {
	body := errorBody(resp)
	var answer struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) == nil {
		return serviceText(answer.Error.Message)
	}
	if text := strings.TrimSpace(string(body)); !strings.ContainsAny(text, "<\n") {
		return serviceText(text)
	}
	return ""
}
