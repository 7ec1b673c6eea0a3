package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

// An s3Meaning is what a code of the service says to the person who runs the conversion.
// Codes: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
type s3Meaning struct {
	kind  error
	text  string // in place of what the service says
	hint  string
	again bool
}

const (
	hintKeys  = "see AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE; do they belong to this endpoint?"
	hintRenew = "get new ones, such as by aws sso login, or set AWS_SESSION_TOKEN anew"
	hintClock = "set this machine's clock"
)

var s3Meanings = map[string]s3Meaning{
	"NoSuchKey":    {kind: ErrNotFound, text: "the bucket holds no such key"},
	"NoSuchBucket": {kind: ErrNotFound, text: "there is no such bucket", hint: "is the endpoint right? see --s3-endpoint, AWS_ENDPOINT_URL_S3"},

	"AccessDenied":          {kind: ErrDenied, hint: "reading needs s3:GetObject, patterns need s3:ListBucket; see AWS_PROFILE, --anonymous"},
	"AllAccessDisabled":     {kind: ErrDenied},
	"AccountProblem":        {kind: ErrDenied},
	"InvalidAccessKeyId":    {kind: ErrDenied, hint: hintKeys},
	"XAdminUserNotFound":    {kind: ErrDenied, text: "the access key id is not known", hint: hintKeys}, // versitygw
	"SignatureDoesNotMatch": {kind: ErrDenied, text: "the secret access key is not that of the access key id", hint: hintKeys},
	"ExpiredToken":          {kind: ErrDenied, text: "the credentials have expired", hint: hintRenew},
	"ExpiredTokenException": {kind: ErrDenied, text: "the credentials have expired", hint: hintRenew},
	"TokenRefreshRequired":  {kind: ErrDenied, text: "the credentials have expired", hint: hintRenew},
	"InvalidToken":          {kind: ErrDenied, text: "the session token is not valid", hint: hintRenew},
	"RequestTimeTooSkewed":  {kind: ErrDenied, text: "this machine's clock is not that of the service", hint: hintClock},
	"RequestExpired":        {kind: ErrDenied, text: "this machine's clock is not that of the service", hint: hintClock},
	"InvalidObjectState":    {kind: ErrDenied, text: "the object is archived", hint: "restore it first, such as by aws s3api restore-object"},

	"AuthorizationHeaderMalformed": {kind: ErrSetting},
	"InvalidRegion":                {kind: ErrSetting},
	"PermanentRedirect":            {kind: ErrSetting, text: "the bucket is in another region", hint: "see --s3-region, AWS_REGION"},
	"TemporaryRedirect":            {kind: ErrSetting, text: "the bucket is at another endpoint", hint: "see --s3-endpoint, AWS_ENDPOINT_URL_S3"},
	"NotImplemented":               {kind: ErrSetting},
	"MethodNotAllowed":             {kind: ErrSetting},
	"InvalidBucketName":            {kind: ErrURL},
	"XMinioInvalidObjectName":      {kind: ErrURL},
	"KeyTooLongError":              {kind: ErrURL},
	"InvalidURI":                   {kind: ErrURL},

	"PreconditionFailed": {kind: ErrChanged, text: "it has another version", hint: againHint},
	"InvalidRange":       {kind: ErrChanged, text: "it is shorter", hint: againHint},

	"SlowDown":               {kind: ErrUnavailable, again: true},
	"ServiceUnavailable":     {kind: ErrUnavailable, again: true},
	"InternalError":          {kind: ErrUnavailable, again: true},
	"RequestTimeout":         {kind: ErrUnavailable, again: true},
	"Throttling":             {kind: ErrUnavailable, again: true},
	"ThrottlingException":    {kind: ErrUnavailable, again: true},
	"RequestLimitExceeded":   {kind: ErrUnavailable, again: true},
	"OperationAborted":       {kind: ErrUnavailable, again: true},
	"BandwidthLimitExceeded": {kind: ErrUnavailable, again: true},
}

