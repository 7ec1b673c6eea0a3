package store

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// The services that give roles, made up on loopback addresses.
func TestS3Roles(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		until := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
		keys := fmt.Sprintf(`{"Code":"Success","AccessKeyId":"AKIAROLE","SecretAccessKey":"role-secret","Token":"role-token","Expiration":%q}`, until)
		switch {
		case r.Method == http.MethodPut: // of the machine
			fmt.Fprint(w, "metadata-token")
		case strings.HasSuffix(r.URL.Path, "/security-credentials/"):
			fmt.Fprintln(w, "reader")
		case strings.HasSuffix(r.URL.Path, "/security-credentials/reader"), r.URL.Path == "/container":
			fmt.Fprint(w, keys)
		case r.FormValue("Action") == "AssumeRoleWithWebIdentity" && r.FormValue("WebIdentityToken") == "identity":
			fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>AKIAROLE</AccessKeyId>`+
				`<SecretAccessKey>role-secret</SecretAccessKey><SessionToken>role-token</SessionToken><Expiration>%s</Expiration></Credentials>`+
				`</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`, until)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	identity := filepath.Join(t.TempDir(), "identity")
	if err := os.WriteFile(identity, []byte("identity"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		vars map[string]string
		want string
	}{
		{"machine", map[string]string{"AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": server.URL}, "AKIAROLE"},
		{"machine that gives none", map[string]string{"AWS_EC2_METADATA_DISABLED": "false", "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1"}, ""},
		{"machine, refused", map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": server.URL}, ""},
		{"container", map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": server.URL + "/container"}, "AKIAROLE"},
		{"web identity", map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": identity, "AWS_ROLE_ARN": "arn:aws:iam::1:role/r", "AWS_ENDPOINT_URL_STS": server.URL}, "AKIAROLE"},
		{"web identity, no answer", map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": identity, "AWS_ROLE_ARN": "arn:aws:iam::1:role/r", "AWS_ENDPOINT_URL_STS": "http://127.0.0.1:1"}, "again"},
	} {
		t.Run(row.name, func(t *testing.T) {
			opts := Options{LookupEnv: environment(row.vars)}
			creds := newS3Creds(opts, profile{}, loopbackClient(t, nil))
			v, err := creds.RetrieveWithCredContext(&credentials.CredContext{Context: t.Context()})
			switch e, _ := errors.AsType[*Error](err); {
			case row.want == "" && e != nil && strings.Contains(e.Error(), "no credentials"):
			case row.want == "again" && e != nil && e.Again:
			case err == nil && v.AccessKeyID == row.want && v.SessionToken == "role-token" && !creds.IsExpired():
			default:
				t.Errorf("%q %v", v.AccessKeyID, err)
			}
			holdsNoSecret(t, err, "identity=", "role-secret")
		})
	}
}

// The two ways to name a bucket, as they arrive.
func TestS3HostStyle(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Host + r.URL.EscapedPath()
		w.Header().Set("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT")
	}))
	defer server.Close()
	for style, want := range map[string]string{
		"host": "train-data.s3.test/a%2Bb", "path": "s3.test/train-data/a%2Bb", "": "s3.test/train-data/a%2Bb",
	} {
		env := environment(map[string]string{
			"AWS_ENDPOINT_URL": "http://s3.test", "AWS_REGION": "r", "AWS_ACCESS_KEY_ID": fakeKey, "AWS_SECRET_ACCESS_KEY": fakeSecret,
		})
		hc := loopbackClient(t, map[string]string{"s3.test:80": hostOf(t, server.URL), "train-data.s3.test:80": hostOf(t, server.URL)})
		s, err := s3StoreOf(Options{LookupEnv: env, S3: S3Options{PathStyle: style}}, hc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.stat(t.Context(), "s3://train-data/a+b"); err != nil || got != want {
			t.Errorf("%q: %s, %v", style, got, err)
		}
	}
}

// Amazon's own endpoints, which nothing of these tests reaches.
func TestS3Amazon(t *testing.T) {
	for _, row := range []struct {
		vars   map[string]string
		bucket string
		want   string
	}{
		{nil, "train-data", "https://train-data.s3.eu-west-1.amazonaws.com/a%20b"},
		{nil, "train.data", "https://s3.eu-west-1.amazonaws.com/train.data/a%20b"},
		{map[string]string{"AWS_USE_DUALSTACK_ENDPOINT": "true"}, "train-data", "https://train-data.s3.dualstack.eu-west-1.amazonaws.com/a%20b"},
		{map[string]string{"AWS_REGION": "cn-north-1"}, "train-data", "https://train-data.s3.cn-north-1.amazonaws.com.cn/a%20b"},
	} {
		vars := map[string]string{"AWS_REGION": "eu-west-1", "AWS_ACCESS_KEY_ID": fakeKey, "AWS_SECRET_ACCESS_KEY": fakeSecret}
		for k, v := range row.vars {
			vars[k] = v
		}
		var got string
		hc := &http.Client{Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
			got = req.URL.String()
			return nil, errors.New("the test sends nothing")
		})}
		s, err := s3StoreOf(Options{LookupEnv: environment(vars)}, hc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = s.stat(t.Context(), "s3://"+row.bucket+"/a b"); got != row.want {
			t.Errorf("%s, want %s: %v", got, row.want, err)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }
