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

// Start starts a service of a kind, web, ais, s3 or gs, with the dataset in a directory. A web server wants a password, which the
// URL has.
func Start(t testing.TB, kind, dir string, opts testproxy.Options) *Service {
	t.Helper()
	base := filepath.Base(dir)
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
		p := testproxy.Start(t, web.Listener.Addr().String(), opts)
		return &Service{"http://user:" + Password + "@" + p.Address + "/" + base + "/", nil, p}
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
		p := testproxy.Start(t, ais.Listener.Addr().String(), opts)
		return &Service{"ais://bucket/" + base, []string{"AIS_ENDPOINT=http://" + p.Address}, p}
	case "s3":
		s3 := versitygw.Start(t)
		eachFile(t, dir, func(name, file string) { s3.Put(t, "bucket", base+"/"+name, file) })
		p := testproxy.Start(t, s3.Address, opts)
		return &Service{"s3://bucket/" + base + "/", s3.EnvAt(p.Address), p}
	}
	gs := testserver.StartGoogle(t)
	gs.Bucket(t, "bucket")
	eachFile(t, dir, func(name, file string) { gs.Put(t, "bucket", base+"/"+name, file) })
	p := testproxy.Start(t, gs.Address, opts)
	return &Service{"gs://bucket/" + base + "/", gs.EnvAt(p.Address), p}
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
