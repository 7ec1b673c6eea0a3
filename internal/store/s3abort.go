package store

import (
	"context"
	"encoding/xml"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// abort removes the parts of the upload. A part that the service was still taking may appear after the first
// request: it is repeated until the service knows nothing of the upload, or a few times.
func (p *s3Parts) abort(ctx context.Context) error {
	const most, wait = 3, 100 * time.Millisecond
	for i := 1; ; i++ {
		gone := false
		err := p.u.clean(ctx, func(ctx context.Context) (err error) {
			gone, err = p.s.abort(ctx, Object{URL: p.u.URL, Upload: p.id})
			return err
		})
		if err != nil || gone || i == most {
			return err
		}
		time.Sleep(wait)
	}
}

// mayHaveBegun reports whether a service may have begun an upload, in spite of the error.
func mayHaveBegun(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && (e.Status == 0 || e.Status/100 == 2 || e.Status >= 500 && e.Status != http.StatusServiceUnavailable)
}

// abortOthers aborts the other uploads of the object: of processes that were killed, and those of which the id was
// lost with a reply. A process that sends the same object at the same time begins again. An error is ignored, such as
// that of a user who may not list uploads: Pending lists what stays.
func (p *s3Parts) abortOthers(ctx context.Context) {
	if p.s.noUploads.Load() {
		return
	}
	err := p.u.clean(ctx, func(ctx context.Context) error {
		items, _, err := p.s.uploads(ctx, p.u.URL, "")
		for _, other := range items {
			if err == nil && other.URL == p.u.URL && other.Upload != p.id {
				err = p.s.remove(ctx, other)
			}
		}
		return err
	})
	if errors.Is(err, ErrDenied) {
		p.s.noUploads.Store(true)
	}
}

// abort makes one attempt to remove the parts of an upload. An upload that has ended is not an error. gone: the
// service knows of no such upload.
func (s *s3Store) abort(ctx context.Context, o Object) (gone bool, err error) {
	resp, err := s.request(ctx, request{name: o.URL, method: http.MethodDelete, query: url.Values{"uploadId": {o.Upload}}, header: http.Header{}})
	if errors.Is(err, errNoUpload) || errors.Is(err, ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	resp.Body.Close()
	return false, nil
}

// uploads sends GET {endpoint}/BUCKET?uploads=&prefix=…; a token is the two markers of the service.
func (s *s3Store) uploads(ctx context.Context, prefix, token string) (items []Object, next string, err error) {
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
		items = append(items, Object{URL: "s3://" + bucket + "/" + plain(u.Key), Size: -1, Modified: u.Initiated, Upload: u.UploadID})
	}
	if page.More {
		next = plain(page.NextKey) + "\n" + page.NextID
	}
	if err != nil {
		return nil, "", noList(prefix, errors.New("a key of the list is not encoded as it says"))
	}
	return items, next, nil
}
