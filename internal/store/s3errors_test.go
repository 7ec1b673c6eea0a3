package store

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const (
	fakeKey    = "AKIAFAKEFAKEFAKE"
	fakeSecret = "fake/secret+of+the+tests"
	fakeToken  = "fake-session-token-of-the-tests"
)

// madeUpStore is our store over a server that a test makes up.
func madeUpStore(t *testing.T, server *httptest.Server, vars map[string]string) *s3Store {
	t.Helper()
	env := map[string]string{
		"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "us-east-1",
		"AWS_ACCESS_KEY_ID": fakeKey, "AWS_SECRET_ACCESS_KEY": fakeSecret, "AWS_SESSION_TOKEN": fakeToken,
	}
	for k, v := range vars {
		env[k] = v
	}
	s, err := s3StoreOf(Options{LookupEnv: environment(env)}, loopbackClient(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// holdsNoSecret fails on an error that a secret could be read from, or of more than one line.
func holdsNoSecret(t *testing.T, err error, secrets ...string) {
	t.Helper()
	if err == nil {
		return
	}
	text := fmt.Sprintf("%v %+v %q", err, err, errors.Unwrap(err))
	for _, secret := range append(secrets, fakeSecret, fakeToken, gatewaySecret, "Signature=", "X-Amz-Signature") {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in the error: %s", secret, text)
		}
	}
	if strings.ContainsAny(err.Error(), "\n\r\x1b") {
		t.Errorf("not a line: %q", err.Error())
	}
}

// How a real server refuses.
func TestS3Refusals(t *testing.T) {
	s := gatewayStore(t, nil, Options{})
	put(t, gateway.admin, "refused", "text", withSum("crc32", "text"))
	for _, row := range []struct {
		name      string
		vars      map[string]string
		anonymous bool
		url       string
		kind      error
		want      string // part of the error
		hint      string // its end
		unlisted  bool   // the list of the prefix is no error
	}{
		{name: "no such key", url: "s3://train-data/nowhere", kind: ErrNotFound, want: "holds no such key", unlisted: true},
		{name: "no such bucket", url: "s3://nowhere/refused", kind: ErrNotFound, want: "there is no such bucket", hint: hintEndpoint},
		{name: "another secret", vars: map[string]string{"AWS_SECRET_ACCESS_KEY": "not-the-secret-of-the-gateway"},
			kind: ErrDenied, want: "the secret access key does not belong to the access key id"},
		{name: "another key", vars: map[string]string{"AWS_ACCESS_KEY_ID": "AKIANOBODY"}, kind: ErrDenied, want: "AWS_ACCESS_KEY_ID"},
		{name: "a token", vars: map[string]string{"AWS_SESSION_TOKEN": fakeToken}, kind: ErrDenied, want: "session token"},
		{name: "a token of two lines", vars: map[string]string{"AWS_SESSION_TOKEN": fakeToken + "\n" + fakeToken}, kind: ErrSetting, want: "has a line break in it"},
		{name: "no credentials", vars: map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""},
			kind: ErrDenied, want: "no credentials are found (set AWS_ACCESS_KEY_ID and", hint: hintAnonymous},
		{name: "half of the credentials", vars: map[string]string{"AWS_SECRET_ACCESS_KEY": ""}, kind: ErrDenied, want: "the other is not"},
		{name: "anonymous", anonymous: true, kind: ErrDenied, want: "denied", hint: "the credentials of the environment are used"},
		{name: "another region", vars: map[string]string{"AWS_REGION": "us-west-2"}, kind: ErrSetting, want: "the bucket is in the region " + gatewayRegion, hint: hintRegion},
		{name: "https for http", vars: map[string]string{"AWS_ENDPOINT_URL": "https://" + gateway.addr},
			kind: ErrSetting, want: "the endpoint speaks http: name it http://" + gateway.addr},
		{name: "nobody listens", vars: map[string]string{"AWS_ENDPOINT_URL": "http://127.0.0.1:1"}, kind: ErrUnavailable, want: "refused"},
		{name: "no key", url: "s3://train-data/", kind: ErrURL, want: "names no object", unlisted: true},
		{name: "no bucket", url: "s3:///refused", kind: ErrURL, want: "names no bucket"},
		{name: "a user", url: "s3://someone:" + fakeSecret[5:11] + "@train-data/refused", kind: ErrURL, want: "s3://train-data/refused: "},
		{name: "a signed URL", url: "s3://train-data/refused?X-Amz-Signature=" + fakeToken, kind: ErrURL, want: "begins with https:"},
		{name: "a bucket that cannot be", url: "s3://a_/refused", kind: ErrURL, want: ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s = gatewayStore(t, row.vars, Options{Anonymous: row.anonymous})
			url := row.url
			if url == "" {
				url = "s3://train-data/refused"
			}
			check := func(what string, err error) {
				t.Helper()
				e, ok := errors.AsType[*Error](err)
				if !ok || e.Kind != row.kind || !strings.Contains(err.Error(), row.want) || e.Again != (row.kind == ErrUnavailable) || !strings.HasSuffix(e.Hint, row.hint) {
					t.Errorf("%s: %v", what, err)
				}
				holdsNoSecret(t, err, "not-the-secret-of-the-gateway", "secret@")
			}
			_, err := s.stat(t.Context(), url)
			check("stat", err)
			if url != "s3://train-data/" {
				_, err = s.open(t.Context(), Object{URL: url}, 0, -1)
				check("get", err)
			}
			for _, err := range objectsOf(t.Context(), s, url) {
				if !row.unlisted {
					check("list", err)
				} else if err != nil {
					t.Errorf("list: %v", err)
				}
			}
		})
	}
}

