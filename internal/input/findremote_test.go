package input

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/test/inputtest"
)

func TestFindRemote(t *testing.T) {
	t.Parallel()
	tars := func(name string) bool { return strings.HasSuffix(name, ".tar") }
	var urls []string
	for _, scheme := range []string{"s3", "gs", "ais"} {
		for _, key := range []string{
			"a-0.tar", "a-1.tar", "a-2.tar", "b.tar.gz", ".hidden.tar", "notes.txt", "a b.tar", "d/", "d/10.tar", "d/2.tar", "d/.x.tar", "d/readme", "d/sub/9.tar",
			"e/é.tar", "e/z.tar", "e!/q.tar", "g*.tar", "gx.tar", "q?.tar", "qq.tar", "x{0..1}.tar", "p%20q.tar", "//odd.tar", "lit*/x.tar", "lita/y.tar", "f#1.tar", "f#2.tar",
		} {
			urls = append(urls, scheme+"://bucket/"+key)
		}
	}
	urls = append(urls, "ais://cloud/a-0.tar?provider=aws", "ais://cloud/a-1.tar?provider=aws", "ais://cloud/d/b.tar?provider=aws", "ais://cloud/a-0.tar?provider=gcp")
	urls = append(urls, "http://host/a.tar", "https://host/a.tar?v=1", "https://host/a.tar?v=2", "https://host/g*.tar", "https://host/x/", "https://host/get?key=a", "https://host/get?key=b")
	const s = "s3://bucket/"
	for _, tt := range []struct {
		name string
		args []string
		want []string
		asks int // of the service; 0: not counted
	}{
		{"one", []string{s + "b.tar.gz"}, []string{s + "b.tar.gz"}, 1},
		{"scheme in capitals", []string{"S3://bucket/b.tar.gz"}, []string{"S3://bucket/b.tar.gz"}, 1},
		{"braces", []string{s + "a-{0..2}.tar"}, []string{s + "a-0.tar", s + "a-1.tar", s + "a-2.tar"}, 3},
		{"order", []string{"gs://bucket/a-<2..1>.tar::ais://bucket/qq.tar", "http://host/a.tar"}, []string{"gs://bucket/a-2.tar", "gs://bucket/a-1.tar", "ais://bucket/qq.tar", "http://host/a.tar"}, 4},
		{"query", []string{"https://host/a.tar?v=1", "https://host/a.tar?v=2"}, []string{"https://host/a.tar?v=1", "https://host/a.tar?v=2"}, 2},
		{"a query that looks like a secret", []string{"https://host/get?key=a", "https://host/get?key=b"}, []string{"https://host/get?key=REDACTED", "https://host/get?key=REDACTED"}, 2},
		{"http, literal asterisk", []string{"https://host/g*.tar"}, []string{"https://host/g*.tar"}, 1},
		{"http, slash at the end", []string{"https://host/x/"}, []string{"https://host/x/"}, 1},
		{"glob", []string{s + "a-*.tar"}, []string{s + "a-0.tar", s + "a-1.tar", s + "a-2.tar"}, 2},
		{"glob gs", []string{"gs://bucket/a-?.tar"}, []string{"gs://bucket/a-0.tar", "gs://bucket/a-1.tar", "gs://bucket/a-2.tar"}, 2},
		{"glob ais", []string{"ais://bucket/a-[!1].tar"}, []string{"ais://bucket/a-0.tar", "ais://bucket/a-2.tar"}, 2},
		{"glob of a provider", []string{"ais://cloud/*.tar?provider=aws"}, []string{"ais://cloud/a-0.tar?provider=aws", "ais://cloud/a-1.tar?provider=aws"}, 2},
		{"directory of a provider", []string{"ais://cloud/d/?provider=aws"}, []string{"ais://cloud/d/b.tar?provider=aws"}, 1},
		{"bucket of a provider", []string{"ais://cloud?provider=aws"}, []string{"ais://cloud/a-0.tar?provider=aws", "ais://cloud/a-1.tar?provider=aws"}, 1},
		{"object of a provider", []string{"ais://cloud/a-{0..1}.tar?provider=aws"}, []string{"ais://cloud/a-0.tar?provider=aws", "ais://cloud/a-1.tar?provider=aws"}, 2},
		{"glob crosses no slash", []string{s + "*.tar"}, []string{s + "a b.tar", s + "a-0.tar", s + "a-1.tar", s + "a-2.tar", s + "f#1.tar", s + "f#2.tar", s + "g*.tar", s + "gx.tar", s + "q?.tar", s + "qq.tar", s + "x{0..1}.tar", s + "p%20q.tar"}, 2},
		{"glob of directories", []string{s + "[de]/*.tar"}, []string{s + "d/10.tar", s + "d/2.tar", s + "e/z.tar", s + "e/é.tar"}, 2},
		{"glob of all", []string{s + "d/*"}, []string{s + "d/10.tar", s + "d/2.tar", s + "d/readme"}, 2},
		{"glob of hidden", []string{s + "d/.*.tar"}, []string{s + "d/.x.tar"}, 2},
		{"braces and glob", []string{s + "{d,e}/*.tar"}, []string{s + "d/10.tar", s + "d/2.tar", s + "e/z.tar", s + "e/é.tar"}, 4},
		{"literal asterisk wins", []string{s + "g*.tar"}, []string{s + "g*.tar"}, 1},
		{"literal question mark wins", []string{s + "q?.tar"}, []string{s + "q?.tar"}, 1},
		{"escaped braces", []string{s + `x\{0..1\}.tar`}, []string{s + "x{0..1}.tar"}, 1},
		{"percent signs are no escapes", []string{s + "p%20q.tar"}, []string{s + "p%20q.tar"}, 1},
		{"number signs are of keys", []string{s + "f#1.tar", s + "f#2.tar"}, []string{s + "f#1.tar", s + "f#2.tar"}, 2},
		{"prefix", []string{s + "d/"}, []string{s + "d/10.tar", s + "d/2.tar"}, 1},
		{"bucket", []string{"s3://bucket"}, []string{s + "a b.tar", s + "a-0.tar", s + "a-1.tar", s + "a-2.tar", s + "f#1.tar", s + "f#2.tar", s + "g*.tar", s + "gx.tar", s + "p%20q.tar", s + "q?.tar", s + "qq.tar", s + "x{0..1}.tar"}, 1},
		{"prefix that is a glob", []string{s + "e*/"}, []string{s + "e!/q.tar", s + "e/z.tar", s + "e/é.tar"}, 2},
		{"literal prefix wins", []string{s + "lit*/"}, []string{s + "lit*/x.tar"}, 1},
		{"empty components", []string{s + "//odd.tar", s + "//"}, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := inputtest.ObjectsOf(urls...)
			got, err := findRemote(t, f, Options{Match: tars}, tt.args...)
			if tt.want == nil { // the same object by two names
				if !errors.Is(err, errRepeated) {
					t.Fatal(got, err)
				}
				return
			}
			if tt.name == "glob crosses no slash" {
				slices.Sort(tt.want)
			}
			if err != nil || !slices.Equal(got, tt.want) {
				t.Fatalf("got %q, %v; want %q", got, err, tt.want)
			}
			if tt.asks > 0 && len(f.Asked) != tt.asks {
				t.Errorf("asked for %q", f.Asked)
			}
		})
	}
}

