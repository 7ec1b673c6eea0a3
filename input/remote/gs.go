package remote

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A gsStore reads gs://bucket/object from Google Cloud Storage, by its JSON API:
//
//	GET {endpoint}/storage/v1/b/BUCKET/o/OBJECT              what it is
//	GET {endpoint}/storage/v1/b/BUCKET/o/OBJECT?alt=media    its bytes
//	GET {endpoint}/storage/v1/b/BUCKET/o?prefix=…&pageToken=…
//
// https://cloud.google.com/storage/docs/json_api/v1. The version of an object is its
// generation, which requests for bytes name in ifGenerationMatch. Its checksum is the CRC32C.
//
// An object that is stored compressed (contentEncoding: gzip) comes as it is stored, size
// and checksum with it: without Accept-Encoding: gzip the service would decompress it.
//
// STORAGE_EMULATOR_HOST names another endpoint, of an emulator, which is sent no credentials.
type gsStore struct {
	endpoint string // without a slash at its end
	client   *http.Client
	tokens   *gsTokens // nil: anonymous
	page     int       // names to a page of a list; 0: the service's 1000
}

const googleStorage = "https://storage.googleapis.com"

func newGS(opts Options, hc *http.Client) (store, error) {
	s := &gsStore{endpoint: googleStorage, client: hc}
	if host := opts.env("STORAGE_EMULATOR_HOST"); host != "" {
		if !strings.Contains(host, "://") {
			host = "http://" + host
		}
		u, err := url.Parse(host)
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
			return nil, &Error{Kind: ErrSetting, Err: errors.New("STORAGE_EMULATOR_HOST is not a host"), Hint: "as in 127.0.0.1:4443"}
		}
		s.endpoint = u.Scheme + "://" + u.Host
		return s, nil
	}
	if opts.Anonymous {
		return s, nil
	}
	var err error
	if s.tokens, err = findGSTokens(opts, hc); err != nil {
		return nil, err
	}
	return s, nil
}

// A gsObject is the part of https://cloud.google.com/storage/docs/json_api/v1/objects#resource
// that is asked for.
type gsObject struct {
	Name       string    `json:"name"`
	Size       string    `json:"size"`
	Generation string    `json:"generation"`
	Updated    time.Time `json:"updated"`
	CRC32C     string    `json:"crc32c"`  // base64 of four bytes, the first one highest
	MD5        string    `json:"md5Hash"` // base64; objects made of others have none
}

const gsFields = "name,size,generation,updated,crc32c,md5Hash"

func (g gsObject) object(url string) Object {
	o := Object{URL: url, Size: -1, Version: g.Generation, Modified: g.Updated}
	if n, err := strconv.ParseInt(g.Size, 10, 64); err == nil && n >= 0 {
		o.Size = n
	}
	o.Sum = bestSum(map[string]string{"crc32c": g.CRC32C, "md5": g.MD5})
	return o
}

func (s *gsStore) stat(ctx context.Context, name string) (Object, error) {
	bucket, object, bad := splitBucket(name, false)
	if bad != nil {
		return Object{}, bad
	}
	var found gsObject
	err := s.ask(ctx, name, s.address(bucket, object, url.Values{"fields": {gsFields}}), maxAnswer, &found)
	if err != nil {
		return Object{}, err
	}
	return found.object(name), nil
}

func (s *gsStore) get(ctx context.Context, o Object, off, n int64) (*reply, error) {
	bucket, object, bad := splitBucket(o.URL, false)
	if bad != nil {
		return nil, bad
	}
	if n == 0 {
		return &reply{Body: http.NoBody, Off: off, Size: o.Size, Version: o.Version}, nil
	}
	query := url.Values{"alt": {"media"}}
	if o.Version != "" {
		query.Set("ifGenerationMatch", o.Version)
	}
	resp, err := s.do(ctx, o.URL, s.address(bucket, object, query), http.Header{
		"Range": {rangeOf(off, n)}, "Accept-Encoding": {"gzip"},
	})
	if err != nil {
		return nil, err
	}
	r, err := replyOf(o, resp.Body, resp.StatusCode, resp.Header)
	if err == nil {
		r.Version = resp.Header.Get("X-Goog-Generation")
		r.Sum = gsSum(resp.Header)
		err = sameVersion(o, r.Version)
	}
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	return r, nil
}

// gsSum reads X-Goog-Hash: crc32c=…, md5=…, which are of the stored object in any case.
func gsSum(h http.Header) Sum {
	given := map[string]string{}
	for field := range strings.SplitSeq(strings.Join(h.Values("X-Goog-Hash"), ","), ",") {
		kind, value, _ := strings.Cut(strings.TrimSpace(field), "=")
		given[kind] = value
	}
	return bestSum(given)
}

func (s *gsStore) list(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return pages(prefix, prefix, func(names, token string) (items []item, next string, err error) {
		query := url.Values{"prefix": {names}, "fields": {"nextPageToken,items(" + gsFields + ")"}}
		if s.page > 0 {
			query.Set("maxResults", strconv.Itoa(s.page))
		}
		if token != "" {
			query.Set("pageToken", token)
		}
		var page struct {
			Items []gsObject `json:"items"`
			Next  string     `json:"nextPageToken"`
		}
		bucket, _, _ := splitBucket(prefix, true)
		err = s.ask(ctx, prefix, s.address(bucket, "", query), maxPage, &page)
		for _, o := range page.Items {
			items = append(items, item{o.Name, o.object("")})
		}
		return items, page.Next, err
	})
}

// address is that of an object; of the list of the bucket, where object is "".
func (s *gsStore) address(bucket, object string, query url.Values) string {
	a := s.endpoint + "/storage/v1/b/" + url.PathEscape(bucket) + "/o"
	if object != "" {
		a += "/" + escapeAll(object)
	}
	return a + "?" + query.Encode()
}

// escapeAll escapes all that is not unreserved, the "." of a name that is nothing else
// included, which a path would lose.
func escapeAll(name string) string {
	if strings.Trim(name, ".") == "" {
		return strings.ReplaceAll(name, ".", "%2E")
	}
	return strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}

// ask decodes a JSON answer of at most most bytes.
func (s *gsStore) ask(ctx context.Context, name, address string, most int64, into any) error {
	resp, err := s.do(ctx, name, address, http.Header{})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return decode(ctx, name, resp, most, json.Unmarshal, into)
}

// do sends a request, and makes an error of a reply that is none of success.
func (s *gsStore) do(ctx context.Context, name, address string, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, &Error{URL: Redact(name), Kind: ErrURL}
	}
	for k, v := range header {
		if v[0] != "" {
			req.Header[k] = v
		}
	}
	if s.tokens != nil {
		token, err := s.tokens.get(ctx, name)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, unreached(ctx, name, err)
	}
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusPartialContent {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, s.refused(name, resp)
}
