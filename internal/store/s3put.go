package store

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"net/http"
	"net/url"
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

const (
	crcKind   = "crc64nvme" // CRC-64/NVME
	crcHeader = "X-Amz-Checksum-Crc64nvme"
)

// A manner is how a service wants to be written to, as far as its answers have told.
type manner struct {
	md5only bool // it compares MD5 and no CRC-64/NVME
	sign    bool // it wants bodies signed
	blind   bool // it knows no If-None-Match
}

func (s *s3Store) manner() manner {
	return manner{s.md5only.Load(), s.signBody.Load() && s.creds != nil, s.noConditions.Load()}
}

// mannered calls request, and again in another manner after an error which says that the service wants that.
func (s *s3Store) mannered(u *Upload, request func(m manner) error) error {
	for {
		m := s.manner()
		if err := request(m); !s.learn(err, m, u) {
			return err
		}
	}
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

// An s3Part is what one request sends: the whole object, or a part of it.
type s3Part struct {
	off, n int64
	query  url.Values        // names it in an upload; nil: it is the whole object
	sums   map[string][]byte // of its bytes, by the Kind of a Sum: those that a request has needed
	etag   string            // with its quotes, as the service has sent it
	silent bool              // the service does not say that it has compared the CRC
}

func (part *s3Part) crc() uint64 { return binary.BigEndian.Uint64(part.sums[crcKind]) }

func base64CRC(crc uint64) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, crc))
}

// prove computes the checksums that a request in manner m needs.
func (part *s3Part) prove(u *Upload, m manner, buf []byte) error {
	made := map[string]hash.Hash{}
	var hashes []hash.Hash
	for kind, needed := range map[string]bool{crcKind: true, "md5": m.md5only, "sha256": m.sign} {
		if needed && part.sums[kind] == nil {
			made[kind] = hashOf(kind)
			hashes = append(hashes, made[kind])
		}
	}
	if len(hashes) == 0 {
		return nil
	}
	if err := u.hash(part.off, part.n, buf, hashes...); err != nil {
		return err
	}
	if part.sums == nil {
		part.sums = map[string][]byte{}
	}
	for kind, h := range made {
		part.sums[kind] = h.Sum(nil)
	}
	return nil
}

// send sends a part, or the whole object, in manner m. attempt counts from 0. [ErrSum]: the service has got other bytes.
func (part *s3Part) send(ctx context.Context, s *s3Store, u *Upload, m manner, attempt int) (*http.Response, error) {
	r := request{name: u.URL, method: http.MethodPut, query: part.query, header: http.Header{},
		body: func() io.Reader { return u.body(part.off, part.n) }, size: part.n,
		// Until a body was taken, and after a failure: some connections break where a body is refused, and
		// the reply with them.
		ask: attempt > 0 || !s.written.Load()}
	if m.sign {
		r.sha256 = hex.EncodeToString(part.sums["sha256"])
	}
	if m.md5only {
		r.header.Set("Content-Md5", base64.StdEncoding.EncodeToString(part.sums["md5"]))
	} else {
		r.header.Set(crcHeader, base64CRC(part.crc()))
	}
	if part.query == nil && u.New && !m.blind {
		r.header.Set("If-None-Match", "*")
	}
	resp, err := s.request(ctx, r)
	if err != nil {
		return nil, err
	}
	resp.Body.Close()
	if part.etag = resp.Header.Get("Etag"); part.etag == "" {
		return nil, noETag(u.URL, resp)
	}
	s.written.Store(true)
	said, same := part.confirms(resp.Header, m.md5only)
	if part.silent = !said && !m.md5only; said && !same {
		return nil, gotOther(u.URL, resp)
	}
	return resp, nil
}

// confirms compares the checksum in a reply, if it has said one, with that of the part. An ETag is compared with the MD5
// unless it is of encrypted bytes, or not an MD5.
func (part *s3Part) confirms(h http.Header, md5only bool) (said, same bool) {
	if !md5only {
		v := h.Get(crcHeader)
		return v != "", v == base64CRC(part.crc())
	}
	etag, err := hex.DecodeString(strong(h.Get("Etag")))
	encrypted := h.Get("X-Amz-Server-Side-Encryption") != "" || h.Get("X-Amz-Server-Side-Encryption-Customer-Algorithm") != ""
	return err == nil && len(etag) == md5.Size && !encrypted, string(etag) == string(part.sums["md5"])
}

func (s *s3Store) put(ctx context.Context, u *Upload) (Object, error) {
	if u.Size > u.partSize() {
		return s.putParts(ctx, u)
	}
	whole := s3Part{n: u.Size}
	var o Object
	err := u.try(ctx, false, func(buf []byte, attempt int) error {
		err := s.mannered(u, func(m manner) (err error) {
			if err = whole.prove(u, m, buf); err == nil {
				o, err = s.putWhole(ctx, u, &whole, m, attempt)
			}
			return err
		})
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

func (s *s3Store) putWhole(ctx context.Context, u *Upload, whole *s3Part, m manner, attempt int) (Object, error) {
	resp, err := whole.send(ctx, s, u, m, attempt)
	if errors.Is(err, ErrSum) {
		return Object{}, u.discard(ctx, err, s.remove, Object{URL: u.URL})
	}
	if err != nil {
		return Object{}, err
	}
	o := Object{URL: u.URL, Size: u.Size, Version: strong(whole.etag)}
	if o.Version == "" {
		return Object{}, noETag(u.URL, resp)
	}
	if !whole.silent {
		o.Sum = whole.sum(m.md5only)
		return o, nil
	}
	// It knows nothing of the checksum. This object has yet to be compared, others have Content-MD5.
	s.md5only.Store(true)
	m.md5only = true
	buf := make([]byte, bufferSize)
	if err := whole.prove(u, m, buf); err != nil {
		return Object{}, err
	}
	o.Sum = whole.sum(true)
	switch said, same := whole.confirms(resp.Header, true); {
	case !said:
		err = s.readBack(ctx, u, o, buf)
	case !same:
		err = u.discard(ctx, gotOther(u.URL, resp), s.remove, Object{URL: u.URL})
	}
	return o, err
}

func (part *s3Part) sum(md5only bool) Sum {
	kind := crcKind
	if md5only {
		kind = "md5"
	}
	return Sum{Kind: kind, Value: hex.EncodeToString(part.sums[kind])}
}

func noETag(url string, resp *http.Response) *Error {
	return refuse(url, resp, ErrUnavailable, "it does not say what it has made: no ETag").hint("is that an S3 service?").again()
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
	return u.discard(ctx, e, s.remove, Object{URL: u.URL})
}

func (s *s3Store) remove(ctx context.Context, o Object) error {
	if o.Upload != "" {
		_, err := s.abort(ctx, o)
		return err
	}
	resp, err := s.request(ctx, request{name: o.URL, method: http.MethodDelete})
	if e, ok := errors.AsType[*Error](err); ok && e.Kind == ErrNotFound && !strings.EqualFold(e.code, "NoSuchBucket") {
		return nil
	}
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// abort makes one attempt to remove the parts of an upload. An upload that has ended is not an error. gone: the
// service knows of no such upload.
func (s *s3Store) abort(ctx context.Context, o Object) (gone bool, err error) {
	resp, err := s.request(ctx, request{name: o.URL, method: http.MethodDelete, query: url.Values{"uploadId": {o.Upload}}})
	if errors.Is(err, errNoUpload) || errors.Is(err, ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, resp.Body.Close()
}
