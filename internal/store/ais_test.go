package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const aisSecret = "ais-token-of-the-tests"

// aisCluster is a gateway that redirects to a target, which answers by the exchanges.
func aisCluster(t *testing.T) (gateway *httptest.Server, tokens func() []string) {
	var mu sync.Mutex
	var borne []string
	note := func(who string, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		borne = append(borne, strings.TrimSpace(who+" "+r.Header.Get("Authorization")))
	}
	answer := func(w http.ResponseWriter, r *http.Request) {
		uri, _, _ := strings.Cut(r.URL.RequestURI(), "&pid=")
		body, _ := io.ReadAll(r.Body)
		asked := strings.Join(strings.Fields(strings.Join([]string{r.Method, uri, r.Header.Get("Range"), string(body)}, " ")), " ")
		text, ok := aisExchanges[asked]
		if !ok {
			t.Errorf("nobody has written what answers %s", asked)
			http.NotFound(w, r)
			return
		}
		head, rest, _ := strings.Cut(text, "\n\n")
		resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(strings.ReplaceAll(head, "\n", "\r\n")+"\r\n\r\n"+rest)), r)
		if err != nil {
			t.Error(asked, err)
			return
		}
		for k, v := range resp.Header {
			w.Header()[k] = v
		}
		if r.Method != http.MethodHead {
			w.Header().Del("Content-Length")
		}
		w.WriteHeader(resp.StatusCode)
		io.Copy(w, resp.Body)
	}
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note("target", r)
		answer(w, r)
	}))
	t.Cleanup(target.Close)
	gateway = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note("gateway", r)
		if strings.HasPrefix(r.URL.Path, "/v1/objects/") {
			http.Redirect(w, r, target.URL+r.URL.RequestURI()+"&pid=p&utm=1", http.StatusTemporaryRedirect)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(gateway.Close)
	return gateway, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return borne
	}
}

func aisOf(t *testing.T, vars map[string]string) *aisStore {
	t.Helper()
	s, err := newAIS(Options{LookupEnv: environment(vars)}, loopbackClient(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	return s.(*aisStore)
}

func TestAISObjects(t *testing.T) {
	gateway, tokens := aisCluster(t)
	s := aisOf(t, map[string]string{"AIS_ENDPOINT": gateway.URL + "/", "AIS_AUTHN_TOKEN": aisSecret})
	o, err := s.stat(t.Context(), "ais://train/a.tar")
	want := Object{URL: "ais://train/a.tar", Size: 10, Version: "ais sum64=ad2f6a1b0c4d5e6f version=3", Sum: Sum{"xxhash", "ad2f6a1b0c4d5e6f"}}
	if err != nil || o != want {
		t.Fatalf("%+v %v", o, err)
	}
	r, err := s.open(t.Context(), o, 0, -1)
	if got := textOf(t, r, err); got != "0123456789" || r.Sum != want.Sum || r.Version != want.Version {
		t.Errorf("%q %+v", got, r)
	}
	r, err = s.open(t.Context(), o, 3, 4)
	if got := textOf(t, r, err); got != "3456" || r.Off != 3 || r.Size != 10 || r.Sum != (Sum{}) {
		t.Errorf("%q %+v", got, r)
	}
	if _, err = s.open(t.Context(), o, 7, -1); !errors.Is(err, ErrChanged) {
		t.Errorf("another version: %v", err)
	}
	for i, got := range tokens() {
		want := "target"
		if i%2 == 0 {
			want = "gateway Bearer " + aisSecret
		}
		if got != want {
			t.Errorf("request %d: %s, want %s", i, got, want)
		}
	}
}

func TestAISNames(t *testing.T) {
	gateway, _ := aisCluster(t)
	s := aisOf(t, map[string]string{"AIS_ENDPOINT": hostOf(t, gateway.URL)})
	for name, size := range map[string]int64{
		"ais://train/dir/a b#?+%é.tar":   1,
		"ais://train/a.tar?provider=aws": 2,
		"s3://train/a.tar":               2,
		"ais://train/a.tar?provider=gcp": 3,
		"gs://train/a.tar":               3,
		"ais://train/a.tar?provider=ais": 10,
	} {
		o, err := s.stat(t.Context(), name)
		if err != nil || o.Size != size || o.URL != name {
			t.Errorf("%s: %+v %v", name, o, err)
		}
		if size == 2 && o.Sum != (Sum{}) {
			t.Errorf("%s: a sum that may be another: %v", name, o.Sum)
		}
	}
}

func TestAISList(t *testing.T) {
	gateway, _ := aisCluster(t)
	s := aisOf(t, map[string]string{"AIS_ENDPOINT": gateway.URL})
	var got []string
	for o, err := range objectsOf(t.Context(), s, "ais://train/part-") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(o.URL, " ", o.Size, " ", o.Pin()))
	}
	if want := "ais://train/part-0 5 version=1, ais://train/part-1 6 etag=e1 md5=m1 modified=2025-07-01T10:00:00Z sum64=ad2f6a1b0c4d5e6f version=2, ais://train/part-3 0 "; strings.Join(got, ", ") != want {
		t.Errorf("%q", got)
	}
	for o, err := range objectsOf(t.Context(), s, "ais://train/none-") {
		t.Errorf("%+v %v", o, err)
	}
}

