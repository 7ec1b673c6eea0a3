package store

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/crc64nvme"
)

// A fakeS3 is a service in memory that compares what it is given to compare, and can be made a bad one.
type fakeS3 struct {
	*httptest.Server
	t *testing.T

	plain bool // it knows no CRC-64/NVME: only MD5
	signs bool // it wants bodies signed
	blind bool // it ignores If-None-Match

	// before and after may answer in place of the service; true: it has. n counts the requests of that
	// kind (PUT, PART, CREATE, COMPLETE, ABORT, DELETE, HEAD, GET) from 0. after is called when the service has acted.
	before, after func(w http.ResponseWriter, r *http.Request, kind string, n int) bool

	mu      sync.Mutex
	objects map[string]s3Kept
	uploads map[string]map[int][]byte // parts by id
	counts  map[string]int
	log     []string
}

type s3Kept struct {
	data []byte
	etag string
	crc  string // base64; "": none is stored
}

func newFakeS3(t *testing.T) *fakeS3 {
	f := &fakeS3{t: t, objects: map[string]s3Kept{}, uploads: map[string]map[int][]byte{}, counts: map[string]int{}}
	f.Server = start(t, f)
	return f
}

// client is a client of the service, whose parts are small.
func (f *fakeS3) client(opts Options, vars map[string]string) *Client {
	env := map[string]string{
		"AWS_ENDPOINT_URL": f.URL, "AWS_REGION": "us-east-1",
		"AWS_ACCESS_KEY_ID": fakeKey, "AWS_SECRET_ACCESS_KEY": fakeSecret, "AWS_SESSION_TOKEN": fakeToken,
	}
	maps.Copy(env, vars)
	opts.LookupEnv = environment(env)
	if opts.part == 0 {
		opts.part = 1000
	}
	return client(f.t, opts)
}

func refuseS3(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>as the test wants</Message></Error>", code)
}

func crcOf(b []byte) string {
	return base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, crc64nvme.Checksum(b)))
}

func (f *fakeS3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	kind := r.Method
	switch {
	case q.Has("uploads") && r.Method == http.MethodGet:
		kind = "UPLOADS"
	case q.Has("uploads"):
		kind = "CREATE"
	case q.Has("partNumber"):
		kind = "PART"
	case q.Has("uploadId") && r.Method == http.MethodPost:
		kind = "COMPLETE"
	case q.Has("uploadId"):
		kind = "ABORT"
	}
	f.mu.Lock()
	n := f.counts[kind]
	f.counts[kind]++
	f.log = append(f.log, kind)
	f.mu.Unlock()
	if f.before != nil && f.before(w, r, kind, n) {
		return
	}
	rec := httptest.NewRecorder()
	f.act(rec, r, kind)
	if f.after != nil && f.after(w, r, kind, n) {
		return
	}
	maps.Copy(w.Header(), rec.Header())
	w.WriteHeader(rec.Code)
	w.Write(rec.Body.Bytes())
}

