package main

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ffconvert/ffconvert/internal/test/versitygw"
)

// offline are the variables that keep a script's programs on this machine: no proxy, no
// metadata server, no profile of whoever runs the tests.
var offline = []string{
	"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
	"NO_GCE_CHECK=true", "GCE_METADATA_HOST=127.0.0.1:1", "GOOGLE_APPLICATION_CREDENTIALS=",
	"HTTP_PROXY=", "HTTPS_PROXY=", "NO_PROXY=*",
}

// scriptTest is the key of a script's test.
type scriptTest struct{}

// s3 starts a real S3 server and stores files in a bucket of it: s3 bucket prefix/ file...
func s3(ts *testscript.TestScript, _ bool, args []string) {
	s3start(ts)
	s3more(ts, false, args)
}

// s3start starts the server of a script, and leads its programs there. An object is a file $S3DATA/BUCKET/NAME.
func s3start(ts *testscript.TestScript) {
	t := ts.Value(scriptTest{}).(testing.TB)
	versitygw.Need(t)
	dir := t.TempDir()
	server, err := versitygw.Run(dir)
	ts.Check(err)
	t.Cleanup(server.Stop)
	ts.Setenv("S3DATA", filepath.Join(dir, "data"))
	ts.Value(s3Servers{}).(map[string]*versitygw.Server)[""] = server
	for _, v := range server.Env() {
		name, value, _ := strings.Cut(v, "=")
		ts.Setenv(name, value)
	}
}

// s3Servers is the key of a script's S3 server, which is the one there is.
type s3Servers struct{}

// s3more stores more files there: s3more bucket prefix/ file...
func s3more(ts *testscript.TestScript, _ bool, args []string) {
	server := ts.Value(s3Servers{}).(map[string]*versitygw.Server)[""]
	for _, file := range args[2:] {
		server.Put(ts.Value(scriptTest{}).(testing.TB), args[0], args[1]+filepath.Base(file), ts.MkAbs(file))
	}
}

// s3tree stores the files below a directory under their paths, in a server that it starts
// where there is none: s3tree bucket prefix/ dir
func s3tree(ts *testscript.TestScript, _ bool, args []string) {
	if ts.Value(s3Servers{}).(map[string]*versitygw.Server)[""] == nil {
		s3start(ts)
	}
	dir := ts.MkAbs(args[2])
	ts.Check(filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		below, err := filepath.Rel(dir, filepath.Dir(path))
		s3more(ts, false, []string{args[0], args[1] + strings.TrimPrefix(filepath.ToSlash(below)+"/", "./"), path})
		return err
	}))
}

// A webServer serves the files of a directory over HTTP, and does not always do so well.
type webServer struct {
	*httptest.Server
	dir string

	mu       sync.Mutex
	rng      *rand.Rand
	cuts     int   // connections that are still to be cut
	sent     int64 // bytes of files
	requests int
}

