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

	"golang.org/x/sync/errgroup"
)

// An object of several parts:
//
//	POST   {endpoint}/BUCKET/KEY?uploads=                    begins an upload, which gets an id
//	PUT    {endpoint}/BUCKET/KEY?partNumber=N&uploadId=ID    a part, with its checksum
//	POST   {endpoint}/BUCKET/KEY?uploadId=ID                 makes the object of the parts
//	DELETE {endpoint}/BUCKET/KEY?uploadId=ID                 removes the parts
//
// The last POST has the checksum of the whole object, made of the checksums of the parts (joinCRC64), and
// the service compares it. A service that gets Content-MD5 with each part has an ETag instead: the MD5 of the
// MD5s of the parts.
type s3Parts struct {
	s  *s3Store
	u  *Upload
	m  manner // as the upload was begun
	id string

	lost bool // a request to begin may have begun another upload, whose id did not come

	parts []s3Part
}

type s3Part struct {
	off, n int64
	proof  *proof
	etag   string // with its quotes, as the service has sent it
	silent bool   // the service does not say that it has compared the CRC
}

func (s *s3Store) putParts(ctx context.Context, u *Upload) (Object, error) {
	var parts []s3Part
	for off, size := int64(0), u.partSize(); off < u.Size; off += size {
		parts = append(parts, s3Part{off: off, n: min(size, u.Size-off)})
	}
	return u.begun(ctx, func() (Object, error) {
		for i, part := range parts {
			parts[i] = s3Part{off: part.off, n: part.n, proof: part.proof}
		}
		return (&s3Parts{s: s, u: u, parts: parts}).run(ctx)
	})
}

// run sends the parts of one upload and completes it. After an error it aborts the upload.
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
	return p.u.try(ctx, false, func([]byte, int) (err error) {
		for {
			p.m = p.s.manner()
			if err = p.create(ctx); !p.s.learn(err, p.m, p.u) {
				p.lost = p.lost || mayHaveBegun(err)
				return err
			}
		}
	})
}

func (p *s3Parts) create(ctx context.Context) error {
	r := request{name: p.u.URL, method: http.MethodPost, query: url.Values{"uploads": {""}}, header: http.Header{}}
	if !p.m.md5only {
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
	if err := decode(ctx, p.u.URL, resp, maxAnswer, xml.Unmarshal, &begun); err != nil {
		return err
	}
	if p.id = begun.UploadID; p.id == "" {
		return noETag(p.u.URL, resp)
	}
	if !strings.EqualFold(resp.Header.Get("X-Amz-Checksum-Algorithm"), "CRC64NVME") && !p.m.md5only {
		p.s.md5only.Store(true)
		p.m.md5only = true
	}
	return nil
}

// send sends a part, in as many attempts as it takes.
func (p *s3Parts) send(ctx context.Context, i int) error {
	part := &p.parts[i]
	err := p.u.try(ctx, true, func(buf []byte, attempt int) (err error) {
		for {
			m := p.m
			m.sign = p.s.manner().sign
			if err = part.prove(p.u, m, buf); err != nil {
				return err
			}
			if err = p.sendOnce(ctx, i, m, attempt); !p.s.learn(err, m, p.u) {
				return err
			}
		}
	})
	if errors.Is(err, errNoUpload) {
		return anew(err)
	}
	if err == nil {
		p.u.taken(part.n)
	}
	return err
}

func (p *s3Parts) sendOnce(ctx context.Context, i int, m manner, attempt int) error {
	part := &p.parts[i]
	r := part.request(p.s, p.u, m, attempt)
	r.query = url.Values{"partNumber": {strconv.Itoa(i + 1)}, "uploadId": {p.id}}
	resp, err := p.s.request(ctx, r)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if part.etag = resp.Header.Get("Etag"); part.etag == "" {
		return noETag(p.u.URL, resp)
	}
	answer := part.proof.confirms(resp.Header, m.md5only)
	part.silent = answer == silent && !m.md5only
	if answer == different {
		e := refuse(p.u.URL, resp, ErrSum, "a proxy in between? a damaged service?", "it has got other bytes than were sent, in part %d", i+1)
		e.Again = true
		return e
	}
	p.s.written.Store(true)
	return nil
}
