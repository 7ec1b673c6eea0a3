package store

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
)

// complete makes the object from the parts. Since a reply may be lost and a request may reach the service twice,
// "no such upload" and "object exists" are errors only if the stored object differs from the parts.
func (p *s3Parts) complete(ctx context.Context) (o Object, err error) {
	err = p.u.try(ctx, true, func([]byte, int) error {
		err := p.s.withVariant(p.u, func(v variant) (err error) {
			v.md5only = p.v.md5only
			o, err = p.completeOnce(ctx, v)
			return err
		})
		// versitygw replies InvalidRequest while another process that sends the same object aborts the upload. An
		// incomplete reply has no code.
		gone := errors.Is(err, errNoUpload) || isCode(err, "InvalidRequest") || errors.Is(err, ErrNotFound) && isCode(err, "")
		if gone || errors.Is(err, ErrExists) {
			found, e := p.s.stat(ctx, p.u.URL)
			switch {
			case e == nil && p.isEqual(found):
				o = found
				return nil
			case e != nil && !errors.Is(e, ErrNotFound):
				return e
			}
		}
		if gone || isCode(err, "InvalidPart", "InvalidPartOrder") {
			return startOver(err)
		}
		return err
	})
	if err != nil {
		return Object{}, err
	}
	return p.confirmed(ctx, o)
}

func isCode(err error, codes ...string) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && slices.Contains(codes, e.code)
}

// completeOnce sends one request to complete the upload and returns the object as the reply describes it.
func (p *s3Parts) completeOnce(ctx context.Context, v variant) (Object, error) {
	type part struct {
		Number int    `xml:"PartNumber"`
		ETag   string `xml:"ETag"`
		CRC    string `xml:"ChecksumCRC64NVME,omitempty"`
	}
	var list struct {
		XMLName xml.Name `xml:"http://s3.amazonaws.com/doc/2006-03-01/ CompleteMultipartUpload"`
		Parts   []part   `xml:"Part"`
	}
	r := request{name: p.u.URL, method: http.MethodPost, query: url.Values{"uploadId": {p.id}}, header: http.Header{}}
	for i, sent := range p.parts {
		made := part{Number: i + 1, ETag: sent.etag}
		if !v.md5only {
			made.CRC = base64CRC(sent.crc())
		}
		list.Parts = append(list.Parts, made)
	}
	text, err := xml.Marshal(list)
	if err != nil {
		return Object{}, err
	}
	r.body = func() io.Reader { return bytes.NewReader(text) }
	r.size, r.sha256 = int64(len(text)), fmt.Sprintf("%x", sha256.Sum256(text))
	r.header.Set("Content-Type", "application/xml")
	if !v.md5only {
		r.header.Set(crcHeader, base64CRC(p.crc()))
		r.header.Set("X-Amz-Checksum-Type", "FULL_OBJECT")
		r.header.Set("X-Amz-Mp-Object-Size", strconv.FormatInt(p.u.Size, 10))
	}
	if p.u.New && !v.noConditions {
		r.header.Set("If-None-Match", "*")
	}
	resp, err := p.s.request(ctx, r)
	if err != nil {
		return Object{}, err
	}
	defer resp.Body.Close()
	return p.completed(ctx, resp)
}

