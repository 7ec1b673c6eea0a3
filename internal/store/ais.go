package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// An aisStore reads the objects of an AIStore cluster at AIS_ENDPOINT, by its native API:
//
//	HEAD, GET {endpoint}/v1/objects/BUCKET/OBJECT?provider=P
//	GET       {endpoint}/v1/buckets/BUCKET?provider=P   {"action":"list","value":{…}}
//
// P is the ?provider= of an ais: URL ([SplitProvider]), or ais without one. If USE_AIS_FOR selects
// this service for s3: and gs: URLs, P is aws and gcp.
//
// A gateway redirects a request for an object to the target node that stores it, on another port or
// host. AIS_AUTHN_TOKEN, or the token in AIS_AUTHN_TOKEN_FILE, is sent only to the host
// and port of AIS_ENDPOINT: the gateway checks it, and the target trusts the redirect.
//
// The version of an object combines all its attributes, see aisPin. The API has no If-Match, so open
// refuses a reply with different attributes. Replies to ranges lack the checksum; if that is the only
// attribute, comparing the checksum of the fetched bytes detects a change.
//
// https://github.com/NVIDIA/aistore/blob/main/docs/http_api.md, api/apc/lsmsg.go, cmn/objlist.go
type aisStore struct {
	readOnly
	endpoint string // without a trailing slash
	token    string
	client   *http.Client
	pageSize int // names per page of a list; 0: the service decides
}

func newAIS(opts Options, hc *http.Client) (service, error) {
	endpoint := opts.env("AIS_ENDPOINT")
	if endpoint == "" {
		return nil, &Error{Kind: ErrSetting, Err: errors.New("AIS_ENDPOINT is not set"), Hint: "as in AIS_ENDPOINT=http://gateway:8080"}
	}
	u, err := readEndpoint("AIS_ENDPOINT", endpoint, "http", "http://gateway:8080")
	if err != nil {
		return nil, err
	}
	s := &aisStore{endpoint: u.Scheme + "://" + u.Host + strings.TrimRight(u.EscapedPath(), "/"), client: hc}
	if !opts.Anonymous {
		if s.token, err = aisToken(opts); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// aisToken returns the token of `ais auth login`, from the environment or from a file {"token": "…"};
// "" if neither is set.
func aisToken(opts Options) (string, error) {
	if token := opts.env("AIS_AUTHN_TOKEN"); token != "" {
		return token, nil
	}
	path := opts.env("AIS_AUTHN_TOKEN_FILE")
	if path == "" {
		return "", nil
	}
	text, err := readFile(path, maxAnswer)
	if err != nil {
		return "", &Error{Kind: ErrSetting, Err: fmt.Errorf("AIS_AUTHN_TOKEN_FILE: %w", err)}
	}
	var file struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(text, &file); err != nil || file.Token == "" {
		return "", &Error{Kind: ErrSetting, Err: errors.New("AIS_AUTHN_TOKEN_FILE: it holds no token"), Hint: "run ais auth login"}
	}
	return file.Token, nil
}

// An aisName names an object, or the prefix of a list: bucket, key and the provider of the bucket.
type aisName struct{ bucket, object, provider string }

func splitAIS(name string, partial bool) (aisName, *Error) {
	plain, provider := SplitProvider(name)
	bucket, object, bad := splitBucket(plain, partial)
	if bad != nil {
		return aisName{}, bad
	}
	n := aisName{bucket, object, cmp.Or(provider, map[string]string{"s3": "aws", "gs": "gcp"}[schemeOf(name)], "ais")}
	if !slices.Contains(aisProviders, n.provider) {
		return aisName{}, &Error{URL: Redact(name), Kind: ErrURL, Err: fmt.Errorf("%q is not a provider of AIStore", clean(n.provider)), Hint: strings.Join(aisProviders, ", ")}
	}
	return n, nil
}

// aisProviders are the values that ?provider= accepts, with the short names (AIStore's api/apc/provider.go).
var aisProviders = []string{"ais", "aws", "s3", "gcp", "gs", "azure", "az", "oci", "oc", "ht"}

const providerQuery = "?provider="

// SplitProvider splits an ais: URL before its ?provider=, the cloud that stores the bucket. provider is ""
// if the URL names none: AIStore itself stores the bucket.
//
//	ais://bucket/key?provider=aws   ais://bucket?provider=aws
func SplitProvider(url string) (rest, provider string) {
	if i := strings.LastIndex(url, providerQuery); i >= 0 && schemeOf(url) == "ais" && !strings.Contains(url[i:], "/") {
		return url[:i], url[i+len(providerQuery):]
	}
	return url, ""
}

// address returns the request URL of an object (what is "objects") or of a bucket's list (what is "buckets").
func (s *aisStore) address(what string, n aisName) string {
	a := s.endpoint + "/v1/" + what + "/" + url.PathEscape(n.bucket)
	if what == "objects" {
		for part := range strings.SplitSeq(n.object, "/") {
			a += "/" + escapeAll(part)
		}
	}
	return a + "?provider=" + url.QueryEscape(n.provider)
}

func (s *aisStore) stat(ctx context.Context, name string) (Object, error) {
	n, bad := splitAIS(name, false)
	if bad != nil {
		return Object{}, bad
	}
	resp, err := s.do(ctx, request{name: name, method: http.MethodHead, address: s.address("objects", n), header: http.Header{}})
	if err != nil {
		return Object{}, err
	}
	resp.Body.Close()
	h := resp.Header
	return Object{URL: name, Size: resp.ContentLength, Version: aisVersion(aisPin(h, true)), Modified: lastModified(h), Sum: aisSum(h)}, nil
}

// aisSum returns the checksum of an object. It ignores "sha256", which means SHA-512/256 in some
// versions of AIStore.
func aisSum(h http.Header) Sum {
	sum := Sum{Kind: strings.ToLower(h.Get("Ais-Checksum-Type")), Value: strings.ToLower(h.Get("Ais-Checksum-Value"))}
	if sum.Kind == "sha256" || sum.NewHash() == nil {
		return Sum{}
	}
	return sum
}

func (s *aisStore) open(ctx context.Context, o Object, off, n int64) (*reply, error) {
	name, bad := splitAIS(o.URL, false)
	if bad != nil {
		return nil, bad
	}
	header := http.Header{}
	setRange(header, off, n)
	resp, err := s.do(ctx, request{name: o.URL, method: http.MethodGet, address: s.address("objects", name), header: header})
	if err != nil {
		return nil, err
	}
	var sum Sum
	whole := resp.StatusCode == http.StatusOK
	if whole { // otherwise the header has the checksum of the range
		sum = aisSum(resp.Header)
	}
	if err := samePin(o, aisPin(resp.Header, whole)); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return replyOf(o, resp, o.Version, sum)
}

// aisProps are the attributes that a list request asks for: the input of aisListPin.
const aisProps = "name,size,version,checksum,custom"

// aisDirectory is the flag of list entries that are directories (apc.EntryIsDir).
const aisDirectory = 1 << 8

func (s *aisStore) list(ctx context.Context, prefix, token string, uploads bool) (page []Object, next string, err error) {
	n, bad := splitAIS(prefix, true)
	if uploads {
		return nil, "", nil
	}
	if bad != nil {
		return nil, "", bad
	}
	var query struct {
		Action string `json:"action"`
		Value  struct {
			ID     string `json:"uuid"` // of the list, from the reply with the previous page
			Props  string `json:"props"`
			Prefix string `json:"prefix"`
			Token  string `json:"continuation_token"`
			Size   int    `json:"pagesize"`
		} `json:"value"`
	}
	query.Action, query.Value.Props, query.Value.Prefix, query.Value.Size = "list", aisProps, n.object, s.pageSize
	query.Value.ID, query.Value.Token, _ = strings.Cut(token, " ")
	body, err := json.Marshal(query)
	if err != nil {
		return nil, "", &Error{URL: Redact(prefix), Kind: ErrURL, Err: err}
	}
	resp, err := s.do(ctx, request{name: prefix, method: http.MethodGet, address: s.address("buckets", n),
		header: http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}},
		body:   func() io.Reader { return bytes.NewReader(body) }, size: int64(len(body))})
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	var answer struct {
		ID      string `json:"uuid"`
		Token   string `json:"continuation_token"`
		Entries []struct {
			Name    string `json:"name"`
			Version string `json:"version"`
			Sum     string `json:"checksum"` // the value without its kind
			Custom  string `json:"custom-md"`
			Size    int64  `json:"size,string"`
			Flags   uint64 `json:"flags"`
		} `json:"entries"`
	}
	if err := decode(ctx, prefix, resp, maxPage, into(json.Unmarshal, &answer)); err != nil {
		return nil, "", err
	}
	for _, entry := range answer.Entries {
		if entry.Flags&aisDirectory == 0 {
			page = append(page, Object{URL: listed(prefix, entry.Name), Size: entry.Size, Version: aisVersion(aisListPin(n.provider, entry.Version, entry.Sum, entry.Custom))})
		}
	}
	if answer.Token == "" {
		return page, "", nil
	}
	return page, answer.ID + " " + answer.Token, nil
}