// A name says what is known of its object, and holds no secret.
func TestFindRemoteSays(t *testing.T) {
	t.Parallel()
	const signed = "https://user:pw@host/a.tar?X-Amz-Signature=0123&X-Amz-Date=1"
	f := inputtest.ObjectsOf(signed, "s3://b/x.tar", "s3://b/d/y.tar")
	env := func(k string) (string, bool) { return "mirror/=s3://b/", k == "GOPEN_REWRITE" }
	args := []string{signed, "mirror/x.tar", "s3://b/d/"}
	found, err := Find(t.Context(), args, Options{Remote: f, LookupEnv: env})
	must(t, err)
	if len(found) != 3 {
		t.Fatal(found)
	}
	for i, want := range []Name{{Name: "https://host/a.tar?X-Amz-Signature=REDACTED"}, {Name: "mirror/x.tar"}, {Name: "s3://b/d/y.tar"}} {
		url := []string{signed, "s3://b/x.tar", "s3://b/d/y.tar"}[i]
		o := f.Object(url)
		got := found[i]
		if got.Object == nil || *got.Object != o {
			t.Errorf("object %+v, want %+v", got.Object, o)
		}
		want.Size, want.ModTime, want.Object = o.Size, o.Modified, got.Object
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if f.Stated.Load() != 2 {
		t.Errorf("%q: what was listed was looked at again", f.Asked)
	}
}

func TestFindRemoteArranges(t *testing.T) {
	t.Parallel()
	f := inputtest.ObjectsOf("s3://b/d/part-0", "s3://b/d/part-1", "s3://b/d/part-10", "s3://b/d/part-2", "s3://b/d/x", "s3://b/e/part-7", "s3://b/e/x")
	arrange := func(names []string) ([]string, error) {
		names = slices.DeleteFunc(names, func(n string) bool { return n == "x" })
		slices.SortFunc(names, func(a, b string) int { return len(a) - len(b) })
		if slices.Contains(names, "part-7") && len(names) > 1 {
			return nil, errors.New("mixed")
		}
		return names, nil
	}
	got, err := findRemote(t, f, Options{Arrange: arrange}, "s3://b/*/")
	want := []string{"s3://b/d/part-0", "s3://b/d/part-1", "s3://b/d/part-2", "s3://b/d/part-10", "s3://b/e/part-7"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	bad := func([]string) ([]string, error) { return nil, fs.ErrInvalid }
	if _, err := findRemote(t, f, Options{Arrange: bad}, "s3://b/d/"); !errors.Is(err, fs.ErrInvalid) || !strings.HasPrefix(err.Error(), "s3://b/d/: ") {
		t.Error(err)
	}
	none := func([]string) ([]string, error) { return nil, nil }
	if _, err := findRemote(t, f, Options{Arrange: none}, "s3://b/d/"); !errors.Is(err, ErrNoMatch) {
		t.Error(err)
	}
}

func TestFindRemoteRefuses(t *testing.T) {
	t.Parallel()
	root := tree(t, "here.tar")
	denied := &store.Error{URL: "s3://b/denied.tar", Kind: store.ErrDenied, Status: 403, Err: errors.New("HTTP 403 Forbidden"), Hint: "set credentials"}
	f := func() *inputtest.FakeRemote {
		f := inputtest.ObjectsOf("s3://b/a.tar", "s3://b/d/a.tar", "s3://b/d/b.tar", "https://host/a.tar?sig=1", "https://host/a.tar?sig=2", "s3://b/hid/.a.tar", "s3://b/deep/x/a.tar")
		f.Fails["s3://b/denied.tar"] = denied
		f.Fails["s3://b/late/"] = denied
		f.Fails["s3://b/bad"] = &store.Error{URL: "s3://b/bad", Kind: store.ErrURL}
		f.Objects["s3://b/late/a.tar"] = ""
		return f
	}
	for _, tt := range []struct {
		name string
		args []string
		opts Options
		want error
		says string
	}{
		{"missing", []string{"s3://b/no.tar"}, Options{}, ErrNotFound, "s3://b/no.tar: no such object: HTTP 404 Not Found (check the spelling"},
		{"missing is the service's", []string{"s3://b/no.tar"}, Options{}, store.ErrNotFound, ""},
		{"missing is not-exist", []string{"s3://b/no.tar"}, Options{}, fs.ErrNotExist, ""},
		{"missing many", []string{"s3://b/x{00..29}.tar"}, Options{}, ErrNotFound, "s3://b/x00.tar: no such file: 30 names in all, also s3://b/x01.tar, "},
		{"missing among others", []string{"s3://b/a.tar", "s3://b/x.tar", root + "/no.tar", "s3://b/y.tar", root + "/here.tar"}, Options{}, ErrNotFound, "s3://b/x.tar: no such file: 3 names in all, also " + root + "/no.tar, s3://b/y.tar"},
		{"missing, and a secret", []string{"https://u:pw@host/no.tar?X-Amz-Signature=1"}, Options{}, ErrNotFound, "https://host/no.tar?X-Amz-Signature=REDACTED: no such"},
		{"missing where nothing is listed", []string{"https://host/no.tar"}, Options{}, ErrNotFound, "HTTP 404 Not Found (check the spelling)"},
		{"a directory without its slash", []string{"s3://b/d"}, Options{}, ErrNotFound, "ends in /"},
		{"denied", []string{"s3://b/no.tar", "s3://b/denied.tar"}, Options{}, store.ErrDenied, "s3://b/denied.tar: access denied: HTTP 403 Forbidden (set credentials)"},
		{"denied in a list", []string{"s3://b/late/*.tar"}, Options{}, store.ErrDenied, "s3://b/late/*.tar: access denied"},
		{"bad URL", []string{"s3://b/bad"}, Options{}, errPattern, "s3://b/bad: bad URL"},
		{"glob", []string{"s3://b/*.zip"}, Options{}, ErrNoMatch, "s3://b/*.zip: nothing matches (check the pattern"},
		{"globs", []string{"s3://b/*.zip", "s3://c/"}, Options{}, ErrNoMatch, "s3://b/*.zip: nothing matches: 2 names in all, also s3://c/"},
		{"prefix of nothing", []string{"s3://b/none/"}, Options{}, ErrNoMatch, "s3://b/none/"},
		{"prefix of hidden objects", []string{"s3://b/hid/"}, Options{}, ErrNoMatch, "s3://b/hid/"},
		{"prefix of deeper objects", []string{"s3://b/deep/"}, Options{}, ErrNoMatch, "s3://b/deep/"},
		{"a directory of a glob that has nothing", []string{"s3://b/[dh]*/"}, Options{}, ErrNoMatch, "s3://b/hid/"},
		{"bad glob", []string{"s3://b/[a"}, Options{}, errPattern, "s3://b/[a"},
		{"bucket glob", []string{"s3://b*/a.tar"}, Options{}, errPattern, "a bucket cannot be a glob"},
		{"http glob", []string{"https://host/*.tar"}, Options{}, errPattern, "https: gives no lists"},
		{"http class", []string{"https://host/[ab].tar"}, Options{}, errPattern, "{000..009}"},
		{"http query is no glob", []string{"https://host/no.tar?x=*"}, Options{}, ErrNotFound, ""},
		{"twice", []string{"s3://b/a.tar", "s3://b/a.tar"}, Options{}, errRepeated, "s3://b/a.tar: given twice (leave one"},
		{"twice by a prefix", []string{"s3://b/d/b.tar", "s3://b/d/"}, Options{}, errRepeated, "s3://b/d/b.tar: given twice"},
		{"twice by another signature", []string{"https://host/a.tar?sig=1", "https://host/a.tar?sig=2"}, Options{}, errRepeated, "https://host/a.tar?sig=REDACTED"},
		{"too many by a list", []string{"s3://b/d/"}, Options{MaxNames: 1}, errPattern, "more than 1 names"},
		{"too many together", []string{"s3://b/a.tar", "s3://b/d/"}, Options{MaxNames: 2}, errPattern, "option max-names"},
		{"directories of a web server", []string{"https://host/d/"}, Options{Directories: true}, ErrScheme, "https: gives no lists, so that there are no directories (name a directory, or a prefix"},
		{"azure", []string{"az://c/a.tar"}, Options{}, ErrScheme, "SAS"},
		{"hdfs", []string{"hdfs://c/a.tar"}, Options{}, ErrScheme, "option allow-pipe"},
		{"pipe", []string{"pipe:cat https://u:pw@h/x"}, Options{}, ErrScheme, "pipe:cat https://h/x: scheme not supported: pipe: (it would run a program; option allow-pipe lets it)"},
		{"a pattern with a secret", []string{"https://u:pw@h/{a"}, Options{}, errPattern, "https://h/{a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := findRemote(t, f(), tt.opts, tt.args...)
			var e *place.Error
			if !errors.Is(err, tt.want) || !errors.As(err, &e) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "pw") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v; want %v, saying %q", err, tt.want, tt.says)
			}
		})
	}
}

