package store

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	googleToken   = "ya29.token-of-the-tests"
	googleRefresh = "1//refresh-token-of-the-tests"
)

// googleAccounts is a token service on a loopback address, made up from RFC 6749 and RFC 7523,
// and the metadata of a machine.
func googleAccounts(t *testing.T) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/computeMetadata/v1/instance/service-accounts/default/token" && r.Header.Get("Metadata-Flavor") == "Google",
			r.FormValue("refresh_token") == googleRefresh, len(strings.Split(r.FormValue("assertion"), ".")) == 3:
			fmt.Fprintf(w, `{"access_token":%q,"expires_in":3600,"token_type":"Bearer"}`, googleToken)
		case strings.HasPrefix(r.URL.Path, "/busy"):
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":"invalid_grant","error_description":"Token has been expired or revoked."}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// fileOf writes a file of credentials.
func fileOf(t *testing.T, dir, name string, v map[string]any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestGSCredentials(t *testing.T) {
	g := newFakeGoogle(t)
	g.token = googleToken
	g.put(t, "a", "text")
	accounts := googleAccounts(t)
	dir := t.TempDir()

	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))

	user := map[string]any{"type": "authorized_user", "client_id": "id", "client_secret": "client-secret-of-the-tests", "refresh_token": googleRefresh}
	with := func(m map[string]any, k string, v any) map[string]any {
		all := map[string]any{}
		for k, v := range m {
			all[k] = v
		}
		all[k] = v
		return all
	}
	service := map[string]any{"type": "service_account", "client_email": "reader@project", "private_key": key, "token_uri": accounts.URL + "/token"}
	program := map[string]any{"type": "external_account", "audience": "a", "subject_token_type": "t", "token_url": accounts.URL,
		"credential_source": map[string]any{"executable": map[string]any{"command": "/bin/true"}}}

	file := func(name string, v map[string]any) map[string]string {
		return map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": fileOf(t, dir, name, v)}
	}
	fileOf(t, filepath.Join(dir, "home"), ".config/gcloud/application_default_credentials.json", service)

	const token = "oauth2.googleapis.com:443" // where user credentials lead, and where nobody answers here
	for _, row := range []struct {
		name      string
		vars      map[string]string
		anonymous bool
		kind      error // nil: it is read
		want      string
	}{
		{name: "a service account", vars: file("service.json", service)},
		{name: "what gcloud has left", vars: map[string]string{"HOME": filepath.Join(dir, "home")}},
		{name: "the account of the machine", vars: map[string]string{"NO_GCE_CHECK": "", "GCE_METADATA_HOST": hostOf(t, accounts.URL)}},
		{name: "no check for a machine", vars: map[string]string{"GCE_METADATA_HOST": hostOf(t, accounts.URL)}, kind: ErrDenied, want: "gcloud auth application-default login"},
		{name: "none", kind: ErrDenied, want: "gcloud auth application-default login"},
		{name: "anonymous", vars: file("service.json", service), anonymous: true, kind: ErrDenied, want: "GOOGLE_APPLICATION_CREDENTIALS"},
		{name: "no token", vars: file("revoked.json", with(service, "token_uri", accounts.URL+"/other")), want: ""},
		{name: "a token service that is busy", vars: file("busy.json", with(with(service, "private_key", key), "token_uri", "http://127.0.0.1:1")), kind: ErrUnavailable},
		{name: "no key", vars: file("nokey.json", with(service, "private_key", "none")), kind: ErrDenied, want: "no token is given"},
		{name: "a user whose login is over", vars: file("user.json", with(user, "refresh_token", "over")), kind: ErrDenied, want: "expired or revoked"},
		{name: "a program", vars: file("program.json", program), kind: ErrSetting, want: "none is started"},
		{name: "another type", vars: file("other.json", map[string]any{"type": "\x1b[31mred"}), kind: ErrSetting, want: "are not known"},
		{name: "no file", vars: map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": filepath.Join(dir, "nowhere")}, kind: ErrSetting, want: "no such file"},
	} {
		t.Run(row.name, func(t *testing.T) {
			hc := loopbackClient(t, nil)
			if row.kind == nil && row.vars["GCE_METADATA_HOST"] != "" { // x/oauth2 reads it itself
				t.Setenv("GCE_METADATA_HOST", row.vars["GCE_METADATA_HOST"])
			}
			if strings.HasPrefix(row.name, "a user") {
				hc.Transport = plainly{hc.Transport, hostOf(t, accounts.URL), token}
			}
			_, err := func() (Object, error) {
				s, err := newGS(Options{LookupEnv: environment(row.vars), Anonymous: row.anonymous}, hc)
				if err != nil {
					return Object{}, err
				}
				s.(*gsStore).endpoint = g.URL
				return s.stat(t.Context(), "gs://train-data/a")
			}()
			switch {
			case row.kind == nil && err != nil, row.kind != nil && !errors.Is(err, row.kind):
				t.Error(err)
			case err != nil && !strings.Contains(err.Error(), row.want):
				t.Error(err)
			}
			holdsNoSecret(t, err, googleToken, googleRefresh, key, "client-secret-of-the-tests")
		})
	}
}

