package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Requests that write:
//
//	POST   {endpoint}/upload/storage/v1/b/BUCKET/o?uploadType=multipart    an object with its CRC-32C, in one request
//	POST   {endpoint}/upload/storage/v1/b/BUCKET/o?uploadType=resumable    begins a session; see gssession.go
//	DELETE {endpoint}/storage/v1/b/BUCKET/o/OBJECT
//
// The service compares the CRC-32C with the bytes it receives. ifGenerationMatch=0 refuses to replace an object.
//
// https://cloud.google.com/storage/docs/json_api/v1/objects/insert

// gsWriteError sets kind and hint of an error of a request that writes. known: the request had credentials.
func (e *Error) gsWriteError(known bool) {
	switch text := fmt.Sprint(e.Err); {
	case e.Status == http.StatusPreconditionFailed:
		e.Kind, e.Err, e.Hint = ErrExists, nil, ""
	case e.Kind == ErrDenied && strings.Contains(strings.ToLower(text), "quota"):
		e.Kind, e.Hint = ErrFull, fullHint
	case e.Kind == ErrDenied && known && e.Status != http.StatusUnauthorized:
		e.Hint = "writing needs storage.objects.create and, over another object, storage.objects.delete"
	case e.Status == http.StatusBadRequest && strings.Contains(text, "match calculated"):
		e.Kind, e.Hint, e.Again = errBadBytes, "", true
	case e.Status == http.StatusNotFound && e.Err != nil && strings.Contains(text, "no such object"):
		e.Err = nil
	}
}

// placed adds the URL of an object to an error of the settings.
func placed(name string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		about := *e
		about.URL = Redact(name)
		return &about
	}
	return err
}

// uploadURL returns the URL for an upload of a kind, "multipart" or "resumable", and the name of the object.
func (s *gsStore) uploadURL(u *Upload, kind string) (address, object string, err error) {
	bucket, object, bad := splitBucket(u.URL, false)
	if bad != nil {
		return "", "", bad
	}
	query := url.Values{"uploadType": {kind}, "name": {object}, "fields": {gsFields}}
	if u.New {
		query.Set("ifGenerationMatch", "0")
	}
	return s.endpoint + "/upload/storage/v1/b/" + url.PathEscape(bucket) + "/o?" + query.Encode(), object, nil
}

// gsResource returns the JSON resource of a new object.
func gsResource(object string, crc uint32) []byte {
	text, _ := json.Marshal(map[string]string{ // cannot fail for strings
		"name": object, "contentType": "application/octet-stream",
		"crc32c": base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, crc)),
	})
	return text
}

func (s *gsStore) put(ctx context.Context, u *Upload) (Object, error) {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	if err := u.hash(0, u.Size, make([]byte, bufferSize), sum); err != nil {
		return Object{}, err
	}
	if u.Size > u.partSize() {
		return s.putSessions(ctx, u, sum.Sum32())
	}
	address, object, err := s.uploadURL(u, "multipart")
	if err != nil {
		return Object{}, err
	}
	return s.putWhole(ctx, u, address, object, sum.Sum32())
}

// putWhole sends an object in one request.
func (s *gsStore) putWhole(ctx context.Context, u *Upload, address, object string, crc uint32) (o Object, err error) {
	mark := rand.Text() // 128 random bits: the object does not contain them
	before := fmt.Sprintf("--%s\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n%s\r\n--%[1]s\r\nContent-Type: application/octet-stream\r\n\r\n", mark, gsResource(object, crc))
	after := fmt.Sprintf("\r\n--%s--\r\n", mark)
	r := request{name: u.URL, method: http.MethodPost, address: address, header: http.Header{"Content-Type": {"multipart/related; boundary=" + mark}},
		body: func() io.Reader {
			return io.MultiReader(strings.NewReader(before), u.body(0, u.Size), strings.NewReader(after))
		},
		size: int64(len(before)) + u.Size + int64(len(after))}
	err = u.try(ctx, false, func([]byte, int) error {
		resp, err := s.do(ctx, r)
		if err == nil {
			o, err = s.made(ctx, u, resp, crc)
		}
		return err
	})
	if err != nil {
		return Object{}, err
	}
	u.taken(u.Size)
	return o, nil
}

// made reads and closes the reply to an upload, which describes the new object, and compares size and checksum. It
// removes an object with other bytes.
func (s *gsStore) made(ctx context.Context, u *Upload, resp *http.Response, crc uint32) (Object, error) {
	defer resp.Body.Close()
	var found gsObject
	if err := decode(ctx, u.URL, resp, maxAnswer, into(json.Unmarshal, &found)); err != nil {
		return Object{}, err
	}
	o := found.object(u.URL)
	want := Sum{Kind: "crc32c", Value: hex.EncodeToString(binary.BigEndian.AppendUint32(nil, crc))}
	switch {
	case o.Version == "":
		return Object{}, refuse(u.URL, resp, ErrUnavailable, "it does not say what it has made: no generation").hint("is that Google's service?").again()
	case o.Sum == want && o.Size == u.Size:
		return o, nil
	}
	return Object{}, u.discard(ctx, gotOther(u.URL, resp), s.removeVersion, o)
}

func (s *gsStore) remove(ctx context.Context, o Object) error {
	return s.removeVersion(ctx, Object{URL: o.URL})
}

// removeVersion removes an object; if o has a version, only that version.
func (s *gsStore) removeVersion(ctx context.Context, o Object) error {
	r := request{name: o.URL, method: http.MethodDelete}
	if o.Version != "" {
		r.query = url.Values{"ifGenerationMatch": {o.Version}}
	}
	resp, err := s.do(ctx, r, http.StatusNoContent)
	if e, ok := errors.AsType[*Error](err); ok && e.Kind == ErrNotFound && !strings.Contains(fmt.Sprint(e.Err), "bucket") {
		return nil
	}
	if err != nil {
		return err
	}
	if isHTML(resp) {
		return notService(o.URL, resp, "a proxy in between?")
	}
	return resp.Body.Close()
}
