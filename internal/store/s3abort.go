package store

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// abort removes the parts of the upload. A part that the service was still taking may appear after the first
// request: it is repeated until the service knows nothing of the upload, or a few times.
func (p *s3Parts) abort(ctx context.Context) error {
	const most, wait = 3, 100 * time.Millisecond
	for i := 1; ; i++ {
		gone := false
		err := p.u.clean(ctx, func(ctx context.Context) (err error) {
			gone, err = p.s.abortOnce(ctx, p.u.url, p.id)
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
		items, _, err := p.s.uploads(ctx, p.u.url, "")
		for _, other := range items {
			if err == nil && other.URL == p.u.url && other.ID != p.id {
				err = p.s.abort(ctx, other.URL, other.ID)
			}
		}
		return err
	})
	if errors.Is(err, ErrDenied) {
		p.s.noUploads.Store(true)
	}
}

// abort makes one attempt to remove the parts of an upload. An upload that has ended is not an error.
func (s *s3Store) abort(ctx context.Context, name, id string) error {
	_, err := s.abortOnce(ctx, name, id)
	return err
}

// abortOnce is abort. gone: the service knows of no such upload.
func (s *s3Store) abortOnce(ctx context.Context, name, id string) (gone bool, err error) {
	resp, err := s.request(ctx, s3Request{name: name, method: http.MethodDelete, query: url.Values{"uploadId": {id}}, header: http.Header{}})
	if errors.Is(err, errNoUpload) || errors.Is(err, ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	resp.Body.Close()
	return false, nil
}
