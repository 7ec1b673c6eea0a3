package remote

import (
	"context"
	"crypto/tls"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// An s3Meaning is the meaning of an error code of the service that the status of the reply does not
// tell.
// Codes: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
type s3Meaning struct {
	kind   error
	text   string // in place of what the service says
	hint   string
	advice Advice
}

const (
	hintKeys    = "see AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE; do they belong to this endpoint?"
	hintRenew   = "get new ones, such as by aws sso login, or set AWS_SESSION_TOKEN anew"
	hintClock   = "set this machine's clock"
	textExpired = "the credentials have expired"
	textClock   = "this machine's clock differs from the clock of the service"
)

var s3Meanings = map[string]s3Meaning{
	"NoSuchKey":    {kind: ErrNotFound, text: "the bucket holds no such key"},
	"NoSuchBucket": {kind: ErrNotFound, text: "there is no such bucket", advice: SetEndpoint},

	"AccessDenied":          {kind: ErrDenied, hint: "reading needs s3:GetObject, patterns need s3:ListBucket; see AWS_PROFILE", advice: SetAnonymous},
	"InvalidAccessKeyId":    {kind: ErrDenied, hint: hintKeys},
	"XAdminUserNotFound":    {kind: ErrDenied, text: "the access key id is not known", hint: hintKeys}, // versitygw
	"SignatureDoesNotMatch": {kind: ErrDenied, text: "the secret access key does not belong to the access key id", hint: hintKeys},
	"ExpiredToken":          {kind: ErrDenied, text: textExpired, hint: hintRenew},
	"ExpiredTokenException": {kind: ErrDenied, text: textExpired, hint: hintRenew},
	"TokenRefreshRequired":  {kind: ErrDenied, text: textExpired, hint: hintRenew},
	"InvalidToken":          {kind: ErrDenied, text: "the session token is not valid", hint: hintRenew},
	"RequestTimeTooSkewed":  {kind: ErrDenied, text: textClock, hint: hintClock},
	"RequestExpired":        {kind: ErrDenied, text: textClock, hint: hintClock},
	"InvalidObjectState":    {kind: ErrDenied, text: "the object is archived", hint: "restore it first, such as by aws s3api restore-object"},

	"AuthorizationHeaderMalformed": {kind: ErrSetting},
	"InvalidRegion":                {kind: ErrSetting},
	"PermanentRedirect":            {kind: ErrSetting, text: "the bucket is in another region", advice: SetRegion},
	"TemporaryRedirect":            {kind: ErrSetting, text: "the bucket is at another endpoint", advice: SetEndpoint},
	"InvalidBucketName":            {kind: ErrURL},
	"XMinioInvalidObjectName":      {kind: ErrURL},
	"KeyTooLongError":              {kind: ErrURL},
	"InvalidURI":                   {kind: ErrURL},

	"PreconditionFailed": {kind: ErrChanged, text: "it has another version", hint: againHint},
	"InvalidRange":       {kind: ErrChanged, text: "it is shorter", hint: againHint},

	// These come with a status that says otherwise.
	"RequestTimeout":      {kind: ErrUnavailable},
	"Throttling":          {kind: ErrUnavailable},
	"ThrottlingException": {kind: ErrUnavailable},
	"OperationAborted":    {kind: ErrUnavailable},
}

// refused makes the error of a reply without success. It also returns the region of the bucket, if the
// service names another region than asked. Codes that are not in s3Meanings are told in the
// service's own text, without the secrets.
func (s *s3Store) refused(name string, resp *http.Response, asked string, secrets []string) (e *Error, region string) {
	body := errorBody(resp)
	var answer struct {
		XMLName               xml.Name `xml:"Error"`
		Code, Message, Region string
	}
	if xml.Unmarshal(body, &answer) != nil {
		answer.Code, answer.Message, answer.Region = "", "", ""
	}
	region = resp.Header.Get("X-Amz-Bucket-Region")
	if region == "" {
		region = answer.Region
	}
	if region == asked || strings.ContainsAny(region, " /:@?#") || len(region) > 64 {
		region = ""
	}
	e = statusError(name, resp)
	code, message := said(answer.Code, secrets...), said(answer.Message, secrets...)
	m, known := s3Meanings[answer.Code]
	switch {
	case known:
		e.Kind, e.Hint, e.Advice, e.Again = m.kind, m.hint, m.advice, m.kind == ErrUnavailable
	case resp.StatusCode/100 == 3:
		e.Kind, e.Hint, e.Advice = ErrSetting, "is it in another region?", SetEndpoint
	case resp.StatusCode == http.StatusNotFound:
		e.Advice = SetEndpoint
	case resp.StatusCode == http.StatusBadRequest:
		e.Kind, e.Hint = ErrSetting, "is the endpoint an S3 service, http: or https:?"
	}
	switch {
	case m.text != "":
		e.Err = errors.New(m.text)
	case code == "": // the status says it
	case strings.EqualFold(strings.ReplaceAll(message, " ", ""), code): // Access Denied
		e.Err = nil
	case message == "":
		e.Err = errors.New(code)
	default:
		e.Err = fmt.Errorf("%s: %s", code, message)
	}
	switch {
	case e.Kind == ErrSetting && region != "":
		e.Err, e.Hint, e.Advice = fmt.Errorf("the bucket is in the region %s", region), "", SetRegion
	case e.Kind == ErrSetting && e.Hint == "" && strings.Contains(strings.ToLower(message), "region"):
		e.Advice = SetRegion
	case e.Kind == ErrDenied && s.creds == nil:
		e.Hint, e.Advice = "", UnsetAnonymous
	}
	return e, region
}

// unreached returns the error of a request without a reply.
func (s *s3Store) unreached(ctx context.Context, name string, err error) *Error {
	e := unreached(ctx, name, err)
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || errors.Is(err, http.ErrSchemeMismatch) {
		e.Kind, e.Again = ErrSetting, false
		e.Hint = fmt.Sprintf("the endpoint speaks http: name it http://%s", s.config.host)
	}
	return e
}
