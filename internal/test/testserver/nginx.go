package testserver

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// An Nginx is a running nginx over the files in a directory.
type Nginx struct {
	*Process
	Log string // the path of its log of requests: method, status, range, bytes of the body
}

// StartNginx starts the web server of that name, which runs until the test ends. It is on the machines that CI runs on. A path
// may begin with one of its ways: weak (no ETag), noranges, slow, get (nothing else), gzip, busy, moved; or with plain.
func StartNginx(t testing.TB, root string) *Nginx {
	t.Helper()
	program, dir := need.Tool(t, "nginx"), t.TempDir()
	config := filepath.Join(dir, "nginx.conf")
	n := &Nginx{Log: filepath.Join(dir, "access.log")}
	var err error
	n.Process, err = start(program, func(program, address string) *exec.Cmd {
		if err := os.WriteFile(config, fmt.Appendf(nil, nginxConfig, dir, address, root), 0o600); err != nil {
			t.Fatal(err)
		}
		return exec.Command(program, "-p", dir, "-e", filepath.Join(dir, "error.log"), "-c", config)
	}, func(address string) error {
		c, err := net.Dial("tcp", address)
		if err == nil {
			err = c.Close()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	return n
}

const nginxConfig = `
daemon off;
master_process off;
worker_processes 1;
pid %[1]s/pid;
error_log %[1]s/error.log;
events { worker_connections 1024; }
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
`