// plainly leads one host's https: to a server that speaks http.
type plainly struct {
	http.RoundTripper
	to, from string
}

func (p plainly) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Host+":443" == p.from {
		req = req.Clone(req.Context())
		req.URL.Scheme, req.URL.Host = "http", p.to
	}
	return p.RoundTripper.RoundTrip(req)
}

func TestGSRefusals(t *testing.T) {
	g := newFakeGoogle(t)
	s := g.emulated(t)
	g.put(t, "a", "text")
	for _, row := range []struct {
		name, url string
		kind      error
		want      string
	}{
		{"no such object", "gs://train-data/b", ErrNotFound, "holds no such object"},
		{"no such bucket", "gs://nowhere/b", ErrNotFound, "there is no such bucket"},
		{"no object", "gs://train-data", ErrURL, "names no object"},
		{"no bucket", "gs:///a", ErrURL, "names no bucket"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := s.stat(t.Context(), row.url)
			_, err2 := s.open(t.Context(), Object{URL: row.url, Version: "1"}, 0, -1)
			for _, err := range []error{err, err2} {
				if !errors.Is(err, row.kind) || !strings.Contains(err.Error(), row.want) {
					t.Error(err)
				}
			}
		})
	}
	for _, err := range objectsOf(t.Context(), s, "gs://nowhere/b") {
		if !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	}
}

// The credentials of a user do not reach an emulator, which is any program.
func TestGSEmulatorGetsNoToken(t *testing.T) {
	opts := Options{LookupEnv: environment(map[string]string{"STORAGE_EMULATOR_HOST": "127.0.0.1:1", "GOOGLE_APPLICATION_CREDENTIALS": "/nowhere"})}
	s, err := newGS(opts, loopbackClient(t, nil))
	if err != nil || s.(*gsStore).tokens != nil {
		t.Errorf("%+v %v", s, err)
	}
}

// Lists of a server that means no good.
func TestGSHostileLists(t *testing.T) {
	for _, row := range []struct {
		name, body string
		header     string
		kind       error
		want       string
	}{
		{"the same page for ever", `{"items":[{"name":"a"}],"nextPageToken":"x"}`, "", ErrNoList, "not in order"},
		{"empty pages for ever", `{"nextPageToken":"x"}`, "", ErrNoList, "come to an end"},
		{"other names", `{"items":[{"name":"b"}]}`, "", ErrNoList, "holds"},
		{"cut", `{"items":[{"na`, "", ErrUnavailable, "cannot be read"},
		{"too long", strings.Repeat(" ", maxPage) + "{}", "", ErrUnavailable, "longer than"},
		{"a page", "<html>log in</html>", "text/html", ErrPage, "proxy"},
	} {
		t.Run(row.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", row.header)
				fmt.Fprint(w, row.body)
			}))
			defer server.Close()
			s := &gsStore{endpoint: server.URL, client: loopbackClient(t, nil)}
			var last error
			for _, err := range objectsOf(t.Context(), s, "gs://train-data/a") {
				last = err
			}
			if !errors.Is(last, row.kind) || !strings.Contains(last.Error(), row.want) {
				t.Error(last)
			}
		})
	}
}
