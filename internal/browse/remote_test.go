package browse_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	neturl "net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/browse"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/services"
	"github.com/ffconvert/ffconvert/internal/test/testproxy"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/verify"
)

// optionsOf are those of a client of a service.
func optionsOf(t *testing.T, s *services.Service) bucket.Options {
	t.Helper()
	c := store.New(store.Options{LookupEnv: s.LookupEnv, Patience: time.Minute})
	t.Cleanup(c.Close)
	return bucket.Options{Client: c, Scratch: t.TempDir()}
}

// serveRemote is serve for a dataset in an object store, and others on this machine. At the end nothing may be in the scratch.
func serveRemote(t *testing.T, at string, how bucket.Options, dirs ...string) (url, origin string) {
	t.Helper()
	d, err := bucket.Look(t.Context(), at, how)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		emptied(t, how.Scratch)
	})
	samples, err := lookup.Open(d.Path(""), lookup.Options{Record: record.Options{MaxSample: browse.MaxRecord}, Open: d.Open, URL: strings.TrimSuffix(d.Name(), "/")})
	if err != nil {
		t.Fatal(err)
	}
	one := browse.Dataset{Dataset: samples, View: func(ctx context.Context) (*dataset.Dataset, error) { return bucket.View(ctx, at, how) }}
	return serveAll(t, verify.Options{}, append([]browse.Dataset{one}, datasets(t, dirs...)...))
}

// A visitor is a browser without scripts, which has been let in.
type visitor struct {
	t *testing.T
	http.Client
	origin string
	form   string // the token of forms
}

func visit(t *testing.T) func(url, origin string) *visitor {
	return func(url, origin string) *visitor {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		v := &visitor{t, http.Client{Jar: jar, Timeout: time.Minute}, origin, ""}
		resp, err := v.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return v
	}
}

// What two servers have not in common: the token of forms; when a verification ended, where it read from, and how long it took.
var (
	formToken = regexp.MustCompile(`name="form" value="([^"]*)"`)
	measured  = regexp.MustCompile(`Sound, [0-9: -]+ UTC| KiB read .* by pread`)
)

// page returns the status, the type and the body of a page, once no work is under way that it waits for.
func (v *visitor) page(path string) string {
	v.t.Helper()
	for {
		resp, err := v.Get(v.origin + path)
		if err != nil {
			v.t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			v.t.Fatal(err)
		}
		if m := formToken.FindSubmatch(body); m != nil {
			v.form = string(m[1])
		}
		if !strings.Contains(string(body), `class="job`) {
			return fmt.Sprintln(path, resp.StatusCode, resp.Header.Get("Content-Type"), resp.Header.Get("Content-Disposition"), "\n", string(body))
		}
		time.Sleep(20 * time.Millisecond) // as the page itself does
	}
}

// post sends the form of a button.
func (v *visitor) post(path string) {
	v.t.Helper()
	resp, err := v.PostForm(v.origin+path, neturl.Values{"form": {v.form}})
	if err != nil {
		v.t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		v.t.Errorf("%s: %s", path, resp.Status)
	}
}

// alike compares pages of two servers, with other names for what names has.
func alike(t *testing.T, here, there *visitor, paths []string, names *strings.Replacer) {
	t.Helper()
	plain := func(page string) string {
		page = formToken.ReplaceAllString(page, "")
		return measured.ReplaceAllString(names.Replace(page), "")
	}
	for _, path := range paths {
		a, b := plain(here.page(path)), plain(there.page(path))
		if a != b {
			at := 0
			for at < min(len(a), len(b)) && a[at] == b[at] {
				at++
			}
			t.Fatalf("%s differs at byte %d: %.200q, there %.200q", path, at, a[max(0, at-60):], b[max(0, at-60):])
		}
	}
}