// Where no region is set, the service tells that of the bucket.
func TestS3RegionFound(t *testing.T) {
	s := gatewayStore(t, map[string]string{"AWS_REGION": ""}, Options{})
	put(t, gateway.admin, "found", "text", withSum("crc32", "text"))
	if _, err := s.stat(t.Context(), "s3://train-data/found"); err != nil {
		t.Error(err)
	}
}

// An error tells it, once a bucket.
func TestS3RegionTold(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+strings.Split(r.Header.Get("Authorization"), "/")[2])
		if !strings.Contains(r.Header.Get("Authorization"), "/ap-south-1/") {
			w.Header().Set("x-amz-bucket-region", "ap-south-1")
			w.WriteHeader(http.StatusMovedPermanently)
			return
		}
		w.Header().Set("ETag", `"tag"`)
		w.Header().Set("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT")
		w.Header().Set("Content-Length", "5")
	}))
	defer server.Close()
	s := madeUpStore(t, server, map[string]string{"AWS_REGION": ""})
	for range 2 {
		if o, err := s.stat(t.Context(), "s3://train-data/a"); err != nil || o.Size != 5 {
			t.Fatalf("%+v %v", o, err)
		}
	}
	if got := strings.Join(asked, ", "); got != "HEAD us-east-1, HEAD ap-south-1, HEAD ap-south-1" {
		t.Error(got)
	}
}

// Some gateways let GET through alone.
func TestS3WithoutHead(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("ETag", `"tag"`)
		http.ServeContent(w, r, "", time.Unix(1e9, 0), strings.NewReader("0123456789"))
	}))
	defer server.Close()
	o, err := madeUpStore(t, server, nil).stat(t.Context(), "s3://train-data/a")
	if err != nil || o.Size != 10 || o.Version != "tag" || o.Modified.Unix() != 1e9 {
		t.Errorf("%+v %v", o, err)
	}
}

