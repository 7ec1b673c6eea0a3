// Package services starts services of each kind with a dataset in them, behind a proxy that counts and disturbs requests.
// Only tests import it.
//
//	s := services.Start(t, "s3", "testdata/out", testproxy.Options{})
//	cmd.Env = append(os.Environ(), s.Env...)
package services

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	neturl "net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/aisfake"
	"github.com/ffconvert/ffconvert/internal/test/testproxy"
	"github.com/ffconvert/ffconvert/internal/test/testserver"
	"github.com/ffconvert/ffconvert/internal/test/versitygw"
)

// Password is what the URL of a web server has, and no output may.
const Password = "s3cr3t"

// A Service has a dataset at a URL. Requests pass a proxy.
type Service struct {
	URL string
	Env []string // environment variables that lead a client there

	proxy *testproxy.Proxy
}

// eachFile calls put with the files of a directory, by their paths in it.
func eachFile(t testing.TB, dir string, put func(name, file string)) {
	t.Helper()
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		put(filepath.ToSlash(name), file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Start starts a service of a kind, as [Serve] has them, with the dataset in a directory.
func Start(t testing.TB, kind, dir string, opts testproxy.Options) *Service {
	t.Helper()
	return Serve(t, kind, dir).Behind(t, opts)
}

// A Server has a dataset. Any number of proxies may stand before it.
type Server struct {
	address string // host:port
	at      func(address string) (url string, env []string)
}

// Behind starts a proxy in front of the server.
func (s *Server) Behind(t testing.TB, opts testproxy.Options) *Service {
	t.Helper()
	p := testproxy.Start(t, s.address, opts)
	url, env := s.at(p.Address)
	return &Service{url, env, p}
}

// Serve starts a server of a kind with the dataset in a directory: web, nginx, ais, s3 (versitygw), minio or gs. web is Go's, and
// wants a password, which the URL has.
func Serve(t testing.TB, kind, dir string) *Server {
	t.Helper()
	base := filepath.Base(dir)
	in := func(scheme string, env func(address string) []string) func(string) (string, []string) {
		return func(address string) (string, []string) { return scheme + "://bucket/" + base + "/", env(address) }
	}
	switch kind {
	case "web":
		files := http.FileServer(http.Dir(filepath.Dir(dir)))
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if user, word, _ := r.BasicAuth(); user != "user" || word != Password {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			files.ServeHTTP(w, r)
		}))
		t.Cleanup(web.Close)
		return &Server{web.Listener.Addr().String(), func(address string) (string, []string) {
			return "http://user:" + Password + "@" + address + "/" + base + "/", nil
		}}
	case "nginx":
		nginx := testserver.StartNginx(t, filepath.Dir(dir))
		return &Server{nginx.Address, func(address string) (string, []string) { return "http://" + address + "/" + base + "/", nil }}
	case "ais":
		ais := aisfake.Start(t)
		ais.Bucket("bucket", aisfake.Bucket{Versions: true, Checksum: true})
		eachFile(t, dir, func(name, file string) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			ais.Put("bucket", base+"/"+name, data)
		})
		return &Server{ais.Listener.Addr().String(), in("ais", func(address string) []string { return []string{"AIS_ENDPOINT=http://" + address} })}
	case "s3", "minio":
		program := versitygw.Kind()
		if kind == "minio" {
			program = testserver.MinIO()
		}
		s3 := program.Start(t)
		eachFile(t, dir, func(name, file string) { s3.Put(t, "bucket", base+"/"+name, file) })
		return &Server{s3.Address, in("s3", s3.EnvAt)}
	case "gs":
		gs := testserver.StartGoogle(t)
		gs.Bucket(t, "bucket")
		eachFile(t, dir, func(name, file string) { gs.Put(t, "bucket", base+"/"+name, file) })
		return &Server{gs.Address, in("gs", gs.EnvAt)}
	}
	t.Fatalf("no service %q", kind)
	return nil
}

// LookupEnv looks a variable up in Env, and nowhere else.
func (s *Service) LookupEnv(key string) (string, bool) {
	for _, v := range s.Env {
		if value, ok := strings.CutPrefix(v, key+"="); ok {
			return value, true
		}
	}
	return "", false
}

// Requests counts the requests for each file, by its base name.
func (s *Service) Requests() map[string]int {
	all := map[string]int{}
	for _, r := range s.proxy.Requests() {
		path, err := neturl.PathUnescape(r.Path)
		if err != nil {
			path = r.Path
		}
		path, _, _ = strings.Cut(path, "?")
		all[path[strings.LastIndexByte(path, '/')+1:]]++
	}
	return all
}