// remotePages are pages of captions, of each kind, but for searches in records, of which a page has what is found in its time.
func remotePages() []string {
	q := neturl.QueryEscape
	paths := []string{"/", "/d/0/", "/d/0/grid", "/d/0/grid?from=40", "/d/0/cards?from=60", "/d/0/grid?where=" + q("label=3 and key~4"),
		"/d/0/grid?shard=PART_00002.ffr", "/d/0/grid?source=part-1.tar", "/d/0/grid?where=" + q("none(("), "/d/0/keys?where=" + q("label=2"), "/d/0/keys?where=" + q("txt~forest"), "/d/0/keys?where=" + q("label=3 and jpg.size<3KiB"),
		"/d/0/classes", "/d/0/sizes", "/d/0/parts", "/d/0/find?key=" + q(captionKey(77)), "/d/0/find?key=" + q("#99"), "/d/0/find?key=none", "/d/0/find?key=" + q(captionKey(5)+".jpg"),
		"/d/0/sample/17?where=" + q("label=1"), "/compare?a=0&b=1", "/compare?a=1&b=0", "/d/7/", "/d/0/sample/120"}
	for i := 0; i < captioned; i += 13 {
		for _, page := range []string{"sample/%d", "thumb/%d", "raw/%d/record", "raw/%d/0", "raw/%d/3", "raw/%d/9"} {
			paths = append(paths, fmt.Sprintf("/d/0/"+page, i))
		}
	}
	return paths
}

// A dataset in an object store has the pages of its copy on this machine. The first ones come without its shards, an index
// is fetched when a page needs it, once, and nothing is left behind. Replies that are late, cut or wrong change nothing.
func TestRemote(t *testing.T) {
	t.Parallel()
	need.Time(t, "object stores")
	dir, other := captions.of(t), changed.of(t)
	for _, row := range []struct {
		name, kind string
		opts       testproxy.Options
	}{
		{"web", "web", testproxy.Options{}},
		{"ais", "ais", testproxy.Options{}},
		{"s3", "s3", testproxy.Options{}},
		{"gs", "gs", testproxy.Options{}},
		{"web with faults", "web", testproxy.Options{Pick: testproxy.Some(4, 0.2, testproxy.CutBody, testproxy.Busy, testproxy.Refuse)}},
		{"s3 with faults", "s3", testproxy.Options{Pick: testproxy.Some(5, 0.2)}},
		{"s3 that lies", "s3", testproxy.Options{Pick: testproxy.Some(6, 0.06, testproxy.Lies()...)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := services.Start(t, row.kind, dir, row.opts)
			how := optionsOf(t, s)
			there := visit(t)(serveRemote(t, s.URL, how, other))
			here := visit(t)(serve(t, dir, other))
			shown := strings.TrimSuffix(store.Redact(s.URL), "/")
			names := strings.NewReplacer(dir, "PATH", shown, "PATH")

			alike(t, here, there, []string{"/d/0/"}, names)
			before := s.Requests()
			alike(t, here, there, []string{"/d/0/grid"}, names)
			grid := s.Requests()
			if row.opts.Pick == nil {
				for _, name := range []string{"PART_00000.ffr", "PART_00001.ffr", "PART_00000.arrow", "PART_00001.arrow"} {
					if n := before[name]; n > 0 && name != "PART_00000.arrow" {
						t.Errorf("the first page has %d requests for %s", n, name)
					}
				}
				if grid["PART_00003.ffr"]+grid["PART_00003.arrow"] > 0 {
					t.Errorf("the grid of the first samples asks for the last shard: %v", grid)
				}
			}
			alike(t, here, there, remotePages(), names)
			for _, v := range []*visitor{here, there} {
				v.post("/d/0/verify")
			}
			verdict := there.page("/d/0/")
			alike(t, here, there, []string{"/d/0/", "/d/1/"}, names)
			if !strings.Contains(verdict, "Sound") {
				t.Errorf("verified: %s", verdict)
			}
			if row.opts.Pick == nil {
				for name, n := range s.Requests() {
					if most := 4; strings.HasSuffix(name, ".arrow") && n > most { // a HEAD and a GET; as much again by the verification
						t.Errorf("%d requests for %s, want %d", n, name, most)
					}
				}
			}
			if text := there.page("/d/0/grid") + there.page("/d/0/"); strings.Contains(text, services.Password) || strings.Contains(text, how.Scratch) {
				t.Error("a page has the password, or the scratch")
			}
		})
	}
}

// emptied fails unless a scratch directory has nothing once the test has ended.
func emptied(t *testing.T, scratch string) {
	t.Helper()
	left, err := os.ReadDir(scratch)
	if err != nil || len(left) > 0 {
		t.Errorf("the scratch has %v, %v", left, err)
	}
}
