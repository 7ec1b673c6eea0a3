package store

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
)

// An s3Meaning maps error codes of the service to a kind that is more precise than the one of the status.
// Codes: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
type s3Meaning struct {
	codes string // separated by spaces
	kind  error
	text  string // replaces the message of the service; "": keep that
	hint  string
}

const (
	hintKeys     = "see AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE; do they belong to this endpoint?"
	hintEndpoint = "is the endpoint right? see option s3-endpoint, AWS_ENDPOINT_URL_S3"
	hintRegion   = "see option s3-region, AWS_REGION"
	hintRenew    = "get new ones, such as by aws sso login, or set AWS_SESSION_TOKEN anew"
)

var s3Meanings = []s3Meaning{
	{codes: "NoSuchKey", kind: ErrNotFound, text: "the bucket holds no such key"},
	{codes: "NoSuchUpload", kind: errNoUpload},
	{codes: "NoSuchBucket", kind: ErrNotFound, text: "there is no such bucket", hint: hintEndpoint},

	{codes: "AccessDenied", kind: ErrDenied, hint: "reading needs s3:GetObject, patterns need s3:ListBucket; see AWS_PROFILE; " + hintAnonymous},
	{codes: "InvalidAccessKeyId", kind: ErrDenied, hint: hintKeys},
	{codes: "XAdminUserNotFound", kind: ErrDenied, text: "the access key id is not known", hint: hintKeys}, // versitygw
	{codes: "SignatureDoesNotMatch", kind: ErrDenied, text: "the secret access key does not belong to the access key id", hint: hintKeys},
	{codes: "ExpiredToken ExpiredTokenException TokenRefreshRequired", kind: ErrDenied, text: "the credentials have expired", hint: hintRenew},
	{codes: "InvalidToken", kind: ErrDenied, text: "the session token is not valid", hint: hintRenew},
	{codes: "RequestTimeTooSkewed RequestExpired", kind: ErrDenied, text: "this machine's clock differs from the clock of the service", hint: "set this machine's clock"},
	{codes: "InvalidObjectState", kind: ErrDenied, text: "the object is archived", hint: "restore it first, such as by aws s3api restore-object"},

	{codes: "AuthorizationHeaderMalformed InvalidRegion", kind: ErrSetting},
	{codes: "PermanentRedirect", kind: ErrSetting, text: "the bucket is in another region", hint: hintRegion},
	{codes: "TemporaryRedirect", kind: ErrSetting, text: "the bucket is at another endpoint", hint: hintEndpoint},
	{codes: "InvalidBucketName XMinioInvalidObjectName KeyTooLongError InvalidURI", kind: ErrURL},

	{codes: "PreconditionFailed", kind: ErrChanged, text: "it has another version", hint: againHint},
	{codes: "InvalidRange", kind: ErrChanged, text: "it is shorter", hint: againHint},

	{codes: "QuotaExceeded XMinioStorageFull XMinioAdminBucketQuotaExceeded InsufficientStorage InsufficientCapacity StorageFull", kind: ErrFull, hint: fullHint},
	{codes: "BadDigest InvalidDigest XAmzContentChecksumMismatch XAmzContentSHA256Mismatch", kind: errBadBytes, text: "other bytes have come than were sent"},

	// The status of these would not allow a retry.
	{codes: "RequestTimeout Throttling ThrottlingException OperationAborted ConditionalRequestConflict", kind: ErrUnavailable},
}

// s3Expired are the codes for expired credentials.
var s3Expired = []string{"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"}

// Kinds of failure of a request that writes. The package handles them and does not export them.
var (
	errNoUpload = place.New(place.IO, "the upload has ended")              // completed or aborted, maybe by another process
	errBadBytes = place.New(place.IO, "the service has refused the bytes") // their checksum differs from that in the request
)

// s3WriteError sets kind and hint of an error of a request that writes.
func (e *Error) s3WriteError() {
	switch {
	case e.Status == http.StatusPreconditionFailed:
		e.Kind, e.Err, e.Hint = ErrExists, nil, ""
	case e.Kind == ErrDenied && e.code == "AccessDenied":
		e.Hint = "writing needs s3:PutObject and s3:AbortMultipartUpload, removing s3:DeleteObject; see AWS_PROFILE"
	case e.Kind == errBadBytes:
		e.Again = true
	}
}

// meaningOf returns the meaning of an error code; its kind is nil for other codes.
func meaningOf(code string) s3Meaning {
	for _, m := range s3Meanings {
		if slices.Contains(strings.Fields(m.codes), code) {
			return m
		}
	}
	return s3Meaning{}
}

// refused makes the error of a reply without success. It also returns the region of the bucket, if the reply
// names one other than signedFor, the region of the request. For codes that are not in s3Meanings the error has the
// message of the service, without the secrets.
func (s *s3Store) refused(name string, resp *http.Response, signedFor string, secrets []string) (e *Error, region string) {
	body := errorBody(resp)
	var answer struct {
		XMLName               xml.Name `xml:"Error"`
		Code, Message, Region string
	}
	if xml.Unmarshal(body, &answer) != nil {
		answer.Code, answer.Message, answer.Region = "", "", ""
	}
	region = cmp.Or(resp.Header.Get("X-Amz-Bucket-Region"), answer.Region)
	if region == signedFor || strings.ContainsAny(region, " /:@?#") || len(region) > 64 {
		region = ""
	}
	e = statusError(name, resp)
	e.code = answer.Code
	code, message := serviceText(answer.Code, secrets...), serviceText(answer.Message, secrets...)
	m := meaningOf(answer.Code)
	switch {
	case m.kind != nil:
		e.Kind, e.Hint, e.Again = m.kind, m.hint, m.kind == ErrUnavailable
	case resp.StatusCode/100 == 3:
		e.Kind, e.Hint = ErrSetting, "is it in another region?; "+hintEndpoint
	case resp.StatusCode == http.StatusNotFound:
		e.Hint = strings.TrimPrefix(e.Hint+"; "+hintEndpoint, "; ")
	case resp.StatusCode == http.StatusBadRequest:
		e.Kind, e.Hint = ErrSetting, "is the endpoint an S3 service, http: or https:?"
	}
	switch {
	case m.text != "":
		e.Err = errors.New(m.text)
	case code == "": // keep the text of the status
	case strings.EqualFold(strings.ReplaceAll(message, " ", ""), code): // "Access Denied" repeats the code
		e.Err = nil
	case message == "":
		e.Err = errors.New(code)
	default:
		e.Err = fmt.Errorf("%s: %s", code, message)
	}
	switch {
	case e.Kind == ErrSetting && region != "":
		e.Err, e.Hint = fmt.Errorf("the bucket is in the region %s", region), hintRegion
	case e.Kind == ErrSetting && e.Hint == "" && strings.Contains(strings.ToLower(message), "region"):
		e.Hint = hintRegion
	case e.Kind == ErrDenied && s.creds == nil:
		e.Hint = "without option anonymous the credentials of the environment are used"
	case resp.Request != nil && resp.Request.Method != http.MethodGet && resp.Request.Method != http.MethodHead:
		e.s3WriteError()
	}
	return e, region
}
