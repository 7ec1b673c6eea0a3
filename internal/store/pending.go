package store

import (
	"context"
	"encoding/xml"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// A Pending is an upload in parts that was begun, and neither completed nor aborted: the service keeps its
// parts, which no list of objects shows, and which cost.
type Pending struct {
	URL   string // of the object that it would make
	ID    string
	Begun time.Time
}

// A pendings is a store that lists uploads in parts.
type pendings interface {
	// uploads lists a page of the uploads below a prefix, as page does.
	uploads(ctx context.Context, prefix, token string) (items []Pending, next string, err error)
	// abort makes one attempt. An upload that has ended is not an error.
	abort(ctx context.Context, name, id string) error
}

// Pending yields the uploads in parts of objects with URLs that begin with prefix. It ends after the
// first error. MinIO lists the uploads of one object alone: prefix must be its whole URL. It yields none where a service does not list them: sessions of Google Cloud Storage end
// by themselves, and hold nothing that costs.
func (c *Client) Pending(ctx context.Context, prefix string) iter.Seq2[Pending, error] {
	return func(yield func(Pending, error) bool) {
		if err := c.pending(ctx, prefix, yield); err != nil {
			yield(Pending{}, err)
		}
	}
}

func (c *Client) pending(ctx context.Context, prefix string, yield func(Pending, error) bool) error {
	w, err := c.writer(prefix)
	if err != nil {
		return err
	}
	s, ok := w.(pendings)
	if !ok {
		return nil
	}
	for token, pages := "", 0; ; pages++ {
		var items []Pending
		var next string
		err := c.retry(ctx, func() (err error) {
			items, next, err = s.uploads(ctx, prefix, token)
			return err
		})
		if err != nil {
			return err
		}
		for _, p := range items {
			if !strings.HasPrefix(p.URL, prefix) { // some services know no prefix
				continue
			}
			if !yield(p, nil) {
				return nil
			}
		}
		if next == "" {
			return nil
		}
		if next == token || pages > maxEmptyPages {
			return noList(prefix, errors.New("the list of uploads does not come to an end"))
		}
		token = next
	}
}

// Abort removes the parts of an upload. One that has ended by now is not an error. Parts that are being sent
// may stay: the process that sends them must have ended.
func (c *Client) Abort(ctx context.Context, p Pending) error {
	w, err := c.writer(p.URL)
	if err != nil {
		return err
	}
	s, ok := w.(pendings)
	if !ok {
		return nil
	}
	return c.retry(ctx, func() error { return s.abort(ctx, p.URL, p.ID) })
}

// uploads sends GET {endpoint}/BUCKET?uploads=&prefix=…; a token is the two markers of the service.
func (s *s3Store) uploads(ctx context.Context, prefix, token string) (items []Pending, next string, err error) {
	bucket, keys, bad := splitBucket(prefix, true)
	if bad != nil {
		return nil, "", bad
	}
	query := url.Values{"uploads": {""}, "encoding-type": {"url"}, "prefix": {keys}}
	if key, id, ok := strings.Cut(token, "\n"); ok {
		query.Set("key-marker", key)
		query.Set("upload-id-marker", id)
	}
	resp, err := s.do(ctx, prefix, http.MethodGet, query, http.Header{})
	if errors.Is(err, errNoUpload) { // so some services say that there are none
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	var page struct {
		XMLName  xml.Name `xml:"ListMultipartUploadsResult"`
		Encoding string   `xml:"EncodingType"`
		More     bool     `xml:"IsTruncated"`
		NextKey  string   `xml:"NextKeyMarker"`
		NextID   string   `xml:"NextUploadIdMarker"`
		Upload   []struct {
			Key       string
			UploadID  string `xml:"UploadId"`
			Initiated time.Time
		}
	}
	if err := decode(ctx, prefix, resp, maxPage, xml.Unmarshal, &page); err != nil {
		return nil, "", err
	}
	plain := func(key string) string {
		if page.Encoding == "url" && err == nil {
			key, err = url.QueryUnescape(key)
		}
		return key
	}
	for _, u := range page.Upload {
		items = append(items, Pending{URL: "s3://" + bucket + "/" + plain(u.Key), ID: u.UploadID, Begun: u.Initiated})
	}
	if page.More {
		next = plain(page.NextKey) + "\n" + page.NextID
	}
	if err != nil {
		return nil, "", noList(prefix, errors.New("a key of the list is not encoded as it says"))
	}
	return items, next, nil
}
