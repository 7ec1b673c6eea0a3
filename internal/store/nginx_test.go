package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/testserver"
)

// A real web server, in its ways: strong and no ETags, no ranges, slow ones, only GET.
func TestNginx(t *testing.T) {
	t.Parallel()
	need.Time(t, "a real web server")
	data := random(3<<20+11, 16)
	root := t.TempDir()
	must(t, os.WriteFile(filepath.Join(root, "x.tar"), data, 0o644))
	must(t, os.WriteFile(filepath.Join(root, "empty"), nil, 0o644))
	must(t, os.WriteFile(filepath.Join(root, "page.tar"), []byte(page), 0o644))
	server := testserver.StartNginx(t, root)
	url := "http://" + server.Address
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
		requests, err := os.ReadFile(server.Log)
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
