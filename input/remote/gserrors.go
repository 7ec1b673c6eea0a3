package remote

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
)

const hintGoogle = "run gcloud auth application-default login, or name a key in GOOGLE_APPLICATION_CREDENTIALS"

// refused says what a reply of Google Cloud Storage means that is not the object.
func (s *gsStore) refused(name string, resp *http.Response) *Error {
	e := statusError(name, resp)
	e.URL = Redact(name)
	text := gsText(resp)
	if text != "" {
		e.Err = errors.New(text)
	}
	switch {
	case resp.StatusCode == http.StatusNotFound && strings.Contains(text, "bucket"):
		e.Err = errors.New("there is no such bucket")
	case resp.StatusCode == http.StatusNotFound:
		e.Err = errors.New("the bucket holds no such object")
	case resp.StatusCode == http.StatusPreconditionFailed:
		e.Err = errors.New("it has another generation")
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable:
		e.Err = errors.New("it is shorter")
	case e.Kind == ErrDenied && s.tokens == nil:
		e.Hint = hintGoogle
	case resp.StatusCode == http.StatusUnauthorized:
		e.Hint = hintGoogle
	case e.Kind == ErrDenied:
		e.Hint = "reading needs storage.objects.get, patterns need storage.objects.list; --anonymous for a public bucket"
	case strings.Contains(text, "requester pays"):
		e.Kind, e.Hint = ErrDenied, "buckets whose requester pays are not supported"
	}
	return e
}

// gsText is the message of an error: {"error":{"message":…}}; where bytes were asked for, a line
// of text under whatever Content-Type. A page is none.
func gsText(resp *http.Response) string {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // cut or not, the status says more
	var answer struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) == nil {
		return said(answer.Error.Message)
	}
	if text := strings.TrimSpace(string(body)); !strings.ContainsAny(text, "<\n") {
		return said(text)
	}
	return ""
}
