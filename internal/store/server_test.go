package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// password stands wherever a credential may. No error may show it.
const password = "hunter2"

// A memFile is a File in memory that knows what was written.
type memFile struct {
	mu    sync.Mutex
	b     []byte
	wrote [][2]int // from, to
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	end := int(off) + len(p)
	if end > len(f.b) {
		f.b = slices.Grow(f.b, end-len(f.b))[:end]
	}
	f.wrote = append(f.wrote, [2]int{int(off), end})
	return copy(f.b[off:], p), nil
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if off >= int64(len(f.b)) {
		return 0, io.EOF
	}
	n := copy(p, f.b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// holds fails the test unless f is data, each byte of it written once.
func (f *memFile) holds(t *testing.T, data []byte) {
	t.Helper()
	if !bytes.Equal(f.b, data) {
		t.Fatalf("%d bytes of %d have come, or others", len(f.b), len(data))
	}
	slices.SortFunc(f.wrote, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	end := 0
	for _, w := range f.wrote {
		if w[0] != end {
			t.Fatalf("written to byte %d, then from byte %d", end, w[0])
		}
		end = w[1]
	}
	if end != len(data) {
		t.Fatalf("%d bytes of %d were written", end, len(data))
	}
}

func random(n int, seed uint64) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(b)
	if n > 0 {
		b[0] = 'x' // never a page
	}
	return b
}

// An origin serves one object at every path, as a good server does, and can be made a bad one.
type origin struct {
	data     []byte
	etag     string
	modified time.Time
	// before may answer in place of the server; true: it has. gets counts GETs from 0.
	before func(w http.ResponseWriter, r *http.Request, gets int) bool

	gets   atomic.Int64
	served atomic.Int64 // bytes of bodies of GET
	mu     sync.Mutex
	cuts   map[int64]bool // offsets at which a connection is cut, once

	cutFrom int // the first GET, from 0, that is cut: one before it may still be served when it comes
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	gets := -1
	if r.Method == http.MethodGet {
		gets = int(o.gets.Add(1)) - 1
	}
	if o.before != nil && o.before(w, r, gets) {
		return
	}
	o.serve(w, r, gets)
}

func (o *origin) serve(w http.ResponseWriter, r *http.Request, gets int) {
	if o.etag != "" && w.Header().Get("Etag") == "" {
		w.Header().Set("Etag", o.etag)
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/octet-stream")
	}
	http.ServeContent(&cutter{ResponseWriter: w, o: o, whole: gets < o.cutFrom}, r, "", o.modified, bytes.NewReader(o.data))
}

// A cutter writes a body up to the next cut.
type cutter struct {
	http.ResponseWriter
	o     *origin
	off   int64
	whole bool // it is never cut
}

func (c *cutter) WriteHeader(code int) {
	if off, _, _, ok := contentRange(c.Header().Get("Content-Range")); ok {
		c.off = off
	}
	c.ResponseWriter.WriteHeader(code)
}

func (c *cutter) Write(p []byte) (int, error) {
	if i, cut := c.cut(len(p)); cut {
		c.ResponseWriter.Write(p[:i])
		c.o.served.Add(int64(i))
		http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	c.off += int64(len(p))
	c.o.served.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

// cut takes the first cut among the next n bytes.
func (c *cutter) cut(n int) (i int, found bool) {
	if c.whole {
		return 0, false
	}
	o, off := c.o, c.off
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := 0; i < n && len(o.cuts) > 0; i++ {
		if o.cuts[off+int64(i)] {
			delete(o.cuts, off+int64(i))
			return i, true
		}
	}
	return 0, false
}

// start serves h on the loopback.
func start(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.Config.ErrorLog = quiet
	srv.Start()
	t.Cleanup(srv.Close)
	return srv
}

// client is a Client that waits for next to nothing, knows no environment and keeps nothing.
func client(t testing.TB, opts Options) *Client {
	t.Helper()
	if opts.LookupEnv == nil {
		opts.LookupEnv = func(string) (string, bool) { return "", false }
	}
	if opts.wait == 0 {
		opts.wait = time.Millisecond
	}
	c := New(opts)
	t.Cleanup(c.Close)
	return c
}

// fetchAll is Stat and Fetch. It checks that progress has told each byte once where there is
// no error, and that an error is fit to be shown where there is one.
func fetchAll(t *testing.T, c *Client, url string) (*memFile, Object, error) {
	t.Helper()
	o, err := c.Stat(t.Context(), url)
	if err != nil {
		return nil, o, presentable(t, err)
	}
	f, err := fetchObject(t, t.Context(), c, o)
	return f, o, err
}

func fetchObject(t *testing.T, ctx context.Context, c *Client, o Object) (*memFile, error) {
	t.Helper()
	f := &memFile{b: make([]byte, 0, min(max(o.Size, 0), 8<<20))} // not more: a size may be a lie
	var told int64
	err := c.Fetch(ctx, o, f, func(n int64) { told += n })
	if err == nil && told != int64(len(f.b)) {
		t.Errorf("progress was told of %d bytes of %d", told, len(f.b))
	}
	return f, presentable(t, err)
}

// presentable returns err, after a look at how it reads.
func presentable(t *testing.T, err error) error {
	t.Helper()
	if err == nil {
		return nil
	}
	text := err.Error()
	if strings.Contains(text, password) {
		t.Errorf("it shows a password: %s", text)
	}
	if strings.ContainsFunc(text, unprintable) {
		t.Errorf("it is not a line: %q", text)
	}
	if strings.Contains(text, "%!") {
		t.Errorf("bad format: %s", text)
	}
	if e, ok := errors.AsType[*Error](err); ok && !strings.HasPrefix(text, e.URL+": ") {
		t.Errorf("it does not begin with the object: %s", text)
	}
	return err
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var quiet = log.New(io.Discard, "", 0)
