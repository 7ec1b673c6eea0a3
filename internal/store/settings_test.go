package store

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// What another attempt cannot mend is asked once: neither the same settings nor the same credentials do
// better a second later.
func TestWrongSettingsAreAskedOnce(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	answer := func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch r.URL.Path {
		case "/401":
			w.WriteHeader(http.StatusUnauthorized)
		case "/403":
			w.WriteHeader(http.StatusForbidden)
		case "/bucket/region":
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusBadRequest)
			w.Write([]byte(`<Error><Code>AuthorizationHeaderMalformed</Code><Message>the region 'a' is wrong; expecting 'b'</Message><Region>b</Region></Error>`))
		}
	}
	plain := start(t, http.HandlerFunc(answer))
	safe := httptest.NewTLSServer(http.HandlerFunc(answer))
	safe.Config.ErrorLog = nil
	t.Cleanup(safe.Close)
	s3 := map[string]string{"AWS_ACCESS_KEY_ID": fakeKey, "AWS_SECRET_ACCESS_KEY": fakeSecret, "AWS_REGION": "a"}
	with := func(vars map[string]string, endpoint string) map[string]string {
		all := map[string]string{"AWS_ENDPOINT_URL": endpoint}
		for k, v := range vars {
			all[k] = v
		}
		return all
	}
	for _, row := range []struct {
		name, url string
		vars      map[string]string
		opts      S3Options
		kind      error
		most      int64 // requests: HEAD, and GET where that says why
	}{
		{"401", plain.URL + "/401", nil, S3Options{}, ErrDenied, 1},
		{"403", plain.URL + "/403", nil, S3Options{}, ErrDenied, 2},
		{"TLS to a plain port", "https://" + hostOf(t, plain.URL) + "/x", nil, S3Options{}, ErrTLS, 0},
		{"no TLS to its port", "http://" + hostOf(t, safe.URL) + "/x", nil, S3Options{}, ErrURL, 0},
		{"an authority that is not known", safe.URL + "/x", nil, S3Options{}, ErrTLS, 0},
		{"S3: TLS to a plain port", "s3://bucket/x", with(s3, "https://"+hostOf(t, plain.URL)), S3Options{}, ErrSetting, 0},
		{"S3: no TLS to its port", "s3://bucket/x", with(s3, "http://"+hostOf(t, safe.URL)), S3Options{}, ErrSetting, 0},
		{"S3: another region", "s3://bucket/region", with(s3, plain.URL), S3Options{}, ErrSetting, 2},
		{"S3: no such profile", "s3://bucket/x", with(s3, plain.URL), S3Options{Profile: "nosuch"}, ErrSetting, 0},
		{"AIStore: TLS to a plain port", "ais://bucket/x", map[string]string{"AIS_ENDPOINT": "https://" + hostOf(t, plain.URL)}, S3Options{}, ErrTLS, 0},
		{"AIStore: none is named", "ais://bucket/x", nil, S3Options{}, ErrSetting, 0},
	} {
		asked.Store(0)
		c := New(Options{LookupEnv: environment(row.vars), S3: row.opts, Retries: 50, wait: time.Millisecond})
		_, err := c.Stat(t.Context(), row.url)
		if !errors.Is(err, row.kind) || errors.Is(err, ErrUnavailable) || asked.Load() > row.most || strings.Contains(err.Error(), "attempts") || strings.Contains(err.Error(), "later") {
			t.Errorf("%s: %d requests, want %d at the most: %v", row.name, asked.Load(), row.most, err)
		}
		c.Close()
	}
}