// web starts a server: web NAME DIR [cuts]. $NAME is its URL then, $NAME_HOST its host and port. What lies under /html,
// /403, /401, /503 of it is answered by that; under /more bytes come after the end of a file,
// under /chunked its size is not told.
func web(ts *testscript.TestScript, _ bool, args []string) {
	t := ts.Value(scriptTest{}).(testing.TB)
	w := &webServer{dir: ts.MkAbs(args[1]), rng: rand.New(rand.NewPCG(6, 6))}
	if len(args) > 2 {
		var err error
		w.cuts, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	w.Server = httptest.NewServer(w)
	t.Cleanup(w.Close)
	ts.Setenv(args[0], w.URL)
	ts.Setenv(args[0]+"_HOST", strings.TrimPrefix(w.URL, "http://"))
	ts.Value(webServers{}).(servers)[args[0]] = w
}

// servers are those of a script, by name.
type servers map[string]*webServer

// webServers is their key.
type webServers struct{}

func (w *webServer) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	switch first, _, _ := strings.Cut(r.URL.Path[1:], "/"); first {
	case "html":
		out.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(out, "<!DOCTYPE html><html><body>please log in</body></html>")
		return
	case "401", "403", "503":
		status, _ := strconv.Atoi(first)
		http.Error(out, "no", status)
		return
	}
	first, path, _ := strings.Cut(r.URL.Path[1:], "/")
	if first != "more" && first != "chunked" {
		first, path = "", r.URL.Path
	}
	file := filepath.Join(w.dir, filepath.FromSlash(path))
	st, err := os.Stat(file)
	if err != nil || st.IsDir() {
		http.NotFound(out, r)
		return
	}
	out.Header().Set("ETag", fmt.Sprintf(`"%x-%x"`, st.Size(), st.ModTime().UnixNano()))
	f, err := os.Open(file)
	if err != nil {
		http.Error(out, err.Error(), http.StatusInternalServerError)
		return
	}
	defer f.Close()
	body := &cutting{ResponseWriter: out, w: w, left: w.begin(r)}
	switch first {
	case "more":
		w.more(out, r, f, st.Size())
	case "chunked":
		out.(http.Flusher).Flush()
		if r.Method == http.MethodGet {
			io.Copy(body, f)
		}
	default:
		http.ServeContent(body, r, "", st.ModTime(), f)
	}
}

// more answers with a file, and with more than its announced length.
func (w *webServer) more(out http.ResponseWriter, r *http.Request, f io.Reader, size int64) {
	conn, buf, err := http.NewResponseController(out).Hijack()
	if err != nil {
		panic(err)
	}
	defer conn.Close()
	fmt.Fprintf(buf, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size)
	if r.Method == http.MethodGet {
		io.Copy(buf, f)
		fmt.Fprint(buf, "\x1b[2Jand more")
	}
	buf.Flush()
}

// begin counts a request, and says after how many bytes its connection is cut: −1, never.
func (w *webServer) begin(r *http.Request) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests++
	if w.cuts == 0 || r.Method != http.MethodGet {
		return -1
	}
	w.cuts--
	return w.rng.Int64N(8 << 10)
}

// A cutting writer cuts the connection once it has written so many bytes.
type cutting struct {
	http.ResponseWriter
	w    *webServer
	left int64
}

func (c *cutting) Write(p []byte) (int, error) {
	cut := c.left >= 0 && int64(len(p)) > c.left
	if cut {
		p = p[:c.left]
	}
	c.w.count(len(p)) // before: a client that has them may be all there is to wait for
	n, err := c.ResponseWriter.Write(p)
	c.w.count(n - len(p))
	if cut {
		c.ResponseWriter.(http.Flusher).Flush() // what was sent arrives
		panic(http.ErrAbortHandler)
	}
	if c.left >= 0 {
		c.left -= int64(n)
	}
	return n, err
}

// count counts bytes of files.
func (w *webServer) count(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent += int64(n)
}

// sent asserts what a server has sent: sent NAME BYTES, and no more than BYTES × 1.05; with
// a third argument, that so many connections were cut and none is left to be.
func sent(ts *testscript.TestScript, _ bool, args []string) {
	w := ts.Value(webServers{}).(servers)[args[0]]
	want, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sent < want || float64(w.sent) > 1.05*float64(want) || w.cuts > 0 {
		ts.Fatalf("%d bytes sent of %d in %d requests; %d connections are not cut yet", w.sent, want, w.requests, w.cuts)
	}
	w.sent, w.requests = 0, 0
}

// requested asserts how many requests a server has had: requested NAME N
func requested(ts *testscript.TestScript, _ bool, args []string) {
	w := ts.Value(webServers{}).(servers)[args[0]]
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.requests != want {
		ts.Fatalf("%d requests, want %d", w.requests, want)
	}
	w.sent, w.requests = 0, 0
}

// sameShards asserts that two datasets have the same shards, indexes and meta.json, of
// whatever sources: sameshards a b
func sameShards(ts *testscript.TestScript, _ bool, args []string) {
	sameFiles(ts, args, "*.ffr", "index/*", "meta.json")
}
