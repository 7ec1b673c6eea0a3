package testserver

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// An object that is removed after it was listed is left out: a request of a program that was killed may be carried out then.
func TestObjectsGone(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		const entry = `<Contents><Key>x/NAME</Key><Size>1</Size></Contents>`
		switch r.URL.Path {
		case "/bucket/":
			io.WriteString(w, `<ListBucketResult><IsTruncated>false</IsTruncated>`+strings.ReplaceAll(entry, "NAME", "gone")+strings.ReplaceAll(entry, "NAME", "there")+`</ListBucketResult>`)
		case "/bucket/x/there":
			w.Header().Set("Last-Modified", "Tue, 24 Nov 2026 00:00:00 GMT")
			io.WriteString(w, "1")
		default:
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, `<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>`)
		}
	}))
	t.Cleanup(server.Close)
	client, err := minio.NewCore(strings.TrimPrefix(server.URL, "http://"), &minio.Options{Creds: credentials.NewStaticV4("key", "secret", ""), Region: "us-east-1", BucketLookup: minio.BucketLookupPath})
	if err != nil {
		t.Fatal(err)
	}
	all, err := (&Server{Client: client}).Objects(t.Context(), "bucket", "x/")
	if err != nil || len(all) != 1 || string(all["there"]) != "1" {
		t.Errorf("%q, %v", all, err)
	}
}
