package store

import (
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ url, want string }{
		{"https://host/a/b.tar", "https://host/a/b.tar"},
		{"https://me:" + password + "@host:8/a?b=c#d", "https://host:8/a?b=c"},
		{"https://" + password + "@host", "https://host"},
		{"https://me:hun/ter2@host/a", "https://host/a"}, // no URL, and still
		{"https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA%2F20260101&X-Amz-Date=20260101T000000Z&X-Amz-Expires=900&X-Amz-SignedHeaders=host&X-Amz-Security-Token=t&X-Amz-Signature=" + password + "&versionId=7",
			"https://b.s3.amazonaws.com/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=REDACTED&X-Amz-Security-Token=REDACTED&X-Amz-Signature=REDACTED&versionId=7"},
		{"https://b.s3.amazonaws.com/k?AWSAccessKeyId=AKIA&Expires=1&Signature=" + password, "https://b.s3.amazonaws.com/k?AWSAccessKeyId=REDACTED&Signature=REDACTED"},
		{"https://storage.googleapis.com/b/o?X-Goog-Credential=c&X-Goog-Date=d&x-goog-signature=" + password + "&generation=5",
			"https://storage.googleapis.com/b/o?X-Goog-Credential=REDACTED&x-goog-signature=REDACTED&generation=5"},
		{"https://a.blob.core.windows.net/c/b?sv=2024&st=1&se=2&sr=b&sp=r&sig=" + password, "https://a.blob.core.windows.net/c/b?sv=2024&sr=b&sp=r&sig=REDACTED"},
		{"https://host/a?st=7&se=8", "https://host/a?st=7&se=8"}, // not signed: anything
		{"https://host/a?Access_Token=" + password + ";PASSWORD=" + password, "https://host/a?Access_Token=REDACTED&PASSWORD=REDACTED"},
		{"https://host/a?%73ig=" + password, "https://host/a?%73ig=REDACTED"},
		{"https://host/a?key=" + password, "https://host/a?key=REDACTED"},
		{"https://host/a?X-Amz-Date=1", "https://host/a?X-Amz-Date=1"},
		{"https://proxy/get?url=https://host/a?b=c", "https://proxy/get?url=REDACTED"},
		{"https://proxy/get?url=https%3A%2F%2Fme%3A" + password + "%40host%2Fa%3Fsig%3D" + password + "%26b%3Dc&n=1", "https://proxy/get?url=REDACTED&n=1"},
		{"https://proxy/get?url=https://me:" + password + "@host/a", "https://proxy/get?url=REDACTED"},
		{"https://a/?u=https://b/?u=https://c/?u=https://d/?u=https://me:" + password + "@e/", "https://a/?u=REDACTED"},
		{"https://a/?u=https%25253A%25252F%25252Fme:" + password + "@b", "https://a/?u=REDACTED"},
		{"https://host/a\x1b[31m\nb", "https://host/a%1B[31m%0Ab"},
		{"https://me:hun#" + password + "@host/a?b=c", "https://host/a?b=c"},
		{"https://me:hun?" + password + "@host/a#d", "https://host/a"},
		{"https:///me:" + password + "@host/a", "https://host/a"},
		{"https:/me:" + password + "@host/a", "https:host/a"},
		{"HTTPS:me:" + password + "@host/a", "HTTPS:host/a"},
		{"s3://me:hun/" + password + "@bucket/a", "s3://bucket/a"},
		{"s3://bucket/a:b@c", "s3://bucket/a:b@c"}, // all of it a key
		{"s3://bucket/a?X-Amz-Credential=me&x-amz-signature=" + password, "s3://bucket/a?REDACTED"},
		{"gs://bucket/a?X-Goog-Signature=" + password, "gs://bucket/a?REDACTED"},
		{"s3://bucket/a#1?sig=x\xff", "s3://bucket/a#1?sig=x%FF"}, // all of it a key
		{"no URL", "no URL"},
		{"", ""},
	} {
		if got := Redact(row.url); got != row.want || strings.Contains(got, password) {
			t.Errorf("%q: %q, want %q", row.url, got, row.want)
		} else if again := Redact(got); again != got {
			t.Errorf("%q: %q becomes %q", row.url, got, again)
		}
	}
}

// An identity is one object's, however often it is signed.
func TestIdentity(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		a, b string
		same bool
	}{
		{"https://h/k?X-Amz-Date=1&X-Amz-Signature=x", "https://h/k?X-Amz-Date=2&X-Amz-Signature=y", true},
		{"https://h/k?Expires=1&Signature=x", "https://h/k?Expires=2&Signature=y", true},
		{"https://me:x@h/k", "https://me:y@h/k", true},
		{"https://h/k?key=a.tar", "https://h/k?key=b.tar", false},
		{"https://h/k?token=a", "https://h/k?token=b", false},
		{"https://h/k?id=a", "https://h/k?id=b", false},
		{"https://h/k", "https://h/l", false},
		{"https://h/k?u=https%3A%2F%2Fg%2Fa%3Fsig%3D1", "https://h/k?u=https%3A%2F%2Fg%2Fa%3Fsig%3D2", false}, // a URL in a URL is one secret
		{"https://h/k?u=https%3A%2F%2Fg%2Fa%3Fsig%3D1", "https://h/k?u=https%3A%2F%2Fg%2Fb%3Fsig%3D1", false},
		{"s3://b/k#1", "s3://b/k#2", false},
		{"s3://b/k?sig=1", "s3://b/k?sig=2", false},
	} {
		if a, b := Identity(row.a), Identity(row.b); (a == b) != row.same {
			t.Errorf("%s is %s, and %s is %s", row.a, a, row.b, b)
		}
	}
	if id := Identity("https://h/k?token=" + password); strings.Contains(id, password) {
		t.Error(id)
	}
}

// What is not a secret of its own stays: the parameters of a URL tell objects apart.
func TestRedactKeeps(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"file", "versionId", "generation", "alt", "sv", "response-content-type", "Expires", "X-Amz-Date", "keys", ""} {
		if url := "https://host/a?" + name + "=v"; Redact(url) != url {
			t.Errorf("%q: %s", name, Redact(url))
		}
	}
	for _, name := range []string{"oauth_token", "client_secret", "API-Key", "code", "Policy", "hdnts", "X-OSS-Signature", "X-Goog-Security-Token"} {
		if got := Redact("https://host/a?" + name + "=" + password); got != "https://host/a?"+name+"=REDACTED" {
			t.Errorf("%q: %s", name, got)
		}
	}
}
