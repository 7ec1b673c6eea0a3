package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
)

// gsTokens gets access tokens with Google's application default credentials, found in this order:
//
//	the file named by GOOGLE_APPLICATION_CREDENTIALS
//	the file written by `gcloud auth application-default login`
//	the service account of the machine, on Google Cloud
//
// Without credentials the requests are anonymous, which suffices for a public bucket.
//
// x/oauth2 makes the tokens. Its FindDefaultCredentials is not used: outside of Google Cloud it waits seconds
// for a metadata server. Here the product name of the firmware or GCE_METADATA_HOST identifies a machine of
// Google Cloud, unless NO_GCE_CHECK is set. Programs (credential_source.executable) are never started.
//
// https://cloud.google.com/docs/authentication/application-default-credentials
type gsTokens struct {
	source oauth2.TokenSource
	next   http.RoundTripper
	lost   atomic.Pointer[error] // the error of the last request: x/oauth2 returns only its text
}

// The scopes of tokens.
const (
	gsReading = "https://www.googleapis.com/auth/devstorage.read_only"
	gsWriting = "https://www.googleapis.com/auth/devstorage.read_write"
)

// gsPatience bounds one request for a token.
const gsPatience = 20 * time.Second

func (t *gsTokens) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	t.lost.Store(&err)
	return resp, err
}

// findGSTokens returns a source of tokens for a scope; nil if there are no credentials.
func findGSTokens(opts Options, hc *http.Client, scope string) (*gsTokens, error) {
	path := opts.env("GOOGLE_APPLICATION_CREDENTIALS")
	text, err := readFile(cmp.Or(path, gcloudFile(opts)), maxAnswer)
	switch {
	case path == "" && errors.Is(err, fs.ErrNotExist):
		if googleMachine(opts) {
			return &gsTokens{source: google.ComputeTokenSource("", scope)}, nil
		}
		return nil, nil
	case err == nil:
		t := &gsTokens{next: hc.Transport}
		client := &http.Client{Transport: t, CheckRedirect: hc.CheckRedirect, Timeout: gsPatience}
		if t.source, err = tokenSource(context.WithValue(context.Background(), oauth2.HTTPClient, client), text, scope); err == nil {
			return t, nil
		}
	}
	from := "GOOGLE_APPLICATION_CREDENTIALS"
	if path == "" {
		from = gcloudFile(opts)
	}
	return nil, &Error{Kind: ErrSetting, Err: fmt.Errorf("%s: %w", from, err), Hint: hintGoogle}
}

// gcloudFile returns the path of the credentials that gcloud stores for applications; "" without a home directory.
func gcloudFile(opts Options) string {
	dir := opts.env("CLOUDSDK_CONFIG")
	if app := opts.env("APPDATA"); dir == "" && app != "" {
		dir = filepath.Join(app, "gcloud")
	}
	if dir == "" && opts.home() != "" {
		dir = filepath.Join(opts.home(), ".config", "gcloud")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "application_default_credentials.json")
}

// tokenSource returns a source of tokens for the text of a credentials file. Its errors do not quote the text.
func tokenSource(ctx context.Context, text []byte, scope string) (oauth2.TokenSource, error) {
	var file struct {
		Type   google.CredentialsType `json:"type"`
		Source struct {
			Executable json.RawMessage `json:"executable"`
		} `json:"credential_source"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, errors.New("it holds no credentials")
	}
	if file.Source.Executable != nil {
		return nil, errors.New("its credentials come from a program, and none is started")
	}
	switch file.Type {
	case google.ServiceAccount, google.AuthorizedUser, google.ExternalAccount,
		google.ExternalAccountAuthorizedUser, google.ImpersonatedServiceAccount:
		creds, err := google.CredentialsFromJSONWithType(ctx, text, file.Type, scope)
		if err != nil {
			return nil, errors.New("its credentials cannot be used")
		}
		return creds.TokenSource, nil
	}
	return nil, fmt.Errorf("credentials of type %q are not known", clean(string(file.Type)))
}

// googleMachine reports whether this is a machine of Google Cloud.
func googleMachine(opts Options) bool {
	product, _ := os.ReadFile("/sys/class/dmi/id/product_name")
	name := strings.TrimSpace(string(product))
	return !opts.flagEnv("NO_GCE_CHECK") && (opts.env("GCE_METADATA_HOST") != "" || name == "Google" || name == "Google Compute Engine")
}

// authorize adds a token to a request. t may be nil: the request stays anonymous.
func (t *gsTokens) authorize(ctx context.Context, r *request) error {
	if r.header == nil {
		r.header = http.Header{}
	}
	if t == nil {
		return nil
	}
	token, err := t.get(ctx, r.name)
	if err == nil {
		r.header.Set("Authorization", "Bearer "+token)
	}
	return err
}

// get returns a valid token. It stops waiting when ctx is done. Its error names the object.
func (t *gsTokens) get(ctx context.Context, name string) (string, error) {
	var token *oauth2.Token
	var err error
	done := make(chan struct{})
	go func() { // ends after gsPatience, or after the timeout of x/oauth2 for the metadata server
		token, err = t.source.Token()
		close(done)
	}()
	select {
	case <-ctx.Done():
		return "", unreached(ctx, name, nil)
	case <-done:
	}
	if err == nil {
		return token.AccessToken, nil
	}
	e := &Error{URL: Redact(name), Kind: ErrDenied, Hint: hintGoogle}
	if refusal, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		err = errors.New(refusal.ErrorCode + " " + refusal.ErrorDescription)
		if resp := refusal.Response; resp != nil {
			if again := statusError(name, resp); again.Again {
				e = again
			}
			e.Status = resp.StatusCode
		}
	} else if lost := t.lost.Load(); lost != nil && *lost != nil {
		return "", unreached(ctx, name, *lost)
	} else if _, ok := errors.AsType[*url.Error](err); ok {
		return "", unreached(ctx, name, err)
	}
	e.Err = fmt.Errorf("no token is given for the credentials: %s", serviceText(err.Error()))
	return "", e
}