func TestFindRemoteRepeats(t *testing.T) {
	t.Parallel()
	got, err := findRemote(t, inputtest.ObjectsOf("s3://b/a"), Options{AllowRepeats: true}, "s3://b/a", "s3://b/a")
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
}

// Many names are looked at at once, few enough, and stay in order.
func TestFindRemoteMany(t *testing.T) {
	t.Parallel()
	root := tree(t, "x.tar")
	f := inputtest.ObjectsOf()
	f.Delay = time.Millisecond
	var want []string
	for i := range 300 {
		url := fmt.Sprintf("s3://b/%03d", i)
		f.Objects[url] = url
		want = append(want, url)
	}
	want = append(want, root+"/x.tar", "s3://b/last")
	f.Objects["s3://b/last"] = ""
	got, err := findRemote(t, f, Options{}, "s3://b/{000..299}", root+"/x.tar", "s3://b/last")
	if err != nil || !slices.Equal(got, want) {
		t.Fatal(got, err)
	}
	if most := f.Most.Load(); most > lookups || most < 2 {
		t.Errorf("%d at once", most)
	}
}

// The first error in order is reported, whatever comes of later names, and nobody is left asking.
func TestFindRemoteFirstError(t *testing.T) {
	t.Parallel()
	f := inputtest.ObjectsOf()
	f.Delay = time.Millisecond
	for i := range 1000 {
		url := fmt.Sprintf("s3://b/%03d", i)
		f.Objects[url] = ""
		if i >= 20 {
			f.Fails[url] = &store.Error{URL: url, Kind: store.ErrDenied}
		}
	}
	_, err := findRemote(t, f, Options{}, "s3://b/{000..999}")
	if !errors.Is(err, store.ErrDenied) || !strings.HasPrefix(err.Error(), "s3://b/020: ") {
		t.Error(err)
	}
	if n := f.Running.Load(); n != 0 || f.Stated.Load() > 20+waiting+lookups+1 {
		t.Errorf("%d still run, %d were asked for", n, f.Stated.Load())
	}
}

func TestFindRemoteCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("stop")
	f := inputtest.ObjectsOf()
	f.Delay = time.Hour
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	if _, err := Find(ctx, []string{"s3://b/{1..100}"}, Options{Remote: f, LookupEnv: noEnv}); !errors.Is(err, why) {
		t.Fatal(err)
	}
}

// What a name shows of itself holds no secret, and of others all.
func TestShown(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a.tar": "a.tar", "-": "-", "a:b": "a:b", "/a b/c?d#e": "/a b/c?d#e",
		"https://u:pw@host/a?b#c":                              "https://host/a?b",
		"https://host/a?x-amz-signature=1&v=2":                 "https://host/a?x-amz-signature=REDACTED&v=2",
		"s3://b/a?b#c":                                         "s3://b/a?b#c",
		"s3://id:secret@b/a":                                   "s3://b/a",
		"a.tar::https://u:pw@h/b":                              "a.tar::https://h/b",
		"https://u:pw@h/a?token=x::https://u:pw@h/b?token=y":   "https://h/a?token=REDACTED::https://h/b?token=REDACTED",
		"pipe:curl -s 'https://h/a?sig=x' https://u:pw@h/ | b": "pipe:curl -s 'https://h/a?sig=REDACTED' https://h/ | b",
	} {
		if got := Shown(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestRemoteError(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want []error
		says string
	}{
		{&store.Error{URL: "u", Kind: store.ErrSum, Err: errors.New("md5 of x"), Hint: "fetch again"}, []error{store.ErrSum}, "n: wrong checksum: md5 of x (fetch again)"},
		{&store.Error{URL: "u", Kind: store.ErrChanged}, []error{store.ErrChanged, ErrChanged}, "n: changed while it was being fetched"},
		{fmt.Errorf("x: %w", &store.Error{URL: "u", Err: os.ErrDeadlineExceeded}), []error{os.ErrDeadlineExceeded}, "n: i/o timeout"},
		{fs.ErrClosed, []error{fs.ErrClosed}, "n: file already closed"},
	} {
		err := RemoteError("n", tt.err)
		for _, want := range tt.want {
			if !errors.Is(err, want) {
				t.Errorf("%v is not %v", err, want)
			}
		}
		if _, ok := err.(*place.Error); !ok || err.Error() != tt.says {
			t.Errorf("%v, want %s", err, tt.says)
		}
	}
}

// findRemote finds the arguments with f, and returns the names.
func findRemote(t *testing.T, f *inputtest.FakeRemote, opts Options, args ...string) ([]string, error) {
	t.Helper()
	if f != nil {
		opts.Remote = f
	}
	if opts.LookupEnv == nil {
		opts.LookupEnv = noEnv
	}
	found, err := Find(t.Context(), args, opts)
	var names []string
	for _, n := range found {
		names = append(names, n.Name)
	}
	return names, err
}
