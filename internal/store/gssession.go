package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// A gsSession uploads an object in consecutive pieces (a resumable upload):
//
//	PUT    {session}   Content-Range: bytes 0-67108863/SIZE    308, Range: bytes=0-67108863: the bytes stored so far
//	PUT    {session}   Content-Range: bytes */SIZE             asks for the stored range without sending a piece
//	DELETE {session}
//
// The reply to the last piece describes the object. 404 or 410 means that the session has ended: the upload
// starts again with a new session. Sessions expire after a week.
//
// https://cloud.google.com/storage/docs/performing-resumable-uploads
type gsSession struct {
	s       *gsStore
	u       *Upload
	crc     uint32
	address string
	off     int64 // bytes that the service has
}

// gsPiece is the number of parts per request. The service stores multiples of 256 KiB.
const gsPiece = 4

func (s *gsStore) putSessions(ctx context.Context, u *Upload, crc uint32) (Object, error) {
	return u.begun(ctx, func() (Object, error) {
		p := &gsSession{s: s, u: u, crc: crc}
		if err := u.try(ctx, false, func([]byte, int) error { return p.begin(ctx) }); err != nil {
			return Object{}, err
		}
		o, err := p.send(ctx)
		if err != nil {
			u.clean(ctx, p.end) // ignore the error: an unfinished session is invisible and costs nothing
		}
		return o, err
	})
}

func (p *gsSession) begin(ctx context.Context) error {
	address, object, err := p.s.uploadURL(p.u, "resumable")
	if err != nil {
		return err
	}
	resource := gsResource(object, p.crc)
	resp, err := p.s.do(ctx, request{name: p.u.URL, method: http.MethodPost, address: address,
		header: http.Header{"Content-Type": {"application/json; charset=UTF-8"}, "X-Upload-Content-Type": {"application/octet-stream"},
			"X-Upload-Content-Length": {fmt.Sprint(p.u.Size)}},
		body: func() io.Reader { return bytes.NewReader(resource) }, size: int64(len(resource))})
	if err != nil {
		return err
	}
	resp.Body.Close()
	// Use the configured endpoint, whatever host Location names: the address of a session is a credential,
	// and requests to it carry the token.
	at, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || at.Query().Get("upload_id") == "" || !strings.HasPrefix(at.Path, "/") {
		if isHTML(resp) {
			return &Error{URL: Redact(p.u.URL), Kind: ErrPage, Status: resp.StatusCode, Hint: "a proxy in between?"}
		}
		return refuse(p.u.URL, resp, ErrUnavailable, "it does not say where to send the object: no Location").hint("is that Google's service?").again()
	}
	p.address = p.s.endpoint + at.EscapedPath() + "?" + at.RawQuery
	return nil
}

// send sends the object, piece by piece.
func (p *gsSession) send(ctx context.Context) (o Object, err error) {
	for {
		done := false
		err := p.u.try(ctx, true, func(_ []byte, attempt int) (err error) {
			from := p.off
			if attempt > 0 { // how much of the failed piece was stored?
				if o, done, err = p.piece(ctx, 0); err != nil || done || p.off > from {
					return err
				}
			}
			o, done, err = p.piece(ctx, min(p.u.partSize()*gsPiece, p.u.Size-p.off))
			return err
		})
		if err != nil || done {
			return o, err
		}
	}
}

// piece sends n bytes from p.off on, or with n = 0 only asks for the stored range. It advances p.off. done means
// that the object is complete.
func (p *gsSession) piece(ctx context.Context, n int64) (o Object, done bool, err error) {
	r := request{name: p.u.URL, method: http.MethodPut, address: p.address, header: http.Header{}}
	if r.header.Set("Content-Range", fmt.Sprintf("bytes */%d", p.u.Size)); n > 0 {
		off := p.off
		r.body, r.size = func() io.Reader { return p.u.body(off, n) }, n
		r.header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", off, off+n-1, p.u.Size))
	}
	resp, err := p.s.do(ctx, r, http.StatusPermanentRedirect)
	if e, ok := errors.AsType[*Error](err); ok && (e.Status == http.StatusNotFound || e.Status == http.StatusGone) {
		p.u.restart()
		if o, done = p.u.findEqual(ctx); done { // the session has completed the object, and that reply was lost
			return o, true, nil
		}
		ended := errors.New("it has ended the upload before it had all bytes")
		return Object{}, false, startOver(&Error{URL: e.URL, Kind: ErrUnavailable, Status: e.Status, Err: ended})
	}
	if err != nil {
		return Object{}, false, err
	}
	if resp.StatusCode != http.StatusPermanentRedirect {
		if o, err = p.s.made(ctx, p.u, resp, p.crc); errors.Is(err, ErrSum) {
			return Object{}, false, startOver(err)
		}
		if err == nil {
			p.u.taken(p.u.Size - p.off)
		}
		return o, err == nil, err
	}
	defer resp.Body.Close()
	has := int64(0)
	if v := resp.Header.Get("Range"); v != "" {
		last, ok := number(strings.TrimPrefix(v, "bytes=0-"))
		if has = last + 1; !ok || !strings.HasPrefix(v, "bytes=0-") {
			has = -1
		}
	}
	switch {
	case has < p.off, n > 0 && has > p.off+n, has > p.u.Size: // bytes are lost, or were sent by another process
		return Object{}, false, startOver(refuse(p.u.URL, resp, ErrLength, "it has %q of the bytes 0-%d", clean(resp.Header.Get("Range")), p.off+n-1).hint(lengthHint))
	case has == p.off && (n > 0 || has == p.u.Size):
		return Object{}, false, refuse(p.u.URL, resp, ErrUnavailable, "it takes nothing").again()
	}
	p.u.taken(has - p.off)
	p.off = has
	return Object{}, false, nil
}

// end makes one attempt to delete the session. Google's status of success is 499.
func (p *gsSession) end(ctx context.Context) error {
	const ended = 499
	resp, err := p.s.do(ctx, request{name: p.u.URL, method: http.MethodDelete, address: p.address}, ended, http.StatusNoContent, http.StatusNotFound, http.StatusGone)
	if err != nil {
		return err
	}
	resp.Body.Close()
	return nil
}
