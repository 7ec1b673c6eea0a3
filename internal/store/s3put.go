package store

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"

	"github.com/minio/crc64nvme"
)

// Requests that write, to Amazon or another service with its protocol:
//
//	PUT    {endpoint}/BUCKET/KEY     a whole object, with its checksum
//	DELETE {endpoint}/BUCKET/KEY
//
// The checksum is x-amz-checksum-crc64nvme. A service that does not send it back has not compared it: from
// then on it gets Content-MD5. A body is signed by its SHA-256 over http, and over https where the
// service insists, as the AWS tools have it; the checksum is signed in any case.
//
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html

// A proof is what a service compares a body with, and its reply is compared with.
type proof struct {
	crc    uint64 // CRC-64/NVME
	md5    []byte // nil: not computed
	sha256 string // "": not computed
}

const crcHeader = "X-Amz-Checksum-Crc64nvme"

func base64CRC(crc uint64) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, crc))
}

// A manner is how a service wants to be written to, as far as its answers have told.
type manner struct {
	md5only bool // it compares MD5 and no CRC-64/NVME
	sign    bool // it wants bodies signed
	blind   bool // it knows no If-None-Match
}

func (s *s3Store) manner() manner {
	return manner{s.md5only.Load(), s.signBody.Load() && s.creds != nil, s.noConditions.Load()}
}

// learn reports whether the error of a request in manner m says that the service wants another one: then
// the request may succeed at once.
func (s *s3Store) learn(err error, m manner, u *Upload) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Status/100 != 4 && e.Status != http.StatusNotImplemented {
		return false
	}
	switch e.code {
	case "XAmzContentSHA256Mismatch", "SignatureDoesNotMatch", "MissingContentSHA256":
		if s.creds != nil && !m.sign {
			s.signBody.Store(true)
			return true
		}
	case "InvalidArgument", "InvalidRequest", "InvalidChecksum", "NotImplemented", "MissingContentMD5":
		if e.code == "NotImplemented" && u.New && !m.blind {
			s.noConditions.Store(true)
			return true
		}
		if !m.md5only && !s.written.Load() {
			s.md5only.Store(true)
			return true
		}
	}
	return false
}

// prove computes what is missing of the proof of a part.
func (part *s3Part) prove(u *Upload, m manner, buf []byte) error {
	var made proof
	if part.proof != nil {
		made = *part.proof
	}
	crc, sum, sha := crc64nvme.New(), md5.New(), sha256.New()
	var hashes []hash.Hash
	if part.proof == nil {
		hashes = append(hashes, crc)
	}
	if m.md5only && made.md5 == nil {
		hashes = append(hashes, sum)
	}
	if m.sign && made.sha256 == "" {
		hashes = append(hashes, sha)
	}
	if len(hashes) == 0 {
		return nil
	}
	if err := u.hash(part.off, part.n, buf, hashes...); err != nil {
		return err
	}
	if part.proof == nil {
		made.crc = crc.Sum64()
	}
	if m.md5only && made.md5 == nil {
		made.md5 = sum.Sum(nil)
	}
	if m.sign && made.sha256 == "" {
		made.sha256 = hex.EncodeToString(sha.Sum(nil))
	}
	part.proof = &made
	return nil
}

// request makes the request that sends a part, or the whole object. attempt counts from 0.
func (part *s3Part) request(s *s3Store, u *Upload, m manner, attempt int) request {
	p := part.proof
	r := request{name: u.URL, method: http.MethodPut, header: http.Header{},
		body: func() io.Reader { return u.body(part.off, part.n) }, size: part.n,
		// Until a body was taken, and after a failure: some connections break where a body is refused, and
		// the reply with them.
		ask: attempt > 0 || !s.written.Load()}
	if m.sign {
		r.sha256 = p.sha256
	}
	if m.md5only {
		r.header.Set("Content-Md5", base64.StdEncoding.EncodeToString(p.md5))
	} else {
		r.header.Set(crcHeader, base64CRC(p.crc))
	}
	return r
}

// An answered tells what a reply says of the bytes of a request.
type answered int

const (
	confirmed answered = iota // the service has compared the checksum
	silent                    // it does not say so
	different                 // it has got other bytes
)

// confirms compares the checksum in a reply with p. An ETag is compared with the MD5 unless it is of
// encrypted bytes, or not an MD5.
func (p *proof) confirms(h http.Header, md5only bool) answered {
	if !md5only {
		switch v := h.Get(crcHeader); v {
		case "":
			return silent
		case base64CRC(p.crc):
			return confirmed
		}
		return different
	}
	etag, err := hex.DecodeString(strong(h.Get("Etag")))
	encrypted := h.Get("X-Amz-Server-Side-Encryption") != "" || h.Get("X-Amz-Server-Side-Encryption-Customer-Algorithm") != ""
	switch {
	case err != nil || len(etag) != md5.Size || encrypted:
		return silent
	case string(etag) == string(p.md5):
		return confirmed
	}
	return different
}