func (f *fakeS3) act(w http.ResponseWriter, r *http.Request, kind string) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	switch v := r.Header.Get("X-Amz-Content-Sha256"); {
	case v == unsignedPayload && (f.signs || r.TLS == nil), v != unsignedPayload && v != fmt.Sprintf("%x", sha256.Sum256(data)):
		refuseS3(w, 400, "XAmzContentSHA256Mismatch")
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	key, id := r.URL.Path, r.URL.Query().Get("uploadId")
	old, there := f.objects[key]
	if v := r.Header.Get("Content-Md5"); v != "" && v != base64.StdEncoding.EncodeToString(sumMD5(data)) {
		refuseS3(w, 400, "BadDigest")
		return
	}
	if v := r.Header.Get(crcHeader); v != "" && !f.plain && kind != "COMPLETE" && v != crcOf(data) {
		refuseS3(w, 400, "BadDigest")
		return
	}
	if r.Header.Get("If-None-Match") == "*" && there && !f.blind {
		refuseS3(w, 412, "PreconditionFailed")
		return
	}
	if _, ok := f.uploads[id]; id != "" && !ok {
		refuseS3(w, 404, "NoSuchUpload")
		return
	}
	answer := func(o s3Kept) {
		w.Header().Set("ETag", `"`+o.etag+`"`)
		if o.crc != "" {
			w.Header().Set(crcHeader, o.crc)
			w.Header().Set("X-Amz-Checksum-Type", "FULL_OBJECT")
		}
	}
	made := s3Kept{data: data, etag: fmt.Sprintf("%x", md5.Sum(data))}
	if !f.plain && r.Header.Get(crcHeader) != "" {
		made.crc = crcOf(data)
	}
	switch kind {
	case "PUT":
		f.objects[key] = made
		answer(made)
	case "CREATE":
		id := fmt.Sprint("upload-", f.counts[kind])
		f.uploads[id] = map[int][]byte{}
		if !f.plain {
			w.Header().Set("X-Amz-Checksum-Algorithm", r.Header.Get("X-Amz-Checksum-Algorithm"))
		}
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", id)
	case "UPLOADS":
		fmt.Fprint(w, "<ListMultipartUploadsResult>")
		for id := range f.uploads {
			fmt.Fprintf(w, "<Upload><Key>%s</Key><UploadId>%s</UploadId></Upload>", strings.TrimPrefix(r.URL.Query().Get("prefix"), "/"), id)
		}
		fmt.Fprint(w, "</ListMultipartUploadsResult>")
	case "PART":
		n, _ := strconv.Atoi(r.URL.Query().Get("partNumber"))
		f.uploads[id][n] = data
		answer(made)
	case "COMPLETE":
		f.complete(w, r, key, id, data)
	case "ABORT":
		delete(f.uploads, id)
		w.WriteHeader(http.StatusNoContent)
	case "DELETE":
		delete(f.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case "HEAD", "GET":
		if !there {
			refuseS3(w, 404, "NoSuchKey")
			return
		}
		answer(old)
		http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(old.data))
	}
}

func (f *fakeS3) complete(w http.ResponseWriter, r *http.Request, key, id string, body []byte) {
	var list struct {
		Part []struct {
			PartNumber int
			ETag       string
		}
	}
	if err := xml.Unmarshal(body, &list); err != nil || len(list.Part) != len(f.uploads[id]) {
		refuseS3(w, 400, "InvalidPart")
		return
	}
	var whole, sums []byte
	for i, p := range list.Part {
		part := f.uploads[id][i+1]
		sum := sumMD5(part)
		if p.PartNumber != i+1 || strings.Trim(p.ETag, `"`) != fmt.Sprintf("%x", sum) {
			refuseS3(w, 400, "InvalidPart")
			return
		}
		whole, sums = append(whole, part...), append(sums, sum...)
	}
	o := s3Kept{data: whole, etag: fmt.Sprintf("%x-%d", md5.Sum(sums), len(list.Part))}
	if v := r.Header.Get(crcHeader); v != "" && !f.plain {
		if o.crc = crcOf(whole); o.crc != v {
			refuseS3(w, 400, "BadDigest")
			return
		}
	}
	f.objects[key] = o
	delete(f.uploads, id)
	fmt.Fprintf(w, "<CompleteMultipartUploadResult><ETag>&quot;%s&quot;</ETag><ChecksumCRC64NVME>%s</ChecksumCRC64NVME></CompleteMultipartUploadResult>", o.etag, o.crc)
}

func sumMD5(b []byte) []byte { s := md5.Sum(b); return s[:] }

// holds fails the test unless the service has just this object, and nothing is left of uploads.
func (f *fakeS3) holds(key string, data []byte) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	o, there := f.objects[key]
	if data == nil && there || data != nil && !bytes.Equal(o.data, data) {
		f.t.Errorf("%s: there %v, %d bytes", key, there, len(o.data))
	}
	if len(f.uploads) > 0 {
		f.t.Errorf("%d uploads are left", len(f.uploads))
	}
}