func (s *aisStore) do(ctx context.Context, r request) (*http.Response, error) {
	if s.token != "" { // redirect removes it for other hosts
		r.header.Set("Authorization", "Bearer "+s.token)
	}
	resp, err := r.send(ctx, s.client)
	switch {
	case err != nil:
		return nil, err
	case !slices.Contains(read, resp.StatusCode):
		defer resp.Body.Close()
		return nil, s.refused(r.name, resp)
	case isHTML(resp) && resp.Header.Get("Ais-Checksum-Type") == "" && resp.Header.Get("Ais-Version") == "":
		return nil, notService(r.name, resp, "is AIS_ENDPOINT an AIStore?")
	}
	return resp, nil
}

// refused makes the error of a reply without success from its JSON, which a reply to HEAD has in a header.
// It takes only the message: the other members name hosts and paths inside the cluster.
func (s *aisStore) refused(name string, resp *http.Response) *Error {
	e := statusError(name, resp)
	text := resp.Header.Get("Hdr-Error")
	if text == "" {
		text = string(errorBody(resp))
	}
	var answer struct {
		Message string `json:"message"`
	}
	if json.Unmarshal([]byte(text), &answer) == nil {
		text = answer.Message
	}
	if text = serviceText(text, s.token); text != "" && !strings.Contains(text, "<") {
		e.Err = errors.New(text)
	}
	if e.Kind == ErrDenied {
		e.Hint = "see AIS_AUTHN_TOKEN, AIS_AUTHN_TOKEN_FILE; run ais auth login"
	}
	return e
}
