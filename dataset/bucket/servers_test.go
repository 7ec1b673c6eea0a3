package bucket_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/test/testserver"
	"github.com/ffconvert/ffconvert/internal/test/versitygw"
)

const (
	user   = "AKIAWRITERTEST"
	secret = "secret-of-the-writer"
)

// into is a conversion into a bucket of a server, by a user of it. env has the variables that lead there.
func into(t *testing.T, s interface{ Env() []string }, url string, change ...string) *convert.Conversion {
	t.Helper()
	env := map[string]string{}
	for _, v := range append(s.Env(), change...) {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	c := store.New(store.Options{LookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok }, Retries: 2, Patience: 20 * time.Second})
	t.Cleanup(c.Close)
	one := of(t, nil, t.TempDir(), url)
	one.Bucket.Client = c
	return one
}

// refused fails unless err is a line of that kind about the bucket, without the secret.
func refused(t *testing.T, err, want error, kind place.Kind, url string) {
	t.Helper()
	switch {
	case !errors.Is(err, want) || place.KindOf(err) != kind:
		t.Fatalf("%v, of kind %v, want %v", err, place.KindOf(err), want)
	case strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), url):
		t.Errorf("not a line about %s: %q", url, err)
	}
}

// A right that is missing is told in a line; with it the same conversion goes on.
func TestRights(t *testing.T) {
	t.Parallel()
	gateway := versitygw.Start(t)
	versitygw.User(t, gateway, user, secret)
	all := testserver.Grant{User: user, Bucket: []string{"s3:ListBucket", "s3:ListBucketMultipartUploads"},
		Objects: []string{"s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"}}
	for _, lacks := range []string{"s3:ListBucket", "s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:ListBucketMultipartUploads"} {
		t.Run(lacks, func(t *testing.T) {
			bucket := "rights-" + strings.ToLower(lacks[3:])
			url := "s3://" + bucket + "/data/"
			gateway.Bucket(t, bucket)
			some := testserver.Grant{User: user, Bucket: but(all.Bucket, lacks), Objects: but(all.Objects, lacks)}
			gateway.Allow(t, bucket, some)
			as := []string{"AWS_ACCESS_KEY_ID=" + user, "AWS_SECRET_ACCESS_KEY=" + secret}
			c := into(t, gateway, url, as...)
			var notes []string
			c.Bucket.Warn = func(text string) { notes = append(notes, text) }
			_, err := c.Write(t.Context())
			switch lacks {
			case "s3:DeleteObject": // what an unfinished dataset needs stays
				if err != nil || len(notes) != 1 || !strings.Contains(notes[0], dataset.DoneDir) {
					t.Fatalf("%v, %q", err, notes)
				}
			case "s3:ListBucketMultipartUploads", "s3:GetObject": // the first run needs neither
				if err != nil {
					t.Fatal(err)
				}
			default:
				refused(t, err, store.ErrDenied, place.Refused, "s3://"+bucket)
			}
			if lacks == "s3:GetObject" {
				_, err := into(t, gateway, url, as...).Write(t.Context())
				refused(t, err, store.ErrDenied, place.Refused, url)
			}
			gateway.Allow(t, bucket, all)
			if done, err := into(t, gateway, url, as...).Write(t.Context()); err != nil || done.Shards != 3 {
				t.Fatalf("with all rights: %+v, %v", done, err)
			}
		})
	}
}

func but(all []string, one string) (rest []string) {
	for _, a := range all {
		if a != one {
			rest = append(rest, a)
		}
	}
	return rest
}

// Services disagree about these names.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"s3://bucket", "GS://bucket/", "s3://bucket/a b/.c/..d//"} {
		if err := bucket.Check(url); err != nil {
			t.Error(err)
		}
	}
	for _, url := range []string{"https://host/data", "s3://bucket//data", "s3://bucket/a//b", "gs://bucket/./b/", "s3://bucket/a/.."} {
		if err := bucket.Check(url); !errors.Is(err, store.ErrURL) {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// Wrong credentials and a bucket that there is none of are told in a line.
func TestNoBucket(t *testing.T) {
	t.Parallel()
	gateway := versitygw.Start(t)
	gateway.Bucket(t, "there")
	_, err := into(t, gateway, "s3://nowhere/data/").Write(t.Context())
	refused(t, err, store.ErrNotFound, place.Refused, "s3://nowhere/")
	_, err = into(t, gateway, "s3://there/data/", "AWS_SECRET_ACCESS_KEY="+secret).Write(t.Context())
	refused(t, err, store.ErrDenied, place.Refused, "s3://there/data/")
}

// A bucket that is full is told as such; when there is room the same conversion goes on.
func TestFull(t *testing.T) {
	t.Parallel()
	testserver.NeedDisk(t)
	kind := versitygw.Kind()
	kind.Disk = "1m"
	gateway := kind.Start(t)
	gateway.Bucket(t, "small")
	const url = "s3://small/data/"
	c := into(t, gateway, url)
	ballast := bytes.NewReader(make([]byte, 600<<10))
	if _, err := c.Bucket.Client.Put(t.Context(), &store.Upload{URL: "s3://small/ballast", From: ballast, Size: ballast.Size()}); err != nil {
		t.Fatal(err)
	}
	_, err := c.Write(t.Context())
	refused(t, err, store.ErrFull, place.IO, "s3://small/data/")
	if _, err := c.Bucket.Client.Stat(t.Context(), url+"manifest.json"); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("a manifest: %v", err)
	}
	if err := c.Bucket.Client.Remove(t.Context(), store.Object{URL: "s3://small/ballast"}); err != nil {
		t.Fatal(err)
	}
	done, err := into(t, gateway, url).Write(t.Context())
	if err != nil || done.Shards != 3 {
		t.Fatalf("%+v, %v", done, err)
	}
}

// On each server there is, a conversion makes the same objects, and a second one changes none.
func TestServers(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]testserver.S3{"versitygw": versitygw.Kind(), "minio": testserver.MinIO(), "gofakes3": testserver.GoFakeS3()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := kind.Start(t)
			server.Bucket(t, "data-of-"+name)
			twice(t, server, fmt.Sprintf("s3://data-of-%s/a b+c%%20ü/", name))
		})
	}
	t.Run("fake-gcs-server", func(t *testing.T) {
		t.Parallel()
		server := testserver.StartGoogle(t)
		server.Bucket(t, "data")
		twice(t, server, "gs://data/a b+c%20ü/")
	})
}

func twice(t *testing.T, server interface{ Env() []string }, url string) {
	for i := range 2 {
		c := into(t, server, url)
		c.Bucket.ReadBack = i == 0
		done, err := c.Write(t.Context())
		if err != nil || done.Samples != 120 || i == 1 && (done.Kept != 3 || !done.Already) {
			t.Fatalf("%+v, %v", done, err)
		}
		var names []string
		for o, err := range c.Bucket.Client.List(t.Context(), url) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, strings.TrimPrefix(o.URL, url))
		}
		if len(names) != 10 {
			t.Errorf("the bucket has %q", names)
		}
	}
}