const putURL = "s3://train-data/out/a #1+.ffr"
const putKey = "/train-data/out/a #1+.ffr"

// putAll puts data and checks what is returned, and what Progress was told of.
func putAll(t *testing.T, c *Client, url string, data []byte, isNew bool) (Object, error) {
	t.Helper()
	var told int64
	o, err := c.Put(t.Context(), &Upload{URL: url, From: bytes.NewReader(data), Size: int64(len(data)), New: isNew, Progress: func(n int64) { told += n }})
	if told > int64(len(data)) || err == nil && told != int64(len(data)) {
		t.Errorf("progress was told of %d bytes of %d", told, len(data))
	}
	if err == nil && (o.Size != int64(len(data)) || o.Version == "" || o.URL != url) {
		t.Errorf("%+v", o)
	}
	holdsNoSecret(t, err)
	return o, presentable(t, err)
}

func lose(w http.ResponseWriter) bool { panic(http.ErrAbortHandler) }

func TestS3Put(t *testing.T) {
	for _, row := range []struct {
		name          string
		plain, blind  bool
		before, after func(w http.ResponseWriter, r *http.Request, kind string, n int) bool
		sizes         []int // nil: 700 and 3500
		old           bool  // an object is there
		isNew         bool
		wrong         error  // nil: the object is there
		text          string // part of the error
		log           string // of the requests, "": not looked at
		opts          Options
	}{
		{name: "good", sizes: []int{0, 1, 999, 1000, 1001, 2000, 9999}},
		{name: "good, new", isNew: true},
		{name: "over another", old: true},
		{name: "MD5 only", plain: true},
		{name: "MD5 only, new", plain: true, isNew: true},
		{name: "exists", old: true, isNew: true, wrong: ErrExists, log: "HEAD"},
		{name: "appears", isNew: true, wrong: ErrExists, before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if kind == "PUT" || kind == "COMPLETE" {
				refuseS3(w, 412, "PreconditionFailed")
				return true
			}
			return false
		}},
		{name: "replies lost", after: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			return n == 0 && kind != "CREATE" && lose(w)
		}},
		{name: "replies lost, new", isNew: true, after: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			return n == 0 && kind != "CREATE" && lose(w)
		}},
		{name: "replies lost, new, MD5 only", isNew: true, plain: true, after: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			return n == 0 && kind != "CREATE" && lose(w)
		}},
		{name: "SlowDown", before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if n < 2 && kind != "HEAD" {
				w.Header().Set("Retry-After", "0")
				refuseS3(w, 503, "SlowDown")
				return true
			}
			return false
		}},
		{name: "conflict", isNew: true, before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if n == 0 && (kind == "PUT" || kind == "COMPLETE") {
				refuseS3(w, 409, "ConditionalRequestConflict")
				return true
			}
			return false
		}},
		{name: "cut while it sends", before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if n == 0 && (kind == "PUT" || kind == "PART") {
				io.CopyN(io.Discard, r.Body, 300)
				return lose(w)
			}
			return false
		}},
		{name: "damaged on the way", before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if n == 0 && (kind == "PUT" || kind == "PART") {
				refuseS3(w, 400, "BadDigest")
				return true
			}
			return false
		}},
		{name: "full", wrong: ErrFull, text: "run again when there is room", before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if kind == "PUT" || kind == "PART" {
				refuseS3(w, 403, "QuotaExceeded")
				return true
			}
			return false
		}},
		{name: "507", wrong: ErrFull, before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if kind == "PUT" || kind == "COMPLETE" {
				refuseS3(w, 507, "XMinioStorageFull")
				return true
			}
			return false
		}},
		{name: "denied", wrong: ErrDenied, text: "s3:PutObject", before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if kind == "PUT" || kind == "PART" {
				refuseS3(w, 403, "AccessDenied")
				return true
			}
			return false
		}},
		{name: "expired", wrong: ErrDenied, text: "expired", before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if kind == "PUT" || kind == "PART" && n == 2 {
				refuseS3(w, 400, "ExpiredToken")
				return true
			}
			return false
		}},
		{name: "may not look", isNew: true, before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if kind == "HEAD" || kind == "GET" {
				refuseS3(w, 403, "AccessDenied")
				return true
			}
			return false
		}},
		{name: "no conditions", isNew: true, before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if r.Header.Get("If-None-Match") != "" {
				refuseS3(w, 501, "NotImplemented")
				return true
			}
			return false
		}},
		{name: "no checksums", plain: true, before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if r.Header.Get(crcHeader) != "" || r.Header.Get("X-Amz-Checksum-Algorithm") != "" {
				refuseS3(w, 400, "InvalidArgument")
				return true
			}
			return false
		}},
		{name: "another checksum comes back", wrong: ErrSum, opts: Options{Retries: 2}, after: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if kind == "PUT" || kind == "PART" {
				w.Header().Set("Etag", `"0"`)
				w.Header().Set(crcHeader, "AAAAAAAAAAA=")
				return true
			}
			return false
		}},
		{name: "another checksum of the whole", sizes: []int{3500}, wrong: ErrSum, after: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if kind == "COMPLETE" {
				fmt.Fprint(w, "<CompleteMultipartUploadResult><ETag>0</ETag><ChecksumCRC64NVME>AAAAAAAAAAA=</ChecksumCRC64NVME></CompleteMultipartUploadResult>")
				return true
			}
			return false
		}},
		{name: "200 and an error", sizes: []int{3500}, before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if kind == "COMPLETE" && n == 0 {
				io.WriteString(w, "   \n")
				refuseS3(w, 200, "InternalError")
				return true
			}
			return false
		}},
		{name: "200 and exists", isNew: true, sizes: []int{3500}, wrong: ErrExists, before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if kind == "COMPLETE" {
				refuseS3(w, 200, "PreconditionFailed")
				return true
			}
			return false
		}},
		{name: "the upload ends under it", sizes: []int{3500}, before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if kind == "PART" && n == 2 || kind == "COMPLETE" && n == 0 {
				refuseS3(w, 404, "NoSuchUpload")
				return true
			}
			return false
		}},
		{name: "the upload is half gone", sizes: []int{3500}, before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if kind == "COMPLETE" && n == 0 {
				refuseS3(w, 400, "InvalidRequest")
				return true
			}
			return false
		}},
		{name: "the reply to complete is lost, and the next breaks off", sizes: []int{3500}, log: "CREATE PART PART PART PART COMPLETE COMPLETE HEAD UPLOADS", opts: Options{Connections: 1},
			after: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
				return kind == "COMPLETE" && n == 0 && lose(w)
			},
			before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
				if kind == "COMPLETE" && n == 1 {
					w.WriteHeader(http.StatusNotFound)
					return true
				}
				return false
			}},
		{name: "a part is lost", sizes: []int{3500}, before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if kind == "COMPLETE" && n == 0 {
				refuseS3(w, 400, "InvalidPart")
				return true
			}
			return false
		}},
		{name: "a login", wrong: ErrPage, before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<!doctype html><html><form>")
			return true
		}},
		{name: "huge XML", sizes: []int{3500}, wrong: ErrUnavailable, opts: Options{Retries: 1}, before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if kind == "CREATE" {
				io.WriteString(w, "<InitiateMultipartUploadResult><UploadId>"+strings.Repeat("x", maxAnswer)+"</UploadId></InitiateMultipartUploadResult>")
				return true
			}
			return false
		}},
		{name: "no service", sizes: []int{700}, wrong: ErrUnavailable, text: "no ETag", opts: Options{Retries: 1}, before: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			io.WriteString(w, "welcome")
			return true
		}},
		{name: "MD5 only, and of other bytes", plain: true, sizes: []int{700}, wrong: ErrSum, opts: Options{Retries: 1}, after: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if kind == "PUT" {
				w.Header().Set("Etag", `"0123456789abcdef0123456789abcdef"`)
				return true
			}
			return false
		}},
		{name: "MD5 only, and an ETag of another kind", plain: true, after: func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
			if kind == "PUT" {
				w.Header().Set("Etag", `"version-7"`)
				return true
			}
			return false
		}, sizes: []int{700}, log: "PUT GET"},
	} {
		for _, size := range append(row.sizes, []int{700, 3500}[:2*btoi(row.sizes == nil)]...) {
			t.Run(fmt.Sprint(row.name, " ", size), func(t *testing.T) {
				t.Parallel()
				f := newFakeS3(t)
				f.plain, f.blind, f.before, f.after = row.plain, row.blind, row.before, row.after
				if row.name == "MD5 only, and an ETag of another kind" {
					f.before = func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
						r.Header.Del("If-Match")
						return false
					}
					f.after = func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
						w.Header().Set("Etag", `"version-7"`)
						if kind == "GET" {
							w.Write(f.objects[putKey].data)
						}
						return true
					}
				}
				data := random(size, uint64(size))
				var want []byte
				if row.old {
					want = []byte("old")
					f.objects[putKey] = s3Kept{data: want, etag: "old"}
				}
				o, err := putAll(t, f.client(row.opts, nil), putURL, data, row.isNew)
				if row.wrong == nil {
					want = data
				}
				if !errors.Is(err, row.wrong) || row.wrong == nil && err != nil {
					t.Fatalf("%v: %v", err, strings.Join(f.log, " "))
				}
				if err != nil && !strings.Contains(err.Error(), row.text) {
					t.Error(err)
				}
				f.holds(putKey, want)
				if got := strings.Join(f.log, " "); row.log != "" && got != row.log {
					t.Error(got)
				}
				crc := Sum{"crc64nvme", fmt.Sprintf("%016x", crc64nvme.Checksum(data))}
				if err == nil && !row.plain && o.Sum != crc {
					t.Errorf("%+v", o.Sum)
				}
				if err == nil && row.plain && size <= 1000 && o.Sum != (Sum{"md5", fmt.Sprintf("%x", md5.Sum(data))}) {
					t.Errorf("%+v", o.Sum)
				}
			})
		}
	}
}

