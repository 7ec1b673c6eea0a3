package main

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// An s3List is a service that lists what keys it likes, all of the same object.
type s3List struct {
	keys  []string
	hangs atomic.Bool   // it answers no request for an object
	asked chan struct{} // gets a value at each
}

const s3Object = "some bytes"

func (s *s3List) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Last-Modified", "Tue, 01 Jul 2025 10:00:00 GMT")
	if !r.URL.Query().Has("list-type") {
		select {
		case s.asked <- struct{}{}:
		default:
		}
		if s.hangs.Load() {
			<-r.Context().Done()
			return
		}
		w.Header().Set("ETag", `"v"`)
		fmt.Fprint(w, s3Object)
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	fmt.Fprint(w, `<?xml version="1.0"?><ListBucketResult><Name>bkt</Name><IsTruncated>false</IsTruncated>`)
	for _, key := range s.keys {
		fmt.Fprintf(w, `<Contents><Key>%s</Key><LastModified>2025-07-01T10:00:00.000Z</LastModified><ETag>"v"</ETag><Size>%d</Size></Contents>`, html.EscapeString(key), len(s3Object))
	}
	fmt.Fprint(w, `</ListBucketResult>`)
}

// folderOf returns the arguments that convert the folder d/ of a service.
func folderOf(t *testing.T, s *s3List, args ...string) []string {
	t.Helper()
	s.asked = make(chan struct{}, 1)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return append([]string{"folder", "--anonymous", "--s3-endpoint", server.URL, "--s3-region", "us-east-1"}, append(args, "s3://bkt/d", "out")...)
}

// A key leads nowhere but into the cache, or is refused before anything is made.
func TestSecurityRemoteFolder(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		keys []string
		want string // "": taken
	}{
		{[]string{"d/a/1.jpg", "d/b/..2.jpg"}, ""},
		{[]string{"d/../../../escaped"}, "s3://bkt/d/../../../escaped: its key cannot be the path of a file: the name .., which leads elsewhere"},
		{[]string{"d/a/../../out/x"}, "leads elsewhere"},
		{[]string{"d//etc/escaped"}, "no letters"},
		{[]string{"d/a", "d/a/1.jpg"}, "s3://bkt/d/a/1.jpg: its key cannot be the path of a file: a file cannot be below s3://bkt/d/a, which is a file, too"},
		{[]string{"d/" + strings.Repeat("n", 256)}, "255 bytes"},
		{[]string{"d/b", "d/a"}, "s3://bkt/d"},
		{[]string{"elsewhere"}, "s3://bkt/d"},
	} {
		dir := t.TempDir()
		out := ffconvert(t, dir, folderOf(t, &s3List{keys: row.keys}, "--flat", "--hidden")...)
		left, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case row.want == "" && (out.status != exitOK || !strings.Contains(out.stderr, "2 samples")):
			t.Error(out)
		case row.want != "" && (out.status != exitRefused && out.status != exitUsage || strings.HasPrefix(row.want, "s3://bkt/d/") && out.status != exitRefused ||
			!strings.Contains(out.stderr, row.want) || strings.Count(withoutProgress(out.stderr), "\n") != 1 || len(left) > 0):
			t.Errorf("%s: want %q, left %v", out, row.want, left)
		}
	}
}

// A run that is stopped while it fetches leaves nothing; of one that is killed the next one
// removes what it has left.
func TestRemoteFolderStopped(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		dir := t.TempDir()
		s := &s3List{keys: []string{"d/a/1.jpg", "d/b/2.jpg"}}
		args := folderOf(t, s, "--cache-dir", "cache")
		s.hangs.Store(true)
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Args, cmd.Dir = append([]string{"ffconvert"}, args...), dir
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-s.asked:
		case <-time.After(20 * time.Second):
			t.Error("nothing is fetched")
		}
		if trees(t, dir) != 1 {
			t.Errorf("%d trees while it is fetched", trees(t, dir))
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		_, cerr := os.Lstat(filepath.Join(dir, "cache"))
		switch {
		case signal == syscall.SIGKILL && trees(t, dir) != 1:
			t.Error("this test kills too late")
		case signal == syscall.SIGINT && (cmd.ProcessState.ExitCode() != 128+int(signal) || cerr == nil):
			t.Errorf("%v, cache: %v", cmd.ProcessState, cerr)
		}
		s.hangs.Store(false)
		out := ffconvert(t, dir, args...)
		if _, err := os.Lstat(filepath.Join(dir, "cache")); out.status != exitOK || !strings.Contains(out.stderr, "2 samples") || err == nil {
			t.Errorf("%s, cache: %v", out, err)
		}
		again := ffconvert(t, dir, args...)
		if again.status != exitOK || !strings.Contains(again.stderr, "complete since") {
			t.Error(again)
		}
	}
}

// trees counts the directories of the cache.
func trees(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "cache"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return len(slices.DeleteFunc(entries, func(e os.DirEntry) bool { return !e.IsDir() }))
}
