package store

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// An s3Parts is one multipart upload:
//
//	POST   {endpoint}/BUCKET/KEY?uploads=                    begins an upload, which gets an id
//	PUT    {endpoint}/BUCKET/KEY?partNumber=N&uploadId=ID    a part, with its checksum
//	POST   {endpoint}/BUCKET/KEY?uploadId=ID                 makes the object of the parts
//	DELETE {endpoint}/BUCKET/KEY?uploadId=ID                 removes the parts
//
// The last POST sends the checksum of the whole object, computed from the checksums of the parts (joinCRC64), and
// the service compares it. With Content-MD5 (variant.md5only) the ETag is compared instead: the MD5 of the
// MD5s of the parts.
type s3Parts struct {
	s  *s3Store
	u  *Upload
	v  variant // with which the upload was started
	id string

	lost bool // a failed request to start may have started another upload, with an unknown id

	parts []s3Part
}

func (s *s3Store) putParts(ctx context.Context, u *Upload) (Object, error) {
	var parts []s3Part
	for off, size := int64(0), u.partSize(); off < u.Size; off += size {
		parts = append(parts, s3Part{off: off, n: min(size, u.Size-off)})
	}
	return u.begun(ctx, func() (Object, error) {
		for i, part := range parts {
			parts[i] = s3Part{off: part.off, n: part.n, sums: part.sums}
		}
		return (&s3Parts{s: s, u: u, parts: parts}).run(ctx)
	})
}

// run starts an upload, sends its parts and completes it. After an error it aborts the upload.
func (p *s3Parts) run(ctx context.Context) (Object, error) {
	if err := p.begin(ctx); err != nil {
		return Object{}, err
	}
	o, err := p.finish(ctx)
	if err == nil || p.lost {
		p.abortOthers(ctx)
	}
	if err == nil {
		return o, nil
	}
	if abort := p.abort(ctx); abort != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			e = &Error{URL: Redact(p.u.URL), Err: err}
		}
		left := *e
		left.Hint = strings.TrimPrefix(left.Hint+fmt.Sprintf("; the parts of upload %s stay: it could not be aborted", clean(p.id)), "; ")
		return Object{}, &left
	}
	return Object{}, err
}

func (p *s3Parts) finish(ctx context.Context) (Object, error) {
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p.u.stop = stop
	g, inner := errgroup.WithContext(inner)
	g.SetLimit(p.u.c.opts.connections())
	for i := range p.parts {
		g.Go(func() error { return p.send(inner, i) })
	}
	err := g.Wait()
	p.u.stop = nil
	if err != nil {
		if ctx.Err() != nil {
			return Object{}, context.Cause(ctx)
		}
		return Object{}, err
	}
	return p.complete(ctx)
}

func (p *s3Parts) begin(ctx context.Context) error {
	return p.u.try(ctx, false, func([]byte, int) error {
		err := p.s.withVariant(p.u, func(v variant) error {
			p.v = v
			return p.create(ctx)
		})
		if e, ok := errors.AsType[*Error](err); ok { // the service may have begun the upload all the same
			p.lost = p.lost || e.Status == 0 || e.Status/100 == 2 || e.Status >= 500 && e.Status != http.StatusServiceUnavailable
		}
		return err
	})
}

func (p *s3Parts) create(ctx context.Context) error {
	r := request{name: p.u.URL, method: http.MethodPost, query: url.Values{"uploads": {""}}, header: http.Header{}}
	if !p.v.md5only {
		r.header.Set("X-Amz-Checksum-Algorithm", "CRC64NVME")
		r.header.Set("X-Amz-Checksum-Type", "FULL_OBJECT")
	}
	resp, err := p.s.request(ctx, r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var begun struct {
		XMLName  xml.Name `xml:"InitiateMultipartUploadResult"`
		UploadID string   `xml:"UploadId"`
	}
	if err := decode(ctx, p.u.URL, resp, maxAnswer, into(xml.Unmarshal, &begun)); err != nil {
		return err
	}
	if p.id = begun.UploadID; p.id == "" {
		return noETag(p.u.URL, resp)
	}
	if !strings.EqualFold(resp.Header.Get("X-Amz-Checksum-Algorithm"), "CRC64NVME") && !p.v.md5only {
		p.s.md5only.Store(true)
		p.v.md5only = true
	}
	return nil
}

// send sends part i, with retries.
func (p *s3Parts) send(ctx context.Context, i int) error {
	part := &p.parts[i]
	part.query = url.Values{"partNumber": {strconv.Itoa(i + 1)}, "uploadId": {p.id}}
	err := p.u.try(ctx, true, func(buf []byte, attempt int) error {
		return p.s.withVariant(p.u, func(v variant) error {
			v.md5only = p.v.md5only
			err := part.hash(p.u, v, buf)
			if err == nil {
				_, err = part.send(ctx, p.s, p.u, v, attempt)
			}
			return err
		})
	})
	if errors.Is(err, errNoUpload) {
		return startOver(err)
	}
	if err == nil {
		p.u.taken(part.n)
	}
	return err
}

// abort removes the parts of the upload. A part that the service was still receiving may appear after the first
// request, so abort repeats it, up to 3 times, until the service no longer has the upload.
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

// abortOthers aborts the other uploads of the object: those of killed processes, and those whose id was lost with a
// reply. Another process that is sending the same object starts over. Errors are ignored, for example if the user may
// not list uploads: Pending lists what remains.
func (p *s3Parts) abortOthers(ctx context.Context) {
	if p.s.noUploads.Load() {
		return
	}
	err := p.u.clean(ctx, func(ctx context.Context) error {
		items, _, err := p.s.list(ctx, p.u.URL, "", true)
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
