package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

const profiles = `
# as aws configure writes them
[default]
region = eu-default-1

[profile work]
region = eu-work-1
endpoint_url = http://work.test:9000
s3 =
    addressing_style = virtual

[profile shared]
services = local
endpoint_url = http://wrong.test

[services local]
s3 =
    endpoint_url = http://services.test:8333

[profile program]
credential_process = /bin/sh -c "touch started"

[profile role]
role_arn = arn:aws:iam::1:role/reader
source_profile = default

[profile login]
sso_session = company
sso_account_id = 1
sso_role_name = reader

[sso-session company]
sso_region = eu-work-1
sso_start_url = https://company.test/start

[profile empty]
region = eu-empty-1
`

const keyFile = `
[default]
aws_access_key_id = AKIADEFAULT
aws_secret_access_key = default/secret+with#hash
aws_session_token = default-token

[work]
aws_access_key_id = AKIAWORK
aws_secret_access_key = work-secret

[half]
aws_access_key_id = AKIAHALF
`

// homeOf writes the files of profiles, and gives an environment that finds them.
func homeOf(t *testing.T, vars map[string]string) map[string]string {
	t.Helper()
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, ".aws"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"config": profiles, "credentials": keyFile} {
		if err := os.WriteFile(filepath.Join(home, ".aws", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"HOME": home}
	for k, v := range vars {
		env[k] = v
	}
	return env
}

func TestS3Config(t *testing.T) {
	for _, row := range []struct {
		name string
		vars map[string]string
		s3   S3Options
		want string // endpoint region style, or a part of the error
	}{
		{name: "nothing is set", want: "https://s3.amazonaws.com eu-default-1 host"},
		{name: "a region", vars: map[string]string{"AWS_REGION": "eu-a-1", "AWS_DEFAULT_REGION": "eu-b-1"}, want: "https://s3.amazonaws.com eu-a-1 host"},
		{name: "the older name of it", vars: map[string]string{"AWS_DEFAULT_REGION": "eu-b-1"}, want: "https://s3.amazonaws.com eu-b-1 host"},
		{name: "a flag before it", vars: map[string]string{"AWS_REGION": "eu-a-1"}, s3: S3Options{Region: "eu-f-1"}, want: "https://s3.amazonaws.com eu-f-1 host"},
		{name: "an endpoint", vars: map[string]string{"AWS_ENDPOINT_URL": "http://127.0.0.1:9000"}, want: "http://127.0.0.1:9000 eu-default-1 path"},
		{name: "one of S3", vars: map[string]string{"AWS_ENDPOINT_URL": "http://all.test", "AWS_ENDPOINT_URL_S3": "https://s3.test/"}, want: "https://s3.test eu-default-1 path"},
		{name: "a flag before them", vars: map[string]string{"AWS_ENDPOINT_URL_S3": "http://all.test"}, s3: S3Options{Endpoint: "flag.test:443"}, want: "https://flag.test:443 eu-default-1 path"},
		{name: "ignored endpoints", vars: map[string]string{"AWS_ENDPOINT_URL": "http://all.test", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}, want: "https://s3.amazonaws.com eu-default-1 host"},
		{name: "one of Amazon's", vars: map[string]string{"AWS_ENDPOINT_URL": "https://s3.eu-west-1.amazonaws.com"}, want: "https://s3.eu-west-1.amazonaws.com eu-default-1 host"},
		{name: "a region in one of Amazon's", vars: map[string]string{"AWS_PROFILE": "shared", "AWS_ENDPOINT_URL": "https://s3.eu-west-1.amazonaws.com"}, want: "https://s3.eu-west-1.amazonaws.com eu-west-1 host"},
		{name: "a profile", vars: map[string]string{"AWS_PROFILE": "work"}, want: "http://work.test:9000 eu-work-1 host"},
		{name: "a profile by flag", vars: map[string]string{"AWS_PROFILE": "empty"}, s3: S3Options{Profile: "work", PathStyle: "path"}, want: "http://work.test:9000 eu-work-1 path"},
		{name: "the environment before a profile", vars: map[string]string{"AWS_PROFILE": "work", "AWS_ENDPOINT_URL": "http://env.test"}, want: "http://env.test eu-work-1 host"},
		{name: "the services of a profile", vars: map[string]string{"AWS_PROFILE": "shared"}, want: "http://services.test:8333  path"},
		{name: "no such profile", vars: map[string]string{"AWS_PROFILE": "nobody"}, want: `no file has a profile "nobody"`},
		{name: "files elsewhere", vars: map[string]string{"AWS_CONFIG_FILE": "/nowhere", "AWS_SHARED_CREDENTIALS_FILE": "/nowhere"}, want: "https://s3.amazonaws.com  host"},
		{name: "a password in the endpoint", s3: S3Options{Endpoint: "https://user:pass-word@s3.test"}, want: "holds a user"},
		{name: "a path in the endpoint", s3: S3Options{Endpoint: "https://s3.test/bucket"}, want: "has a path"},
		{name: "a word in place of the endpoint", s3: S3Options{Endpoint: "nosuch"}, want: "the S3 endpoint is not a URL (as in https://host:port)"},
		{name: "a word in the environment", vars: map[string]string{"AWS_ENDPOINT_URL": "nosuch"}, want: "AWS_ENDPOINT_URL is not a URL"},
		{name: "a word with a scheme", s3: S3Options{Endpoint: "https://minio"}, want: "https://minio eu-default-1 path"},
		{name: "another scheme", s3: S3Options{Endpoint: "ftp://s3.test"}, want: "neither http nor https"},
		{name: "no region", s3: S3Options{Region: "eu west"}, want: "is not a region"},
		{name: "no style", s3: S3Options{PathStyle: "both"}, want: "path or host"},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, err := s3StoreOf(Options{LookupEnv: environment(homeOf(t, row.vars)), S3: row.s3}, loopbackClient(t, nil))
			got := ""
			if err != nil {
				got = err.Error()
				if !errors.Is(err, ErrSetting) || !strings.Contains(got, row.want) || strings.Contains(got, "pass-word") {
					t.Error(err)
				}
				return
			}
			style := map[bool]string{true: "path", false: "host"}[s.config.pathStyle]
			scheme := map[bool]string{true: "https", false: "http"}[s.config.secure]
			if got = fmt.Sprintf("%s://%s %s %s", scheme, s.config.host, s.config.region, style); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
}

func TestS3Credentials(t *testing.T) {
	env := map[string]string{"AWS_ACCESS_KEY_ID": "AKIAENV", "AWS_SECRET_ACCESS_KEY": "env-secret", "AWS_SESSION_TOKEN": "env-token"}
	with := func(k, v string) map[string]string {
		m := map[string]string{k: v}
		for k, v := range env {
			m[k] = v
		}
		return m
	}
	for _, row := range []struct {
		name    string
		vars    map[string]string
		profile string // of a flag
		want    string // id secret token, or a part of the error
		fails   bool
	}{
		{name: "the default profile", want: "AKIADEFAULT default/secret+with#hash default-token"},
		{name: "the environment", vars: env, want: "AKIAENV env-secret env-token"},
		{name: "the environment before AWS_PROFILE", vars: with("AWS_PROFILE", "work"), want: "AKIAENV env-secret env-token"},
		{name: "a flag before the environment", vars: env, profile: "work", want: "AKIAWORK work-secret "},
		{name: "a profile", vars: map[string]string{"AWS_PROFILE": "work"}, want: "AKIAWORK work-secret "},
		{name: "half a pair", vars: map[string]string{"AWS_PROFILE": "half"}, want: "has one of", fails: true},
		{name: "a program", vars: map[string]string{"AWS_PROFILE": "program"}, want: "none is started", fails: true},
		{name: "a role", vars: map[string]string{"AWS_PROFILE": "role"}, want: "assumes a role", fails: true},
		{name: "no login", vars: map[string]string{"AWS_PROFILE": "login"}, want: "aws sso login", fails: true},
		{name: "an empty profile", vars: map[string]string{"AWS_PROFILE": "empty"}, want: "no credentials are found", fails: true},
		{name: "an empty profile by flag", vars: env, profile: "empty", want: "has no credentials", fails: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			hc := loopbackClient(t, nil)
			opts := Options{LookupEnv: environment(homeOf(t, row.vars)), S3: S3Options{Profile: row.profile}}
			p, err := readProfile(opts)
			if err != nil {
				t.Fatal(err)
			}
			v, err := credentials.New(newS3Creds(opts, p, hc)).GetWithContext(&credentials.CredContext{Context: t.Context()})
			if got := fmt.Sprint(v.AccessKeyID, " ", v.SecretAccessKey, " ", v.SessionToken); !row.fails && (err != nil || got != row.want) {
				t.Errorf("%s %v", got, err)
			}
			if row.fails && (err == nil || !strings.Contains(err.Error()+" "+hintOf(err), row.want)) {
				t.Error(err)
			}
			if _, err := os.Stat("started"); err == nil {
				t.Error("a program was started")
			}
		})
	}
}

func hintOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Hint
	}
	return ""
}

// A file that is none is not quoted: it may be a list of secrets.
func TestS3ProfileQuotesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(path, []byte("[default\n"+fakeSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := s3StoreOf(Options{LookupEnv: environment(map[string]string{"AWS_SHARED_CREDENTIALS_FILE": path})}, loopbackClient(t, nil))
	if !errors.Is(err, ErrSetting) {
		t.Error(err)
	}
	holdsNoSecret(t, err, "fake/secret")
}
