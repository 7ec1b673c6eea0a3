package store

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Uploads that were begun by another client, of a real service, are listed and aborted.
func TestPendingOfGateway(t *testing.T) {
	addr, admin := startGateway(t)
	c := client(t, Options{LookupEnv: environment(gatewayEnv(addr))})
	var want []string
	for _, key := range []string{"pending/a #+.ffr", "pending/b", "pendant"} {
		id, err := admin.NewMultipartUpload(t.Context(), bucketName, key, minio.PutObjectOptions{})
		must(t, err)
		if strings.HasPrefix(key, "pending/") {
			want = append(want, "s3://"+bucketName+"/"+key+" "+id)
		}
	}
	pending := func() (got []string) {
		for p, err := range c.Pending(t.Context(), "s3://"+bucketName+"/pending/") {
			must(t, err)
			if age := time.Since(p.Modified); age < -time.Minute || age > time.Hour {
				t.Errorf("%+v", p)
			}
			got = append(got, p.URL+" "+p.Upload)
		}
		return got
	}
	if got := pending(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q for %q", got, want)
	}
	for p, err := range c.Pending(t.Context(), "s3://"+bucketName+"/pending/") {
		must(t, err)
		for range 2 {
			must(t, c.Remove(t.Context(), p))
		}
	}
	if got := pending(); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// Pages, to their end, and a list without an end.
func TestPendingPages(t *testing.T) {
	f := newFakeS3(t)
	endless := false
	f.before = func(w http.ResponseWriter, r *http.Request, _ string, n int) bool {
		q := r.URL.Query()
		page := 0
		fmt.Sscanf(q.Get("upload-id-marker"), "id%d", &page)
		fmt.Fprintf(w, `<ListMultipartUploadsResult><EncodingType>url</EncodingType><IsTruncated>%v</IsTruncated>
			<NextKeyMarker>out%%2Fkey</NextKeyMarker><NextUploadIdMarker>id%d</NextUploadIdMarker>
			<Upload><Key>out%%2Fkey</Key><UploadId>id%[2]d</UploadId><Initiated>2024-05-06T07:08:09Z</Initiated></Upload>
			<Upload><Key>other</Key><UploadId>x</UploadId></Upload></ListMultipartUploadsResult>`, endless || page < 2, page+btoi(!endless))
		return true
	}
	c := f.client(Options{}, nil)
	var got []string
	for p, err := range c.Pending(t.Context(), "s3://train-data/out/") {
		must(t, err)
		got = append(got, p.URL+" "+p.Upload)
	}
	if strings.Join(got, ", ") != "s3://train-data/out/key id1, s3://train-data/out/key id2, s3://train-data/out/key id3" {
		t.Error(got)
	}
	endless = true
	var last error
	for _, err := range c.Pending(t.Context(), "s3://train-data/out/") {
		last = err
	}
	if !errors.Is(last, ErrNoList) {
		t.Error(last)
	}
}

// Credentials that expire in the middle of an upload are renewed where there are others.
func TestS3PutRenews(t *testing.T) {
	given := 0
	role := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given++
		fmt.Fprintf(w, `{"AccessKeyId":"key-%d","SecretAccessKey":"secret-of-the-role-%[1]d","Token":"token-of-the-role-%[1]d","Expiration":%q}`, given, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	}))
	f := newFakeS3(t)
	f.before = func(w http.ResponseWriter, r *http.Request, kind string, n int) bool {
		if kind != "CREATE" && strings.Contains(r.Header.Get("Authorization"), "key-1/") {
			refuseS3(w, 400, "ExpiredToken")
			return true
		}
		return false
	}
	c := f.client(Options{}, map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": "",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI": role.URL + "/role"})
	data := random(3500, 1)
	if _, err := putAll(t, c, putURL, data, false); err != nil {
		t.Fatal(err)
	}
	f.holds(putKey, data)
	if given != 2 {
		t.Errorf("credentials were given %d times", given)
	}
}

// Of several requests whose credentials have expired at the same time one asks for others.
func TestS3RenewsOnce(t *testing.T) {
	t.Parallel()
	given := &givenKeys{}
	s := &s3Store{creds: credentials.New(given)}
	for range 500 {
		old, err := s.creds.GetWithContext(&credentials.CredContext{})
		must(t, err)
		var wg sync.WaitGroup
		begin := make(chan struct{})
		before := given.n
		for range 8 {
			wg.Go(func() {
				<-begin
				if !s.renew(t.Context(), old) {
					t.Error("there are no others")
				}
			})
		}
		close(begin)
		if wg.Wait(); given.n != before+1 {
			t.Fatalf("credentials were given %d times", given.n-before)
		}
	}
}

// givenKeys are other credentials each time. minio-go calls it under a lock.
type givenKeys struct{ n int }

func (g *givenKeys) Retrieve() (credentials.Value, error) { return g.RetrieveWithCredContext(nil) }

func (g *givenKeys) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	g.n++
	return credentials.Value{AccessKeyID: fmt.Sprint("key-", g.n), SecretAccessKey: "secret"}, nil
}

func (g *givenKeys) IsExpired() bool { return false }