// completed reads the reply to a request to complete. It may be an error in spite of status 200: the service
// sends the status before it has assembled the object.
func (p *s3Parts) completed(ctx context.Context, resp *http.Response) (Object, error) {
	var made struct {
		XMLName xml.Name
		ETag    string
		CRC     string `xml:"ChecksumCRC64NVME"`
		Type    string `xml:"ChecksumType"`
		Code    string
	}
	var text bytes.Buffer
	whole := *resp
	whole.Body = io.NopCloser(io.TeeReader(resp.Body, &text))
	if err := decode(ctx, p.u.URL, &whole, maxAnswer, into(xml.Unmarshal, &made)); err != nil {
		return Object{}, err
	}
	switch made.XMLName.Local {
	case "CompleteMultipartUploadResult":
	case "Error":
		late := whole
		late.Body = io.NopCloser(&text)
		if late.StatusCode = http.StatusInternalServerError; made.Code == "PreconditionFailed" {
			late.StatusCode = http.StatusPreconditionFailed
		}
		e, _ := p.s.refused(p.u.URL, &late, "", nil)
		return Object{}, e
	default:
		return Object{}, noETag(p.u.URL, resp)
	}
	o := Object{URL: p.u.URL, Size: p.u.Size, Version: strong(made.ETag)}
	if made.Type != "COMPOSITE" {
		o.Sum = bestSum(map[string]string{"crc64nvme": made.CRC})
	}
	return o, nil
}

// confirmed compares the stored object with the parts. replied is the object as the reply to complete describes it.
func (p *s3Parts) confirmed(ctx context.Context, replied Object) (Object, error) {
	o, equal := replied, p.isEqual(replied)
	if replied.Sum == (Sum{}) { // some services send another ETag in this reply than in all others
		err := p.u.try(ctx, true, func([]byte, int) (err error) {
			o, err = p.s.stat(ctx, p.u.URL)
			return err
		})
		switch {
		case errors.Is(err, ErrNotFound): // versitygw confirms an object that another request is still completing
			return Object{}, startOver(err)
		case err != nil:
			return Object{}, err
		}
	}
	silent := slices.ContainsFunc(p.parts, func(part s3Part) bool { return part.silent })
	switch {
	case p.isEqual(o), equal && o.Size == p.u.Size && p.v.md5only:
		return o, nil
	case o.Size == p.u.Size && o.Sum.Kind != "crc64nvme" && !isMultipartETag(o.Version) && !silent:
		return o, nil // no checksum of the object; the service has compared each part
	case o.Sum == (Sum{}) && silent: // the service has compared no checksum
		p.s.md5only.Store(true)
	case o.Version != replied.Version: // an object of another upload, not to be removed: versitygw confirms an aborted upload
		if p.u.New {
			return Object{}, exists(p.u.URL)
		}
		return Object{}, startOver(&Error{URL: Redact(p.u.URL), Kind: ErrSum, Err: errors.New("another object is there than was sent")})
	}
	e := &Error{URL: Redact(p.u.URL), Kind: ErrSum, Err: errors.New("the service has put together other bytes than were sent")}
	if err := p.u.discard(ctx, e, p.s.remove, Object{URL: p.u.URL}); e.Hint != "" {
		return Object{}, err
	}
	return Object{}, startOver(e)
}

// isEqual reports whether an object has the bytes of the parts, by its size and its checksum or ETag.
func (p *s3Parts) isEqual(o Object) bool {
	switch {
	case o.Size != p.u.Size:
		return false
	case o.Sum.Kind == "crc64nvme":
		return o.Sum.Value == fmt.Sprintf("%016x", p.crc())
	}
	return isMultipartETag(o.Version) && o.Version == p.etag()
}

// isMultipartETag reports whether an ETag has the form MD5-PARTS.
func isMultipartETag(etag string) bool {
	return len(etag) > 33 && etag[32] == '-' && isDigits(etag[33:])
}

// etag returns the ETag of the object: the MD5 of the ETags of its parts; "" if these are not MD5s.
func (p *s3Parts) etag() string {
	h := md5.New()
	for _, part := range p.parts {
		sum, err := hex.DecodeString(strong(part.etag))
		if err != nil || len(sum) != md5.Size {
			return ""
		}
		h.Write(sum)
	}
	return fmt.Sprintf("%x-%d", h.Sum(nil), len(p.parts))
}

// crc returns the CRC-64/NVME of the whole object.
func (p *s3Parts) crc() (crc uint64) {
	for _, part := range p.parts {
		crc = joinCRC64(crc, part.crc(), part.n) // the CRC of no bytes is 0
	}
	return crc
}