func TestAISRefusals(t *testing.T) {
	gateway, _ := aisCluster(t)
	s := aisOf(t, map[string]string{"AIS_ENDPOINT": gateway.URL, "AIS_AUTHN_TOKEN": aisSecret})
	for _, row := range []struct {
		url   string
		kind  error
		again bool
		after time.Duration
		want  string
	}{
		{url: "ais://train/nowhere", kind: ErrNotFound, want: ": ais://train/nowhere does not exist"},
		{url: "ais://train/busy", kind: ErrUnavailable, again: true, after: 3 * time.Second},
		{url: "ais://train/closed", kind: ErrDenied, want: "token required (see AIS_AUTHN_TOKEN"},
		{url: "ais://train/web", kind: ErrPage, want: "is AIS_ENDPOINT an AIStore?"},
		{url: "ais://train", kind: ErrURL, want: "names no object"},
		{url: "ais://train/a.tar?provider=nobody", kind: ErrURL, want: `"nobody" is not a provider of AIStore (ais, aws, `},
		{url: "ais://train?provider=aws", kind: ErrURL, want: "names no object"},
		{url: "ais://train/?provider=aws", kind: ErrURL, want: "names no object"},
	} {
		_, err := s.stat(t.Context(), row.url)
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Kind != row.kind || e.Again != row.again || e.After != row.after || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", row.url, err)
		}
		holdsNoSecret(t, err, aisSecret)
	}
	if _, err := s.open(t.Context(), Object{URL: "ais://train/nowhere"}, 0, -1); !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "does not exist") {
		t.Error(err)
	}
	for _, err := range objectsOf(t.Context(), s, "ais://nowhere/") {
		if !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	}
}

func TestAISSettings(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"token": `{"token":"` + aisSecret + `"}`, "none": aisSecret} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		name string
		vars map[string]string
		want string // endpoint and token, or a part of the error
	}{
		{"nothing", nil, "AIS_ENDPOINT is not set (as in AIS_ENDPOINT=http"},
		{"a host", map[string]string{"AIS_ENDPOINT": "gateway:8080"}, "http://gateway:8080 "},
		{"a path before the API", map[string]string{"AIS_ENDPOINT": "https://gateway/ais/"}, "https://gateway/ais "},
		{"another scheme", map[string]string{"AIS_ENDPOINT": "ftp://gateway"}, "AIS_ENDPOINT is neither http nor https"},
		{"a password", map[string]string{"AIS_ENDPOINT": "http://u:" + aisSecret + "@gateway"}, "AIS_ENDPOINT holds a user"},
		{"a token", map[string]string{"AIS_ENDPOINT": "g", "AIS_AUTHN_TOKEN": "t"}, "http://g t"},
		{"a file of one", map[string]string{"AIS_ENDPOINT": "g", "AIS_AUTHN_TOKEN_FILE": filepath.Join(dir, "token")}, "http://g " + aisSecret},
		{"a file of none", map[string]string{"AIS_ENDPOINT": "g", "AIS_AUTHN_TOKEN_FILE": filepath.Join(dir, "none")}, "it holds no token"},
		{"no file", map[string]string{"AIS_ENDPOINT": "g", "AIS_AUTHN_TOKEN_FILE": filepath.Join(dir, "nowhere")}, "no such file"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, err := newAIS(Options{LookupEnv: environment(row.vars)}, loopbackClient(t, nil))
			if err != nil {
				if !errors.Is(err, ErrSetting) || !strings.Contains(err.Error(), row.want) {
					t.Error(err)
				}
				holdsNoSecret(t, err, aisSecret)
				return
			}
			if got := s.(*aisStore).endpoint + " " + s.(*aisStore).token; got != row.want {
				t.Errorf("%q", got)
			}
		})
	}
}
