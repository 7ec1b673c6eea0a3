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

// Requests that write:
//
//	PUT    {endpoint}/BUCKET/KEY     a whole object, with its checksum
//	DELETE {endpoint}/BUCKET/KEY
//
// The checksum is x-amz-checksum-crc64nvme. A service whose reply lacks it has not compared it: from
// then on requests have Content-MD5 instead. Like the AWS tools, the client signs the SHA-256 of a body over
// http, and over https if the service requires it. The checksum header is always signed.
//
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/checking-object-integrity-upload.html

const (
	crcKind   = "crc64nvme" // CRC-64/NVME
	crcHeader = "X-Amz-Checksum-Crc64nvme"
)

// A variant is how requests that write differ between S3 services, as far as replies have shown.
type variant struct {
	md5only      bool // the service compares MD5 and not CRC-64/NVME
	sign         bool // it requires signed bodies
	noConditions bool // it does not support If-None-Match
}

func (s *s3Store) variant() variant {
	return variant{s.md5only.Load(), s.signBody.Load() && s.creds != nil, s.noConditions.Load()}
}

// withVariant calls request, and again with another variant after an error that shows that the service needs it.
func (s *s3Store) withVariant(u *Upload, request func(v variant) error) error {
	for {
		v := s.variant()
		if err := request(v); !s.adapt(err, v, u) {
			return err
		}
	}
}

// adapt changes the variant if the error of a request with v shows that the service needs another. It reports whether
// it did: then the request may succeed at once.
func (s *s3Store) adapt(err error, v variant, u *Upload) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Status/100 != 4 && e.Status != http.StatusNotImplemented {
		return false
	}
	switch e.code {
	case "XAmzContentSHA256Mismatch", "SignatureDoesNotMatch", "MissingContentSHA256":
		if s.creds != nil && !v.sign {
			s.signBody.Store(true)
			return true
		}
	case "InvalidArgument", "InvalidRequest", "InvalidChecksum", "NotImplemented", "MissingContentMD5":
		if e.code == "NotImplemented" && u.New && !v.noConditions {
			s.noConditions.Store(true)
			return true
		}
		if !v.md5only && !s.written.Load() {
			s.md5only.Store(true)
			return true
		}
	}
	return false
}

// An s3Part is the range of an object that one request sends.
type s3Part struct {
	off, n int64
	query  url.Values        // number of the part and id of the upload; nil: the whole object
	sums   map[string][]byte // checksums by Sum.Kind, computed when a request needs them
	etag   string            // from the reply, with quotes
	silent bool              // the reply lacks the CRC: the service may not have compared it
}

func (part *s3Part) crc() uint64 { return binary.BigEndian.Uint64(part.sums[crcKind]) }

func base64CRC(crc uint64) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, crc))
}

// hash computes the missing checksums that a request with v needs.
func (part *s3Part) hash(u *Upload, v variant, buf []byte) error {
	made := map[string]hash.Hash{}
	var hashes []hash.Hash
	for kind, needed := range map[string]bool{crcKind: true, "md5": v.md5only, "sha256": v.sign} {
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

// send makes one attempt to send the part; attempt counts from 0. The error is [ErrSum] if the reply has the checksum
// of other bytes. The body of the reply is closed.
func (part *s3Part) send(ctx context.Context, s *s3Store, u *Upload, v variant, attempt int) (*http.Response, error) {
	r := request{name: u.URL, method: http.MethodPut, query: part.query, header: http.Header{},
		body: func() io.Reader { return u.body(part.off, part.n) }, size: part.n,
		// Before the service has accepted a body, and after a failure: some services close the connection when
		// they refuse a body, and their reply is lost.
		expect: attempt > 0 || !s.written.Load()}
	if v.sign {
		r.sha256 = hex.EncodeToString(part.sums["sha256"])
	}
	if v.md5only {
		r.header.Set("Content-Md5", base64.StdEncoding.EncodeToString(part.sums["md5"]))
	} else {
		r.header.Set(crcHeader, base64CRC(part.crc()))
	}
	if part.query == nil && u.New && !v.noConditions {
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
	given, same := part.compare(resp.Header, v.md5only)
	if part.silent = !given && !v.md5only; given && !same {
		return nil, gotOther(u.URL, resp)
	}
	return resp, nil
}

// compare compares the checksum in a reply with that of the part. given means that the reply has one. With md5only that
// is the ETag, unless it has not the form of an MD5 or the object is encrypted.
func (part *s3Part) compare(h http.Header, md5only bool) (given, same bool) {
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
		err := s.withVariant(u, func(v variant) (err error) {
			if err = whole.hash(u, v, buf); err == nil {
				o, err = s.putWhole(ctx, u, &whole, v, attempt)
			}
			return err
		})
		// versitygw removes an empty directory while another request puts an object into it, which then fails like this.
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

func (s *s3Store) putWhole(ctx context.Context, u *Upload, whole *s3Part, v variant, attempt int) (Object, error) {
	resp, err := whole.send(ctx, s, u, v, attempt)
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
		o.Sum = whole.sum(v.md5only)
		return o, nil
	}
	// The service ignores the CRC. Later requests use Content-MD5; this object is compared here.
	s.md5only.Store(true)
	v.md5only = true
	buf := make([]byte, bufferSize)
	if err := whole.hash(u, v, buf); err != nil {
		return Object{}, err
	}
	o.Sum = whole.sum(true)
	switch given, same := whole.compare(resp.Header, true); {
	case !given:
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

// readBack reads an object and compares its size and CRC with u. It removes an object that differs.
func (s *s3Store) readBack(ctx context.Context, u *Upload, o Object, buf []byte) error {
	rep, err := s.open(ctx, o, 0, -1)
	if err != nil {
		return err
	}
	defer rep.Body.Close()
	stored, sent := crc64nvme.New(), crc64nvme.New()
	n, err := io.CopyBuffer(struct{ io.Writer }{stored}, io.LimitReader(rep.Body, u.Size+1), buf)
	if err != nil {
		return unreached(ctx, u.URL, err)
	}
	if err := u.hash(0, u.Size, buf, sent); err != nil {
		return err
	}
	if n == u.Size && stored.Sum64() == sent.Sum64() {
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

// abort makes one attempt to remove the parts of an upload. gone means that the service has no such upload, which is
// not an error.
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
