package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// nginx starts the web server of that name over the files in a directory, and gives its URL
// and the path of its log of requests. It is on the machines that CI runs on.
func nginx(t *testing.T, root string) (url, log string) {
	t.Helper()
	program := need.Tool(t, "nginx")
	dir := t.TempDir()
	log = filepath.Join(dir, "access.log")
	for range 5 { // another test may take the port in between
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		addr := l.Addr().String()
		must(t, l.Close())
		config := filepath.Join(dir, "nginx.conf")
		must(t, os.WriteFile(config, fmt.Appendf(nil, `
daemon off;
master_process off;
worker_processes 1;
pid %[1]s/pid;
error_log %[1]s/error.log;
events { worker_connections 64; }
http {
	log_format requests '$request_method $status "$http_range" $body_bytes_sent';
	access_log %[1]s/access.log requests;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	default_type application/octet-stream;
	server {
		listen %[2]s;
		root %[3]s;
		location /plain/ { alias %[3]s/; }
		location /weak/ { alias %[3]s/; etag off; }
		location /noranges/ { alias %[3]s/; max_ranges 0; }
		location /slow/ { alias %[3]s/; limit_rate 2m; }
		location /get/ { alias %[3]s/; if ($request_method != GET) { return 403; } }
		location /gzip/ { alias %[3]s/; gzip on; gzip_types *; gzip_min_length 1; }
		location /busy/ { return 503; }
		location /moved/ { rewrite ^/moved/(.*)$ /plain/$1 redirect; }
	}
}
`, dir, addr, root), 0o600))
		var out bytes.Buffer
		ctx, cancel := context.WithCancel(context.Background())
		cmd := exec.CommandContext(ctx, program, "-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", config)
		cmd.Stdout, cmd.Stderr = &out, &out
		must(t, cmd.Start())
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		stop := func() { cancel(); <-ended }
		for range 1000 {
			conn, err := net.Dial("tcp", addr)
			if err == nil {
				conn.Close()
				t.Cleanup(stop)
				return "http://" + addr, log
			}
			select {
			case err := <-ended:
				ended <- err
			case <-time.After(20 * time.Millisecond):
				continue
			}
			break
		}
		stop()
		t.Logf("nginx did not start: %s", &out)
	}
	t.Fatal("nginx did not start")
	return "", ""
}

// A real web server, in its ways: strong and no ETags, no ranges, slow ones, only GET.
func TestNginx(t *testing.T) {
	t.Parallel()
	need.Time(t, "a real web server")
	data := random(3<<20+11, 16)
	root := t.TempDir()
	must(t, os.WriteFile(filepath.Join(root, "x.tar"), data, 0o644))
	must(t, os.WriteFile(filepath.Join(root, "empty"), nil, 0o644))
	must(t, os.WriteFile(filepath.Join(root, "page.tar"), []byte(page), 0o644))
	url, log := nginx(t, root)
	c := client(t, Options{RangeSize: 1 << 20, Connections: 4, Retries: 2})
	for _, path := range []string{"plain/x.tar", "weak/x.tar", "noranges/x.tar", "slow/x.tar", "get/x.tar", "gzip/x.tar", "moved/x.tar"} {
		f, o, err := fetchAll(t, c, url+"/"+path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		f.holds(t, data)
		if o.Size != int64(len(data)) || o.Modified.IsZero() || (o.Version == "") != strings.HasPrefix(path, "weak") {
			t.Errorf("%s: %+v", path, o)
		}
	}
	f, _, err := fetchAll(t, c, url+"/plain/empty")
	must(t, err)
	f.holds(t, nil)
	for _, row := range []struct {
		path string
		want error
	}{{"plain/missing", ErrNotFound}, {"plain/", ErrDenied}, {"busy/x.tar", ErrUnavailable}, {"plain/page.tar", ErrPage}} {
		if _, _, err := fetchAll(t, c, url+"/"+row.path); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", row.path, err, row.want)
		}
	}
	for _, path := range []string{"plain/x.tar", "weak/x.tar"} { // one with If-Match, one with If-Unmodified-Since
		o, err := c.Stat(t.Context(), url+"/"+path)
		must(t, err)
		must(t, os.Chtimes(filepath.Join(root, "x.tar"), time.Time{}, o.Modified.Add(time.Hour)))
		if _, err := fetchObject(t, t.Context(), c, o); !errors.Is(err, ErrChanged) {
			t.Errorf("%s, changed: %v", path, err)
		}
	}
	wants := map[string]int{
		`GET 206 "bytes=1048576-2097151" 1048576`: 6, `GET 412`: 2, "HEAD 403": 2,
		fmt.Sprintf(`GET 200 "bytes=0-1048575" %d`, len(data)): 1,
	}
	var missing string
	for range 1000 { // a request is logged after its reply
		requests, err := os.ReadFile(log)
		must(t, err)
		missing = ""
		for line, want := range wants {
			if n := strings.Count(string(requests), line); n != want {
				missing = fmt.Sprintf("%d requests %s, want %d:\n%s", n, line, want, requests)
			}
		}
		if missing == "" {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error(missing)
}