// failure makes what minio-go returns an error of ours.
func (s *s3Store) failure(ctx context.Context, url string, err error, seen *s3Seen) error {
	if cause := context.Cause(ctx); cause != nil {
		return &Error{URL: Redact(url), Err: cause}
	}
	if e, ok := errors.AsType[*Error](err); ok {
		e.URL = Redact(url)
		return e
	}
	if e, ok := errors.AsType[*credsError](err); ok {
		kind := ErrDenied
		if e.again {
			kind = ErrUnavailable
		}
		return &Error{URL: Redact(url), Kind: kind, Err: e, Hint: e.hint, Again: e.again}
	}
	if seen.err != nil { // what minio-go has worded anew
		return s.unreached(url, seen.err)
	}
	resp, ok := errors.AsType[minio.ErrorResponse](err)
	switch {
	case seen.status/100 == 2:
		return s.unread(url, err, seen)
	case !ok || seen.status == 0: // before any request: what minio-go thinks of names
		return &Error{URL: Redact(url), Kind: ErrURL, Err: errors.New(said(err.Error(), s.creds.hidden()...))}
	}

	e := &Error{URL: Redact(url), Status: seen.status}
	m, known := s3Meanings[resp.Code]
	if !known {
		m = s3ByStatus(seen)
	}
	e.Kind, e.Hint, e.Again = m.kind, m.hint, m.again
	e.Err = s.said(resp, m, seen)
	if seen.header != nil {
		e.After = retryAfter(seen.header, time.Now())
	}
	if region := regionTold(err); region != "" && e.Kind == ErrSetting {
		e.Err = errors.New("the bucket is in another region")
		e.Hint = "--s3-region " + region
	} else if e.Kind == ErrSetting && e.Hint == "" && strings.Contains(strings.ToLower(resp.Message), "region") {
		e.Hint = "see --s3-region, AWS_REGION"
	}
	if s.creds == nil && e.Kind == ErrDenied {
		e.Hint = "without --anonymous the credentials of the environment are used"
	}
	return e
}

// said is the service's own text, where ours is not better: with its code, and without what
// it has no business to know.
func (s *s3Store) said(resp minio.ErrorResponse, m s3Meaning, seen *s3Seen) error {
	if m.text != "" {
		return errors.New(m.text)
	}
	code := resp.Code
	if strings.ContainsAny(code, " <") || code == "" { // not of the service, and neither is the message
		return statusText(seen.status)
	}
	hidden := s.creds.hidden()
	message := said(resp.Message, hidden...)
	if strings.EqualFold(strings.ReplaceAll(message, " ", ""), code) { // Access Denied
		return nil
	}
	if message != "" {
		return fmt.Errorf("%s: %s", said(code, hidden...), message)
	}
	return errors.New(said(code, hidden...))
}

// s3ByStatus is for codes that we do not know, and for answers that hold none.
func s3ByStatus(seen *s3Seen) s3Meaning {
	e := statusError("", &http.Response{StatusCode: seen.status, Header: seen.header})
	switch {
	case seen.status/100 == 3:
		return s3Meaning{kind: ErrSetting, hint: "see --s3-region, --s3-endpoint"}
	case seen.status == http.StatusNotFound:
		return s3Meaning{kind: ErrNotFound, hint: "is the endpoint right? see --s3-endpoint, AWS_ENDPOINT_URL_S3"}
	case seen.status == http.StatusBadRequest:
		return s3Meaning{kind: ErrSetting, hint: "is the endpoint an S3 service, http: or https:? see --s3-endpoint"}
	}
	return s3Meaning{kind: e.Kind, hint: e.Hint, again: e.Again}
}

// unreached is a request that no reply came to.
func (s *s3Store) unreached(url string, err error) *Error {
	if errors.Is(err, errEndless) {
		return noList(url, err)
	}
	e := transportError(url, err)
	e.URL = Redact(url)
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, http.ErrSchemeMismatch) {
		e.Kind, e.Again = ErrSetting, false
		e.Hint = fmt.Sprintf("the endpoint speaks http: --s3-endpoint http://%s", s.config.host)
	}
	return e
}

// unread is an answer that came, and that is not of S3.
func (s *s3Store) unread(url string, err error, seen *s3Seen) *Error {
	e := &Error{URL: Redact(url), Status: seen.status}
	switch {
	case isHTML(seen.header):
		e.Kind = ErrPage
		e.Hint = fmt.Sprintf("is %s an S3 service? a proxy in between?", s.config.host)
	case errors.Is(err, errTooLong):
		e.Kind, e.Err = ErrSetting, errTooLong
	default: // a list that was cut, most often
		e.Kind, e.Err, e.Again = ErrUnavailable, fmt.Errorf("its answer cannot be read: %s", said(err.Error(), s.creds.hidden()...)), true
	}
	return e
}

// regionTold is the region of the bucket, as an error of the service tells it.
func regionTold(err error) string {
	resp, ok := errors.AsType[minio.ErrorResponse](err)
	if !ok || strings.ContainsAny(resp.Region, " /:@?#") || len(resp.Region) > 64 {
		return ""
	}
	return resp.Region
}
