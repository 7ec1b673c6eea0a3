package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
)

// Google's application default credentials, read-only, from where its own libraries find them:
//
//	the file that GOOGLE_APPLICATION_CREDENTIALS names
//	the file that `gcloud auth application-default login` has left
//	the account of the machine, on Google's own
//
// Without any of them the service is asked anonymously, as for a public bucket.
//
// Unlike these libraries we never ask the network whether this is one of Google's machines,
// which takes seconds elsewhere: the firmware says so, or GCE_METADATA_HOST. NO_GCE_CHECK
// says no. And no program is started (credential_source.executable).
//
// https://cloud.google.com/docs/authentication/application-default-credentials
type gsTokens struct {
	source oauth2.TokenSource
	net    *lastError
}

// A lastError keeps what the last request has failed with, if it has: x/oauth2 makes text of it.
type lastError struct {
	next http.RoundTripper
	mu   sync.Mutex
	err  error
}

func (l *lastError) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.next.RoundTrip(req)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
	return resp, err
}

func (l *lastError) last() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

const gsScope = "https://www.googleapis.com/auth/devstorage.read_only"

// gsPatience bounds one request for a token.
const gsPatience = 20 * time.Second

// findGSTokens gives nil where there are no credentials.
func findGSTokens(opts Options, hc *http.Client) (*gsTokens, error) {
	t := &gsTokens{net: &lastError{next: hc.Transport}}
	client := &http.Client{Transport: t.net, CheckRedirect: hc.CheckRedirect, Timeout: gsPatience}
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, client)

	if path := opts.env("GOOGLE_APPLICATION_CREDENTIALS"); path != "" {
		return t.fromFile(ctx, path, "GOOGLE_APPLICATION_CREDENTIALS")
	}
	if path := gcloudFile(opts); path != "" {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return t.fromFile(ctx, path, path)
		}
	}
	if host := googleMachine(opts); host != "" {
		t.source = oauth2.ReuseTokenSource(nil, &gsMachine{host: host, client: client})
		return t, nil
	}
	return nil, nil
}

// gcloudFile is where gcloud keeps the credentials of applications.
func gcloudFile(opts Options) string {
	const base = "application_default_credentials.json"
	if dir := opts.env("CLOUDSDK_CONFIG"); dir != "" {
		return filepath.Join(dir, base)
	}
	if dir := opts.env("APPDATA"); dir != "" {
		return filepath.Join(dir, "gcloud", base)
	}
	if opts.home() == "" {
		return ""
	}
	return filepath.Join(opts.home(), ".config", "gcloud", base)
}

// fromFile reads a file of credentials. Errors do not quote it.
func (t *gsTokens) fromFile(ctx context.Context, path, from string) (*gsTokens, error) {
	bad := func(hint, format string, args ...any) (*gsTokens, error) {
		return nil, &Error{Kind: ErrSetting, Err: fmt.Errorf("%s: %w", from, fmt.Errorf(format, args...)), Hint: hint}
	}
	f, err := os.Open(path)
	if err != nil {
		return bad(hintGoogle, "%w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxAnswer))
	if err != nil {
		return bad(hintGoogle, "%w", err)
	}
	var file struct {
		Type   string `json:"type"`
		Source struct {
			Executable json.RawMessage `json:"executable"`
		} `json:"credential_source"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return bad(hintGoogle, "it holds no credentials")
	}
	if file.Source.Executable != nil {
		return bad("", "its credentials come from a program, and none is started")
	}
	switch kind := google.CredentialsType(file.Type); kind {
	case google.ServiceAccount, google.AuthorizedUser, google.ExternalAccount,
		google.ExternalAccountAuthorizedUser, google.ImpersonatedServiceAccount:
		creds, err := google.CredentialsFromJSONWithType(ctx, text, kind, gsScope)
		if err != nil {
			return bad(hintGoogle, "its credentials cannot be used")
		}
		t.source = creds.TokenSource
		return t, nil
	}
	return bad(hintGoogle, "credentials of type %q are not known", clean(file.Type))
}

// get gives a token that is valid for a while, and waits for one no longer than ctx.
func (t *gsTokens) get(ctx context.Context) (string, error) {
	type answer struct {
		token *oauth2.Token
		err   error
	}
	got := make(chan answer, 1)
	go func() { // which ends by gsPatience
		token, err := t.source.Token()
		got <- answer{token, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case a := <-got:
		if a.err != nil {
			return "", a.err
		}
		return a.token.AccessToken, nil
	}
}

// failure is that of get.
func (t *gsTokens) failure(ctx context.Context, name string, err error) *Error {
	if refusal, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		e := &Error{URL: Redact(name), Kind: ErrDenied, Hint: hintGoogle,
			Err: fmt.Errorf("no token is given for the credentials: %s", said(refusal.ErrorCode+" "+refusal.ErrorDescription))}
		if resp := refusal.Response; resp != nil {
			e.Status = resp.StatusCode
			if again := statusError(name, resp); again.Again {
				e.Kind, e.Again, e.After, e.Hint = again.Kind, true, again.After, ""
			}
		}
		return e
	}
	if net := t.net.last(); net != nil || ctx.Err() != nil {
		return unreached(ctx, name, net)
	}
	return &Error{URL: Redact(name), Kind: ErrDenied, Hint: hintGoogle,
		Err: fmt.Errorf("no token is given for the credentials: %s", said(err.Error()))}
}

// googleMachine is the host of the metadata, where this is one of Google's machines.
func googleMachine(opts Options) string {
	if opts.flagEnv("NO_GCE_CHECK") {
		return ""
	}
	if host := opts.env("GCE_METADATA_HOST"); host != "" {
		return host
	}
	product, _ := os.ReadFile("/sys/class/dmi/id/product_name")
	if name := strings.TrimSpace(string(product)); name == "Google" || name == "Google Compute Engine" {
		return "169.254.169.254"
	}
	return ""
}

// A gsMachine asks the machine's metadata for tokens.
//
// https://cloud.google.com/compute/docs/access/authenticate-workloads#applications
type gsMachine struct {
	host   string
	client *http.Client
}

func (m *gsMachine) Token() (*oauth2.Token, error) {
	address := "http://" + m.host + "/computeMetadata/v1/instance/service-accounts/default/token?scopes=" + gsScope
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("GCE_METADATA_HOST is not a host")
	}
	req.Header.Set("Metadata-Flavor", "Google")
	resp, err := m.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, &oauth2.RetrieveError{Response: resp, ErrorCode: "the machine has no account:", ErrorDescription: resp.Status}
	}
	var answer struct {
		Token   string `json:"access_token"`
		Seconds int64  `json:"expires_in"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&answer); err != nil || answer.Token == "" {
		return nil, errors.New("the machine gives no token")
	}
	return &oauth2.Token{AccessToken: answer.Token, Expiry: time.Now().Add(time.Duration(answer.Seconds) * time.Second)}, nil
}