// A service says that it has made an object of parts which another process had aborted, as versitygw does: the object
// of that process stays if it is to stay, and is not taken for the one that was sent.
func TestS3PutOvertaken(t *testing.T) {
	for _, isNew := range []bool{false, true} {
		t.Run(fmt.Sprintf("new %v", isNew), func(t *testing.T) {
			t.Parallel()
			f := newFakeS3(t)
			theirs, mine := random(3500, 1), random(3500, 2)
			f.before = func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
				if kind != "COMPLETE" || n > 0 {
					return false
				}
				f.mu.Lock()
				defer f.mu.Unlock()
				f.objects[putKey] = s3Kept{data: theirs, etag: "0123456789abcdef0123456789abcdef-4", crc: crcOf(theirs)}
				clear(f.uploads)
				fmt.Fprint(w, "<CompleteMultipartUploadResult><ETag>&quot;00000000000000000000000000000000-4&quot;</ETag></CompleteMultipartUploadResult>")
				return true
			}
			_, err := putAll(t, f.client(Options{}, nil), putURL, mine, isNew)
			if log := strings.Join(f.log, " "); strings.Contains(log, "DELETE") {
				t.Errorf("it removes what another has made: %s", log)
			}
			if isNew {
				if !errors.Is(err, ErrExists) {
					t.Errorf("new: %v", err)
				}
				f.holds(putKey, theirs)
				return
			}
			if err != nil {
				t.Error(err)
			}
			f.holds(putKey, mine)
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Over https a body is not signed, unless the service insists.
func TestS3PutSigns(t *testing.T) {
	for _, signs := range []bool{false, true} {
		f := newFakeS3(t)
		f.signs = signs
		secure := httptest.NewTLSServer(f)
		defer secure.Close()
		unsigned := 0
		f.before = func(_ http.ResponseWriter, r *http.Request, _ string, _ int) bool {
			unsigned += btoi(r.Header.Get("X-Amz-Content-Sha256") == unsignedPayload)
			return false
		}
		roots := secure.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		c := f.client(Options{tls: &tls.Config{RootCAs: roots}, Connections: 1, Retries: -1}, map[string]string{"AWS_ENDPOINT_URL": secure.URL})
		for _, size := range []int{700, 3500} {
			data := random(size, 1)
			if _, err := putAll(t, c, putURL, data, false); err != nil {
				t.Error(err)
			}
			f.holds(putKey, data)
		}
		if want := map[bool]int{false: 5, true: 1}[signs]; unsigned != want {
			t.Errorf("%d unsigned bodies, want %d", unsigned, want)
		}
	}
}

// An upload is aborted where its context ends, and named where it cannot be.
func TestS3PutEnds(t *testing.T) {
	for _, row := range []struct {
		name string
		text string
		stop func(w http.ResponseWriter, cancel context.CancelCauseFunc, kind string, n int) bool
		left int
	}{
		{"cancelled", "enough", func(w http.ResponseWriter, cancel context.CancelCauseFunc, kind string, n int) bool {
			if kind == "PART" && n == 1 {
				cancel(errors.New("enough"))
			}
			return false
		}, 0},
		{"may not abort", "the parts of upload upload-1 stay", func(w http.ResponseWriter, cancel context.CancelCauseFunc, kind string, n int) bool {
			if kind == "COMPLETE" || kind == "ABORT" {
				refuseS3(w, 403, "AccessDenied")
				return true
			}
			return false
		}, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := newFakeS3(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			f.before = func(w http.ResponseWriter, _ *http.Request, kind string, n int) bool {
				return row.stop(w, cancel, kind, n)
			}
			_, err := f.client(Options{Connections: 1}, nil).Put(ctx, &Upload{URL: putURL, From: bytes.NewReader(random(5000, 1)), Size: 5000})
			if presentable(t, err) == nil || !strings.Contains(err.Error(), row.text) {
				t.Error(err)
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if len(f.uploads) != row.left || len(f.objects) != 0 {
				t.Errorf("%d uploads, %d objects are left", len(f.uploads), len(f.objects))
			}
		})
	}
}

// One connection is left for the parts: none is sent after one that has failed for good.
func TestS3PutFailsOnce(t *testing.T) {
	f := newFakeS3(t)
	f.before = func(w http.ResponseWriter, _ *http.Request, kind string, _ int) bool {
		switch kind {
		case "PART":
			refuseS3(w, 403, "AccessDenied")
		case "ABORT": // else it is asked again, a while later
			refuseS3(w, 404, "NoSuchUpload")
		default:
			return false
		}
		return true
	}
	c := f.client(Options{Connections: 2}, nil)
	<-c.conns // another upload has it
	for i := range 200 {
		_, err := putAll(t, c, putURL, random(3500, 1), false)
		f.mu.Lock()
		n := f.counts["PART"]
		f.mu.Unlock()
		if !errors.Is(err, ErrDenied) || n != i+1 {
			t.Fatalf("%d parts were sent by %d uploads: %v", n, i+1, err)
		}
	}
}

// A service that takes nothing more, or does not answer, is left after a while.
func TestS3PutStalls(t *testing.T) {
	for _, kind := range []string{"before the body", "in the body"} {
		t.Run(kind, func(t *testing.T) {
			f := newFakeS3(t)
			stop := make(chan struct{})
			defer close(stop)
			f.before = func(_ http.ResponseWriter, r *http.Request, of string, _ int) bool {
				if of == "PUT" {
					if kind == "in the body" {
						io.CopyN(io.Discard, r.Body, 10)
					}
					<-stop
				}
				return false
			}
			c := f.client(Options{Stall: 50 * time.Millisecond, Patience: 300 * time.Millisecond, Retries: 1, part: 64 << 20}, nil)
			began := time.Now()
			_, err := putAll(t, c, putURL, random(32<<20, 3), false) // more than the buffers of the connection
			if !errors.Is(err, ErrUnavailable) || time.Since(began) > 20*time.Second {
				t.Errorf("after %v: %v", time.Since(began), err)
			}
		})
	}
}

// A file that cannot be read is told as such, and not tried again.
func TestPutUnreadable(t *testing.T) {
	for _, size := range []int64{700, 3500} {
		f := newFakeS3(t)
		_, err := f.client(Options{}, nil).Put(t.Context(), &Upload{URL: putURL, From: bytes.NewReader(random(500, 1)), Size: size})
		if presentable(t, err) == nil || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
		f.holds(putKey, nil)
	}
}

// Neither credentials nor bytes follow to another host.
func TestS3PutRedirected(t *testing.T) {
	other := start(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was followed") }))
	f := newFakeS3(t)
	f.before = func(w http.ResponseWriter, r *http.Request, _ string, _ int) bool {
		http.Redirect(w, r, other.URL+"/x", http.StatusTemporaryRedirect)
		return true
	}
	for _, size := range []int{700, 3500} {
		if _, err := putAll(t, f.client(Options{}, nil), putURL, random(size, 1), false); !errors.Is(err, ErrSetting) {
			t.Error(err)
		}
	}
	if err := f.client(Options{}, nil).Remove(t.Context(), Object{URL: putURL}); !errors.Is(err, ErrSetting) {
		t.Error(err)
	}
}

func TestS3Remove(t *testing.T) {
	f := newFakeS3(t)
	c := f.client(Options{}, nil)
	if _, err := putAll(t, c, putURL, []byte("text"), false); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Remove(t.Context(), Object{URL: putURL}); err != nil {
			t.Error(err)
		}
	}
	f.holds(putKey, nil)
}

func TestNotWritten(t *testing.T) {
	c := client(t, Options{LookupEnv: environment(map[string]string{"AIS_ENDPOINT": "http://127.0.0.1:1"})})
	for _, url := range []string{"http://127.0.0.1:1/a", "ais://bucket/a", "ftp://host/a"} {
		if _, err := c.Put(t.Context(), &Upload{URL: url, From: bytes.NewReader(nil), Size: 0}); !errors.Is(presentable(t, err), ErrURL) {
			t.Error(err)
		}
		if err := c.Remove(t.Context(), Object{URL: url}); !errors.Is(presentable(t, err), ErrURL) {
			t.Error(err)
		}
		if Writes(schemeOf(url)) {
			t.Error(url)
		}
	}
}

// Read, of a service that cuts.
func TestRead(t *testing.T) {
	f := newFakeS3(t)
	data := random(5000, 1)
	f.objects[putKey] = s3Kept{data: data, etag: "one"}
	f.after = func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
		if off, end, ok := strings.Cut(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-"); ok && kind == "GET" && n == 0 {
			from, _ := strconv.Atoi(off)
			to, _ := strconv.Atoi(end)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/5000", from, to))
			w.Header().Set("Content-Length", fmt.Sprint(to+1-from))
			w.Header().Set("Etag", `"one"`)
			w.WriteHeader(206)
			w.Write(data[from : from+10])
			http.NewResponseController(w).Flush()
			return lose(w)
		}
		return false
	}
	c := f.client(Options{}, nil)
	o, err := c.Stat(t.Context(), putURL)
	must(t, err)
	p := make([]byte, 300)
	if err := c.Read(t.Context(), o, p, 4000); err != nil || !bytes.Equal(p, data[4000:4300]) {
		t.Error(err)
	}
	if err := c.Read(t.Context(), o, p, 4900); !errors.Is(presentable(t, err), ErrLength) && !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	f.objects[putKey] = s3Kept{data: data, etag: "two"}
	if err := c.Read(t.Context(), o, p, 0); !errors.Is(presentable(t, err), ErrChanged) {
		f.t.Error(err)
	}
}
