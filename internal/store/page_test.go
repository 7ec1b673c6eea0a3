package store

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The list that a server shows of a directory is a page, and what to name in its place is told.
func TestPageOfDirectory(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"http://host/data/":      "name the files",
		"http://host/data/?a=b":  "name the files",
		"http://host/data/a.tar": "in a browser",
	} {
		resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/html"}}, Request: httptest.NewRequest("GET", url, nil)}
		if err := refusePage(url, resp); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", url, err, want)
		}
	}
}

// A reply without content is no page, whatever type it names: moto answers DELETE so.
func TestNoContentIsNoPage(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	if err := madeUpStore(t, server, nil).remove(t.Context(), Object{URL: "s3://train-data/a.tar"}); err != nil {
		t.Error(err)
	}
}