// What no server at hand says, by one that is made up: the codes are those of Amazon's documentation.
func TestS3Codes(t *testing.T) {
	for _, row := range []struct {
		status int
		code   string // "": the body is Text
		text   string
		header http.Header
		kind   error
		again  bool
		after  time.Duration
		want   string
		hint   string // its end
	}{
		{status: 400, code: "ExpiredToken", text: "The provided token has expired.", kind: ErrDenied, want: "expired (get new ones"},
		{status: 403, code: "RequestTimeTooSkewed", text: "The difference between the request time and the current time is too large.", kind: ErrDenied, want: "clock"},
		{status: 403, code: "InvalidObjectState", text: "The operation is not valid for the object's storage class", kind: ErrDenied, want: "restore it"},
		{status: 403, code: "AccessDenied", text: "User: arn:aws:iam::1:user/u is not authorized", kind: ErrDenied, want: "arn:aws:iam::1:user/u is not authorized (reading needs s3:GetObject", hint: hintAnonymous},
		{status: 403, code: "AccessDenied", text: "what is AWS4-HMAC-SHA256 Credential=" + fakeKey + "/20260101/s3, SignedHeaders=host, Signature=0123abcd", kind: ErrDenied,
			want: "what is AWS4-HMAC-SHA256 Credential REDACTED, SignedHeaders=host, Signature REDACTED", hint: hintAnonymous},
		{status: 403, code: "AccessDenied", text: "Bearer " + fakeToken[:4] + "0123456789abcdef is no bearer token", kind: ErrDenied, want: "Bearer REDACTED is no bearer token", hint: hintAnonymous},
		{status: 403, code: "AccessDenied", text: "your token is " + fakeToken, kind: ErrDenied, want: "your token is REDACTED", hint: hintAnonymous},
		{status: 403, code: "", text: "<html>login</html>", kind: ErrDenied, want: ""},
		{status: 412, code: "PreconditionFailed", kind: ErrChanged},
		{status: 503, code: "SlowDown", text: "Please reduce your request rate.", header: http.Header{"Retry-After": {"7"}}, kind: ErrUnavailable, again: true, after: 7 * time.Second},
		{status: 500, code: "InternalError", kind: ErrUnavailable, again: true},
		{status: 502, code: "", text: "<html>\x1b[31mBad\nGateway", kind: ErrUnavailable, again: true, want: "HTTP 502 Bad Gateway"},
		{status: 429, code: "TooManyRequests", kind: ErrUnavailable, again: true},
		{status: 400, code: "AuthorizationHeaderMalformed", text: "The region 'us-east-1' is wrong", kind: ErrSetting, hint: hintRegion},
		{status: 405, code: "MethodNotAllowed", header: http.Header{"X-Amz-Bucket-Region": {"us-east-1"}}, kind: ErrSetting, want: "wrong setting: MethodNotAllowed"},
		{status: 301, code: "PermanentRedirect", header: http.Header{"X-Amz-Bucket-Region": {"eu-west-3"}}, kind: ErrSetting, want: "the bucket is in the region eu-west-3", hint: hintRegion},
		{status: 400, code: "", text: "Client sent an HTTP request to an HTTPS server.\n", kind: ErrSetting, want: "http: or https:?"},
		{status: 404, code: "", text: "404 page not found", kind: ErrNotFound, hint: hintEndpoint},
		{status: 501, code: "NotImplemented", text: "not here", kind: ErrSetting},
		{status: 200, code: "", text: "<html>please log in</html>", header: http.Header{"Content-Type": {"text/html"}}, kind: ErrPage, want: "proxy in between"},
	} {
		t.Run(fmt.Sprint(row.status, row.code), func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				for k, v := range row.header {
					w.Header()[k] = v
				}
				body := row.text
				if row.code != "" {
					w.Header().Set("Content-Type", "application/xml")
					body = fmt.Sprintf("<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>%s</Message><Token-0>%s</Token-0><StringToSign>%s</StringToSign></Error>",
						row.code, row.text, fakeToken, fakeSecret)
				}
				w.WriteHeader(row.status)
				fmt.Fprint(w, body)
			}))
			defer server.Close()
			s := madeUpStore(t, server, nil)
			check := func(what string, err error) {
				t.Helper()
				e, ok := errors.AsType[*Error](err)
				if !ok || e.Kind != row.kind || e.Again != row.again || e.After != row.after || e.Status != row.status || !strings.HasSuffix(e.Hint, row.hint) || !strings.Contains(err.Error(), row.want) {
					t.Errorf("%s: %+v: %v", what, e, err)
				}
				holdsNoSecret(t, err)
			}
			_, err := s.stat(t.Context(), "s3://train-data/a#b.tar")
			check("stat", err)
			_, err = s.open(t.Context(), Object{URL: "s3://train-data/a#b.tar"}, 0, 5)
			check("get", err)
			for _, err := range objectsOf(t.Context(), s, "s3://train-data/a#") {
				check("list", err)
			}
		})
	}
}

// A list that a hostile server makes up ends, and takes no more memory than a page.
func TestS3HostileLists(t *testing.T) {
	page := func(names, rest string) string {
		return `<?xml version="1.0"?><ListBucketResult><Name>train-data</Name><IsTruncated>true</IsTruncated>` +
			`<NextContinuationToken>again</NextContinuationToken>` + names + `</ListBucketResult>` + rest
	}
	entry := "<Contents><Key>a</Key><Size>1</Size></Contents>"
	for _, row := range []struct {
		name, body string
		kind       error
		want       string
	}{
		{"the same page for ever", page(entry, ""), ErrNoList, "not in order"},
		{"empty pages for ever", page("", ""), ErrNoList, "does not come to an end"},
		{"more, and not where", strings.Replace(page(entry, ""), "again", "", 1), ErrNoList, "and not where"},
		{"a key that is not encoded", page("<EncodingType>url</EncodingType><Contents><Key>a%</Key></Contents>", ""), ErrNoList, "not encoded"},
		{"longer than a page", page("", strings.Repeat(" ", maxPage)), ErrUnavailable, "longer than"},
		{"names that were not asked for", page("<Contents><Key>b</Key></Contents>", ""), ErrNoList, "holds"},
		{"cut", page(entry, "")[:150], ErrUnavailable, "cannot be read"},
	} {
		t.Run(row.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/xml")
				fmt.Fprint(w, row.body)
			}))
			defer server.Close()
			var last error
			for _, err := range objectsOf(t.Context(), madeUpStore(t, server, nil), "s3://train-data/a") {
				last = err
			}
			if !errors.Is(last, row.kind) || !strings.Contains(last.Error(), row.want) {
				t.Error(last)
			}
		})
	}
}
