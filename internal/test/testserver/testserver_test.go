package testserver

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A program that is missing skips a test and says how it is installed.
func TestNeed(t *testing.T) {
	t.Setenv("CI", "")
	a := need.Try(t, func(t testing.TB) { Need(t, "example.org/cmd/no-such-server@v1.2.3") })
	if a.Ended != "skipped" || !strings.Contains(a.Said.String(), "go install example.org/cmd/no-such-server@v1.2.3") {
		t.Errorf("%s: %s", a.Ended, &a.Said)
	}
}

// Every server keeps the bytes of an object, and is gone after Stop.
func TestServers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "object")
	if err := os.WriteFile(file, []byte("bytes"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]S3{"MinIO": MinIO(), "GoFakeS3": GoFakeS3()} {
		t.Run(name, func(t *testing.T) {
			s := kind.Start(t)
			s.Put(t, "bucket", "a/b c+d", file)
			o, err := s.Client.StatObject(t.Context(), "bucket", "a/b c+d", minio.StatObjectOptions{})
			if err != nil || o.Size != 5 {
				t.Errorf("%d bytes, %v", o.Size, err)
			}
			all, err := s.Objects(t.Context(), "bucket", "a/")
			if err != nil || len(all) != 1 || string(all["b c+d"]) != "bytes" {
				t.Errorf("%q, %v", all, err)
			}
			if env := strings.Join(s.Env(), " "); !strings.Contains(env, s.Address) {
				t.Errorf("%s does not name %s", env, s.Address)
			}
			s.Stop()
			if _, err := s.Client.ListBuckets(t.Context()); err == nil {
				t.Error("it answers after it was stopped")
			}
		})
	}
	t.Run("Google", func(t *testing.T) {
		g := StartGoogle(t)
		g.Bucket(t, "bucket")
		g.Put(t, "bucket", "a/b c+d", file)
		address := "http://" + g.Address + "/storage/v1/b/bucket/o/a%2Fb%20c%2Bd"
		if _, err := exchange(http.MethodGet, address, nil); err != nil {
			t.Error(err)
		}
		all, err := g.Objects("bucket", "a/")
		if err != nil || len(all) != 1 || string(all["b c+d"]) != "bytes" {
			t.Errorf("%q, %v", all, err)
		}
		g.Stop()
		if _, err := exchange(http.MethodGet, address, nil); err == nil {
			t.Error("it answers after it was stopped")
		}
	})
}

// Policies hold for everybody without credentials, and a small disk is full at its size.
func TestRightsAndDisk(t *testing.T) {
	kind := MinIO()
	kind.Disk = "16m"
	NeedDisk(t)
	s := kind.Start(t)
	s.Bucket(t, "bucket")
	s.Allow(t, "bucket", Grant{User: "*", Objects: []string{"s3:PutObject"}})
	anonymous := func(method string, size int) string {
		req, err := http.NewRequest(method, "http://"+s.Address+"/bucket/object", bytes.NewReader(make([]byte, size)))
		if err != nil {
			t.Fatal(err)
		}
		if size > 0 { // else a refusal could be lost with the connection, which is closed while the body is sent
			req.Header.Set("Expect", "100-continue")
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.Status[:3]
	}
	got := strings.Join([]string{anonymous("PUT", 1<<20), anonymous("GET", 0), anonymous("DELETE", 0), anonymous("PUT", 20<<20)}, " ")
	if got != "200 403 403 507" {
		t.Errorf("put, get, delete, put more than the disk has: HTTP %s", got)
	}
}
