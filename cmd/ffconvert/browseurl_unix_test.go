//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A filesServer serves a directory. While hangs is set, a request for an index is noted, and not answered.
type filesServer struct {
	dir   string
	hangs atomic.Bool
	asked chan struct{}
}

func (s *filesServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.hangs.Load() && r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, ".arrow") {
		select {
		case s.asked <- struct{}{}:
		default:
		}
		<-r.Context().Done()
		return
	}
	http.FileServer(http.Dir(s.dir)).ServeHTTP(w, r)
}

// What browse has fetched is gone when it ends, by whatever signal, also one that comes while it fetches.
func TestBrowseURLEnds(t *testing.T) {
	t.Parallel()
	need.Time(t, "processes that are signalled and waited for")
	dir := t.TempDir()
	madeHere(t, filepath.Join(dir, "out"))
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		signal syscall.Signal
		hangs  bool
	}{
		{"Ctrl-C", syscall.SIGINT, false},
		{"Ctrl-C while an index is fetched", syscall.SIGINT, true},
		{"SIGTERM", syscall.SIGTERM, false},
		{"SIGHUP while an index is fetched", syscall.SIGHUP, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			files := &filesServer{dir: dir, asked: make(chan struct{}, 1)}
			server := httptest.NewServer(files)
			t.Cleanup(server.Close)
			scratch := t.TempDir()
			var stderr bytes.Buffer
			cmd := exec.Command(exe)
			cmd.Args = []string{"ffconvert", "browse", "--scratch-dir", scratch, server.URL + "/out", filepath.Join(dir, "out")}
			cmd.Stderr = &stderr
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			link, err := bufio.NewReader(stdout).ReadString('\n')
			if err != nil {
				cmd.Wait()
				t.Fatalf("%v: %s", err, &stderr)
			}
			jar, _ := cookiejar.New(nil)
			client := &http.Client{Jar: jar, Timeout: time.Minute}
			get := func(url string) string {
				resp, err := client.Get(url)
				if err != nil {
					return err.Error()
				}
				defer resp.Body.Close()
				text, _ := io.ReadAll(resp.Body)
				return string(text)
			}
			get(strings.TrimSpace(link))
			origin, _, _ := strings.Cut(link, "/?")
			ended := make(chan string, 1)
			files.hangs.Store(row.hangs)
			go func() { ended <- get(origin + "/d/0/grid") }()
			if row.hangs {
				<-files.asked
			} else if page := <-ended; !strings.Contains(page, "000000") {
				t.Errorf("a grid without samples: %s", page)
			}
			if left, err := filepath.Glob(filepath.Join(scratch, "ffconvert-look-*", "looked", "*.arrow")); len(left) == 0 {
				t.Errorf("indexes in the scratch: %q, %v", left, err)
			}
			cmd.Process.Signal(row.signal)
			cmd.Wait()
			status := cmd.ProcessState.ExitCode()
			if left, err := os.ReadDir(scratch); status != exitOK || len(left) > 0 || err != nil {
				t.Errorf("status %d, left %v, %v: %s", status, left, err, &stderr)
			}
		})
	}
}

// What cannot be looked at is told in one line, before a server is there, and leaves nothing in the scratch.
func TestLookURLRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	madeHere(t, filepath.Join(dir, "out"))
	for name, change := range map[string]func(string) error{
		"begun":   func(dir string) error { return os.Remove(filepath.Join(dir, "manifest.json")) },
		"nothing": os.RemoveAll,
		"damaged": func(dir string) error {
			text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
			if err != nil {
				return err
			}
			text[len(text)/2] ^= 1
			return os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o644)
		},
	} {
		at := filepath.Join(dir, name)
		if err := os.CopyFS(at, os.DirFS(filepath.Join(dir, "out"))); err != nil {
			t.Fatal(err)
		}
		if err := change(at); err != nil {
			t.Fatal(err)
		}
	}
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch first, _, _ := strings.Cut(r.URL.Path[1:], "/"); first {
		case "401", "503":
			w.WriteHeader(map[string]int{"401": http.StatusUnauthorized, "503": http.StatusServiceUnavailable}[first])
		case "page":
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<!DOCTYPE html><html>please log in</html>")
		default:
			files.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	for _, row := range []struct {
		url    string
		status int
		want   string
	}{
		{"/nothing/", exitRefused, "/nothing/: no dataset is there: it has no manifest.json"},
		{"/begun", exitRefused, "/begun/: the dataset is not finished"},
		{"/damaged/", exitCorrupt, "/damaged/manifest.json: manifest is damaged"},
		{"/401/data?token=s3cr3t", exitRefused, "/401/data/manifest.json?token=REDACTED: access denied: HTTP 401 Unauthorized"},
		{"/503/data/", exitIO, "/503/data/manifest.json: the service does not answer: HTTP 503 Service Unavailable"},
		{"/page/data/", exitRefused, "/page/data/manifest.json: an HTML page in place of data"},
		{"/out/PART_00000.ffr", exitUsage, "/out/PART_00000.ffr: a shard in an object store is looked at with its dataset"},
	} {
		for _, command := range [][]string{{"browse"}, {"ls"}, {"get", "URL", "key"}, {"inspect"}, {"diff", "URL", filepath.Join(dir, "out")}} {
			scratch := t.TempDir()
			args := []string{command[0], "--scratch-dir", scratch, "--retries", "0"}
			for _, word := range append(command[1:], "URL")[:max(1, len(command)-1)] {
				args = append(args, strings.Replace(word, "URL", server.URL+row.url, 1))
			}
			out := ffconvert(t, dir, args...)
			left, err := os.ReadDir(scratch)
			if out.status != row.status || out.stdout != "" ||
				!strings.HasPrefix(out.stderr, "ffconvert: "+server.URL+row.want) || strings.Count(out.stderr, "\n") != 1 || strings.Contains(out.stderr, "s3cr3t") || len(left) > 0 {
				t.Errorf("%s, left %v, %v; want status %d and %s", out, left, err, row.status, row.want)
			}
		}
	}
}