func (s *s3Store) put(ctx context.Context, u *Upload) (Object, error) {
	if u.Size > u.partSize() {
		return s.putParts(ctx, u)
	}
	whole := s3Part{n: u.Size}
	var o Object
	err := u.try(ctx, false, func(buf []byte, attempt int) (err error) {
		for {
			m := s.manner()
			if err = whole.prove(u, m, buf); err != nil {
				return err
			}
			if o, err = s.putWhole(ctx, u, &whole, m, attempt); !s.learn(err, m, u) {
				break
			}
		}
		// versitygw removes a directory with its last object, also while another object is put there, and says this.
		if e, ok := errors.AsType[*Error](err); ok && e.code == "ExistingObjectIsDirectory" && attempt < 2 {
			e.Again = true
		}
		return err
	})
	if err != nil {
		return Object{}, err
	}
	u.taken(u.Size)
	return o, nil
}

func (s *s3Store) putWhole(ctx context.Context, u *Upload, part *s3Part, m manner, attempt int) (Object, error) {
	r := part.request(s, u, m, attempt)
	if u.New && !m.blind {
		r.header.Set("If-None-Match", "*")
	}
	resp, err := s.request(ctx, r)
	if err != nil {
		return Object{}, err
	}
	resp.Body.Close()
	s.written.Store(true)
	o := Object{URL: u.URL, Size: u.Size, Version: strong(resp.Header.Get("Etag")), Sum: part.proof.sum(m.md5only)}
	if o.Version == "" {
		return Object{}, noETag(u.URL, resp)
	}
	switch answer := part.proof.confirms(resp.Header, m.md5only); {
	case answer == confirmed, answer == silent && m.md5only: // which every service compares
		return o, nil
	case answer == different:
		return Object{}, s.spoilt(ctx, u, resp)
	}
	// It knows nothing of the checksum. This object has yet to be compared, others have Content-MD5.
	s.md5only.Store(true)
	m.md5only = true
	buf := make([]byte, bufferSize)
	if err := part.prove(u, m, buf); err != nil {
		return Object{}, err
	}
	o.Sum = part.proof.sum(true)
	switch part.proof.confirms(resp.Header, true) {
	case confirmed:
		return o, nil
	case different:
		return Object{}, s.spoilt(ctx, u, resp)
	}
	return o, s.readBack(ctx, u, o, buf)
}

func (p *proof) sum(md5only bool) Sum {
	if md5only {
		return Sum{Kind: "md5", Value: hex.EncodeToString(p.md5)}
	}
	return Sum{Kind: "crc64nvme", Value: fmt.Sprintf("%016x", p.crc)}
}

func noETag(url string, resp *http.Response) *Error {
	e := refuse(url, resp, ErrUnavailable, "is that an S3 service?", "it does not say what it has made: no ETag")
	e.Again = true
	return e
}

// spoilt removes an object that has other bytes than were sent.
func (s *s3Store) spoilt(ctx context.Context, u *Upload, resp *http.Response) error {
	e := refuse(u.URL, resp, ErrSum, "a proxy in between? a damaged service?", "it has got other bytes than were sent")
	e.Again = true
	if err := u.clean(ctx, func(ctx context.Context) error { return s.remove(ctx, Object{URL: u.URL}) }); err != nil {
		e.Again, e.Hint = false, "and it could not be removed: remove it"
	}
	return e
}

// readBack compares an object, byte by byte, with u.
func (s *s3Store) readBack(ctx context.Context, u *Upload, o Object, buf []byte) error {
	rep, err := s.open(ctx, o, 0, -1)
	if err != nil {
		return err
	}
	defer rep.Body.Close()
	there, here := crc64nvme.New(), crc64nvme.New()
	n, err := io.CopyBuffer(struct{ io.Writer }{there}, io.LimitReader(rep.Body, u.Size+1), buf)
	if err != nil {
		return unreached(ctx, u.URL, err)
	}
	if err := u.hash(0, u.Size, buf, here); err != nil {
		return err
	}
	if n == u.Size && there.Sum64() == here.Sum64() {
		return nil
	}
	e := &Error{URL: Redact(u.URL), Kind: ErrSum, Err: errors.New("other bytes are read back than were sent")}
	if err := u.clean(ctx, func(ctx context.Context) error { return s.remove(ctx, Object{URL: u.URL}) }); err != nil {
		e.Hint = "and it could not be removed: remove it"
	}
	return e
}

func (s *s3Store) remove(ctx context.Context, o Object) error {
	if o.Upload != "" {
		_, err := s.abort(ctx, o)
		return err
	}
	resp, err := s.request(ctx, request{name: o.URL, method: http.MethodDelete, header: http.Header{}})
	if e, ok := errors.AsType[*Error](err); ok && e.Kind == ErrNotFound && !strings.EqualFold(e.code, "NoSuchBucket") {
		return nil
	}
	if err != nil {
		return err
	}
	resp.Body.Close()
	return nil
}
