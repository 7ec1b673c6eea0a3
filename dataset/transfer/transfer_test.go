package transfer_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/minio/minio-go/v7"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/dataset/transfer"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/internal/test/testserver"
	"github.com/ffconvert/ffconvert/internal/test/versitygw"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// made converts tars into a dataset of so many shards.
func made(t *testing.T, shards int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "made")
	madeAt(t, dir, shards, bucket.Options{})
	return dir
}

func madeAt(t *testing.T, out string, shards int, opts bucket.Options) {
	t.Helper()
	tar, _ := format.Named("tar")
	c := &convert.Conversion{
		Reader: tar.Reader(), Sources: []string{filepath.Join("..", "..", "testdata", "shards-{000..009}.tar")}, Out: out,
		Options: convert.Options{Sizes: plan.Sizes{Shards: shards}, Workers: 1, Tool: "test", Bucket: opts},
	}
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// tree returns the files of a dataset in a directory, but for its lock.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "lock" {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return files
}

func equal(t *testing.T, got, want map[string]string) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("the copy has %q, the dataset %q, or their bytes differ", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

func flip(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-1] ^= 1
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func copied(t *testing.T, from, to string, opts transfer.Options) *transfer.Done {
	t.Helper()
	var all, told int64
	var mu sync.Mutex
	opts.Start = func(n int64) { all = n }
	opts.Progress = func(n int64) { mu.Lock(); told += n; mu.Unlock() }
	done, err := transfer.Copy(t.Context(), from, to, opts)
	if err != nil {
		t.Fatal(err)
	}
	if told != all || all != done.Bytes {
		t.Errorf("progress was told of %d bytes of %d, done has %d", told, all, done.Bytes)
	}
	return done
}

func TestDirectories(t *testing.T) {
	t.Parallel()
	from := made(t, 3)
	to := filepath.Join(t.TempDir(), "a", "b")
	if done := copied(t, from, to, transfer.Options{}); done.Shards != 3 || done.Copied != 3 || done.Samples != 120 || done.Already {
		t.Errorf("%+v", done)
	}
	equal(t, tree(t, to), tree(t, from))
	if done := copied(t, from, to, transfer.Options{}); !done.Already || done.Moved != 0 {
		t.Errorf("again: %+v", done)
	}
	for _, signature := range []string{"signature", "another", ""} { // which goes with the manifest
		path := filepath.Join(from, dataset.SignatureName)
		if err := os.WriteFile(path, []byte(signature), 0o644); err != nil {
			t.Fatal(err)
		}
		if signature == "" {
			os.Remove(path)
		}
		if done := copied(t, from, to, transfer.Options{}); done.Already || done.Moved != 0 || !slices.Equal(done.Small, []string{dataset.SignatureName}) {
			t.Errorf("signature %q: %+v", signature, done)
		}
		equal(t, tree(t, to), tree(t, from))
	}
	flip(t, filepath.Join(to, "PART_00001.ffr"))
	flip(t, filepath.Join(to, "index", "PART_00002.arrow"))
	os.Remove(filepath.Join(to, "meta.json"))
	if done := copied(t, from, to, transfer.Options{}); done.Copied != 1 || done.Already {
		t.Errorf("a damaged one: %+v", done)
	}
	equal(t, tree(t, to), tree(t, from))
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(from, link); err != nil {
		t.Fatal(err)
	}
	for _, same := range []string{from, from + "/", link} {
		if _, err := transfer.Copy(t.Context(), from, same, transfer.Options{}); !errors.Is(err, transfer.ErrSame) || place.KindOf(err) != place.Usage {
			t.Error(err)
		}
	}
	m, err := dataset.ReadManifest(to)
	if err != nil {
		t.Fatal(err)
	}
	if report, _, err := shardtest.Verify(t, to, m, verify.Options{}); err != nil || report.Err() != nil {
		t.Error(err, report.Err())
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	from, other := made(t, 3), made(t, 2)
	text := func(name string) func(t *testing.T, from, to string) {
		return func(t *testing.T, _, to string) {
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o755), os.WriteFile(filepath.Join(to, name), []byte("text"), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, row := range []struct {
		name      string
		prepare   func(t *testing.T, from, to string) // of a copy of from
		wrong     error
		kind      place.Kind
		text      string
		overwrite error // with Overwrite; nil: it succeeds
	}{
		{"another dataset", func(t *testing.T, _, to string) { copied(t, other, to, transfer.Options{}) }, dataset.ErrOccupied, place.Usage, "option overwrite replaces it", nil},
		{"another one, begun", func(t *testing.T, _, to string) {
			copied(t, other, to, transfer.Options{})
			os.Remove(filepath.Join(to, "manifest.json"))
		}, dataset.ErrOccupied, place.Usage, "option overwrite replaces it", nil},
		{"another copy, begun", text(".ffconvert/copy"), dataset.ErrOccupied, place.Usage, "option overwrite replaces it", nil},
		{"other files", text("a.txt"), dataset.ErrNotEmpty, place.None, "", dataset.ErrNotEmpty},
		{"a shard of nobody", text("other.ffr"), dataset.ErrNotEmpty, place.None, "", dataset.ErrNotEmpty},
		{"a shard that the dataset does not have", func(t *testing.T, from, to string) {
			copied(t, from, to, transfer.Options{})
			text("PART_00009.ffr")(t, from, to)
		}, dataset.ErrOccupied, place.None, "move it away", dataset.ErrOccupied},
		{"a file", func(t *testing.T, _, to string) { text(filepath.Base(to))(t, "", filepath.Dir(to)) }, dataset.ErrNotDirectory, place.None, "", dataset.ErrNotDirectory},
		{"a damaged shard", func(t *testing.T, from, _ string) { flip(t, filepath.Join(from, "PART_00001.ffr")) }, transfer.ErrSource, place.Corrupt, `"PART_00001.ffr": it is not as its manifest says`, transfer.ErrSource},
		{"a damaged index", func(t *testing.T, from, _ string) { flip(t, filepath.Join(from, "index", "PART_00000.arrow")) }, transfer.ErrSource, place.Corrupt, "PART_00000.arrow", transfer.ErrSource},
		{"a longer shard", func(t *testing.T, from, _ string) {
			f, err := os.OpenFile(filepath.Join(from, "PART_00001.ffr"), os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString("x"); err != nil || f.Close() != nil {
				t.Fatal(err)
			}
		}, transfer.ErrSource, place.Corrupt, "by the manifest", transfer.ErrSource},
		{"a cut shard", func(t *testing.T, from, _ string) { os.Truncate(filepath.Join(from, "PART_00001.ffr"), 100) }, transfer.ErrSource, place.Corrupt, "PART_00001.ffr", transfer.ErrSource},
		{"a damaged meta.json", func(t *testing.T, from, _ string) { flip(t, filepath.Join(from, "meta.json")) }, transfer.ErrSource, place.Corrupt, "meta.json", transfer.ErrSource},
		{"no shard", func(t *testing.T, from, _ string) { os.Remove(filepath.Join(from, "PART_00002.ffr")) }, transfer.ErrSource, place.Corrupt, `"PART_00002.ffr": it is not as its manifest says: it is missing`, transfer.ErrSource},
		{"no index", func(t *testing.T, from, _ string) { os.Remove(filepath.Join(from, "index", "PART_00002.arrow")) }, transfer.ErrSource, place.Corrupt, "it is missing", transfer.ErrSource},
		{"no meta.json", func(t *testing.T, from, _ string) { os.Remove(filepath.Join(from, "meta.json")) }, transfer.ErrSource, place.Corrupt, "it is missing", transfer.ErrSource},
		{"a damaged manifest", func(t *testing.T, from, _ string) { flip(t, filepath.Join(from, "manifest.json")) }, dataset.ErrManifest, place.Corrupt, "from/manifest.json: manifest is damaged", dataset.ErrManifest},
		{"a link", func(t *testing.T, from, _ string) {
			os.Remove(filepath.Join(from, "PART_00002.ffr"))
			os.Symlink("PART_00001.ffr", filepath.Join(from, "PART_00002.ffr"))
		}, nil, place.Refused, "not a regular file", errors.New("")},
		{"unfinished", func(t *testing.T, from, _ string) { os.Remove(filepath.Join(from, "manifest.json")) }, dataset.ErrUnfinished, place.Refused, "", dataset.ErrUnfinished},
		{"no dataset", func(t *testing.T, from, _ string) {
			os.RemoveAll(from)
			os.Mkdir(from, 0o755)
		}, transfer.ErrNone, place.Refused, "", transfer.ErrNone},
		{"nothing", func(t *testing.T, from, _ string) { os.RemoveAll(from) }, fs.ErrNotExist, place.Refused, "", fs.ErrNotExist},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			src, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
			copied(t, from, src, transfer.Options{})
			row.prepare(t, src, to)
			before := tree(t, to)
			_, err := transfer.Copy(t.Context(), src, to, transfer.Options{Workers: 1})
			if err == nil || row.wrong != nil && !errors.Is(err, row.wrong) || !strings.Contains(err.Error(), row.text) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%v", err)
			}
			if row.kind != place.None && place.KindOf(err) != row.kind {
				t.Errorf("of kind %v: %v", place.KindOf(err), err)
			}
			if now := tree(t, to); len(before) > 0 && !maps.Equal(now, before) {
				t.Errorf("it changed %v to %v", slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(now)))
			} else if _, there := now["manifest.json"]; there && len(before) == 0 {
				t.Error("a manifest")
			}
			_, err = transfer.Copy(t.Context(), src, to, transfer.Options{Overwrite: true})
			if row.overwrite != nil {
				if err == nil || row.wrong != nil && !errors.Is(err, row.overwrite) {
					t.Errorf("with Overwrite: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			equal(t, tree(t, to), tree(t, src))
		})
	}
}

// stores are real services, each with an empty bucket: a client and the URL of a dataset there.
var stores = map[string]func(t *testing.T) (*store.Client, string){
	"versitygw": func(t *testing.T) (*store.Client, string) {
		s := versitygw.Start(t)
		return s3(t, s), "s3://bucket/data"
	},
	"gofakes3": func(t *testing.T) (*store.Client, string) {
		return s3(t, testserver.GoFakeS3().Start(t)), "s3://bucket/data"
	},
	"fake-gcs-server": func(t *testing.T) (*store.Client, string) {
		s := testserver.StartGoogle(t)
		s.Bucket(t, "bucket")
		return client(t, s.Env()), "gs://bucket/data"
	},
}

func s3(t *testing.T, s interface {
	Bucket(t testing.TB, bucket string)
	Env() []string
}) *store.Client {
	s.Bucket(t, "bucket")
	return client(t, s.Env())
}

func client(t *testing.T, env []string) *store.Client {
	c := store.New(store.Options{Retries: -1, LookupEnv: func(key string) (string, bool) {
		for _, v := range env {
			if name, value, _ := strings.Cut(v, "="); name == key {
				return value, true
			}
		}
		return "", false
	}})
	t.Cleanup(c.Close)
	return c
}

// objects returns all objects below a URL.
func objects(t *testing.T, c store.Store, url string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for o, err := range c.List(t.Context(), url+"/") {
		if err != nil {
			t.Fatal(err)
		}
		text := make([]byte, o.Size)
		if err := c.Read(t.Context(), o, text, 0); err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(o.URL, url+"/")] = string(text)
	}
	return files
}

func put(t *testing.T, c store.Store, url, text string) {
	t.Helper()
	if _, err := c.Put(t.Context(), &store.Upload{URL: url, From: strings.NewReader(text), Size: int64(len(text))}); err != nil {
		t.Fatal(err)
	}
}

func TestStores(t *testing.T) {
	t.Parallel()
	from, other := made(t, 3), made(t, 2)
	for name, start := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, url := start(t)
			opts := transfer.Options{Bucket: bucket.Options{Client: c, Scratch: t.TempDir()}}
			copied(t, from, url, opts)
			equal(t, objects(t, c, url), tree(t, from))
			if done := copied(t, from, url+"/", opts); !done.Already {
				t.Errorf("again: %+v", done)
			}
			back := filepath.Join(t.TempDir(), "back")
			copied(t, url, back, opts)
			equal(t, tree(t, back), tree(t, from))
			opts.Bucket.ReadBack = true
			copied(t, url, url+"2", opts)
			equal(t, objects(t, c, url+"2"), tree(t, from))
			if done := copied(t, url, url+"2", opts); !done.Already {
				t.Errorf("again, between buckets: %+v", done)
			}
			if left, err := os.ReadDir(opts.Bucket.Scratch); err != nil || len(left) > 0 {
				t.Errorf("the scratch has %v, %v", left, err)
			}

			noScratch := opts
			noScratch.Bucket.Scratch = filepath.Join(t.TempDir(), "link")
			if err := os.Symlink("nowhere", noScratch.Bucket.Scratch); err != nil {
				t.Fatal(err)
			}
			if _, err := transfer.Copy(t.Context(), url, url+"6", noScratch); errors.Is(err, transfer.ErrSource) || place.KindOf(err) != place.IO {
				t.Errorf("without a scratch: %v", err)
			}

			madeAt(t, url+"7", 3, opts.Bucket) // the journal says what the service has said of its objects
			copied(t, url+"7", back+"7", opts)
			journal := tree(t, back+"7")[".ffconvert/journal"]
			if status, err := shardtest.Status(back + "7"); err != nil || !status.Complete || strings.Contains(journal, "stored") {
				t.Errorf("%+v, %v: %s", status, err, journal)
			}
			if done := copied(t, url+"7", back+"7", opts); !done.Already {
				t.Errorf("again, of a conversion: %+v", done)
			}

			shard := tree(t, from)["PART_00001.ffr"]
			put(t, c, url+"/PART_00001.ffr", shard[:len(shard)-1]+"x")
			if done := copied(t, from, url, opts); done.Copied != 1 {
				t.Errorf("a damaged one: %+v", done)
			}
			equal(t, objects(t, c, url), tree(t, from))

			if _, err := transfer.Copy(t.Context(), other, url, opts); !errors.Is(err, dataset.ErrOccupied) || place.KindOf(err) != place.Usage {
				t.Error(err)
			}
			opts.Overwrite = true
			copied(t, other, url, opts)
			equal(t, objects(t, c, url), tree(t, other))
			put(t, c, url+"3/text", "text")
			if _, err := transfer.Copy(t.Context(), other, url+"3", opts); !errors.Is(err, dataset.ErrNotEmpty) {
				t.Error(err)
			}
			if _, err := transfer.Copy(t.Context(), url+"3", back+"3", opts); !errors.Is(err, transfer.ErrNone) || place.KindOf(err) != place.Refused {
				t.Error(err)
			}
			if _, err := transfer.Copy(t.Context(), other, "https://host/data", opts); !errors.Is(err, store.ErrURL) {
				t.Error(err)
			}
			opts.Bucket.Size = 100
			if _, err := transfer.Copy(t.Context(), url, url+"4", opts); !errors.Is(err, bucket.ErrScratch) {
				t.Error(err)
			}
			put(t, c, url+"2/PART_00001.ffr", shard[:len(shard)-1]+"x")
			opts.Bucket.Size = 0
			if _, err := transfer.Copy(t.Context(), url+"2", url+"5", opts); !errors.Is(err, transfer.ErrSource) {
				t.Error(err)
			}
		})
	}
}

// A web server is read from: it has no lists, and needs none.
func TestFromWebServer(t *testing.T) {
	t.Parallel()
	from := made(t, 2)
	server := httptest.NewServer(http.FileServer(http.Dir(from)))
	defer server.Close()
	opts := transfer.Options{Bucket: bucket.Options{Client: client(t, nil), Scratch: t.TempDir()}}
	to := filepath.Join(t.TempDir(), "to")
	copied(t, server.URL, to, opts)
	equal(t, tree(t, to), tree(t, from))
	if done := copied(t, server.URL+"/", to, opts); !done.Already {
		t.Errorf("%+v", done)
	}
	if _, err := transfer.Copy(t.Context(), server.URL+"/index", to, opts); !errors.Is(err, transfer.ErrNone) {
		t.Error(err)
	}
}

var errCut = errors.New("cut")

// A cutter fails each request from the n-th on. acted: the n-th is done all the same.
type cutter struct {
	store.Store
	mu    sync.Mutex
	n     int
	acted bool
}

func (c *cutter) cut() (before, after error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.n--; {
	case c.n > 0:
		return nil, nil
	case c.n == 0 && c.acted:
		return nil, errCut
	}
	return errCut, nil
}

func (c *cutter) Put(ctx context.Context, u *store.Upload) (o store.Object, err error) {
	before, after := c.cut()
	if before == nil {
		o, err = c.Store.Put(ctx, u)
	}
	return o, errors.Join(before, after, err)
}

func (c *cutter) Remove(ctx context.Context, o store.Object) (err error) {
	before, after := c.cut()
	if before == nil {
		err = c.Store.Remove(ctx, o)
	}
	return errors.Join(before, after, err)
}

// After a cut at any request that changes something, there is no manifest unless all is there, and the same copy goes on.
func TestCuts(t *testing.T) {
	need.Time(t, "a copy for each request")
	t.Parallel()
	from, other := made(t, 3), made(t, 2)
	c, url := stores["versitygw"](t)
	want := tree(t, from)
	for n, ended := 1, false; !ended; n++ {
		for _, acted := range []bool{false, true} {
			to := fmt.Sprintf("%s-%d-%t", url, n, acted)
			opts := transfer.Options{Bucket: bucket.Options{Client: c}, Overwrite: true, Workers: 1}
			copied(t, other, to, opts)
			cut := opts
			cut.Bucket.Client = &cutter{Store: c, n: n, acted: acted}
			_, err := transfer.Copy(t.Context(), from, to, cut)
			if err == nil {
				ended = true
			} else if !errors.Is(err, errCut) {
				t.Fatal(err)
			}
			now := objects(t, c, to)
			if manifest := now["manifest.json"]; manifest == want["manifest.json"] {
				delete(now, dataset.CopyName)
				equal(t, now, want)
			} else if manifest != "" && !maps.Equal(now, tree(t, other)) && n > 2 {
				t.Errorf("%d: the old manifest, and %q", n, slices.Sorted(maps.Keys(now)))
			}
			if n > 4 && err != nil { // the mark is there: it needs no word
				opts.Overwrite = now["manifest.json"] != "" && now["manifest.json"] != want["manifest.json"]
			}
			copied(t, from, to, opts)
			equal(t, objects(t, c, to), want)
		}
	}
}

// A denying client may put and not remove.
type denying struct{ store.Store }

func (d denying) Remove(_ context.Context, o store.Object) error {
	return &store.Error{URL: o.URL, Kind: store.ErrDenied}
}

// What killed processes have left is removed; what cannot be removed is said, and the copy is complete.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	from := made(t, 2)
	server := versitygw.Start(t)
	c := s3(t, server)
	if _, err := server.Client.NewMultipartUpload(t.Context(), "bucket", "data/PART_00001.ffr", minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	var said []string
	opts := transfer.Options{Bucket: bucket.Options{Client: denying{c}, Warn: func(text string) { said = append(said, text) }}}
	copied(t, from, "s3://bucket/data", opts)
	for _, name := range []string{"manifest.json", ".ffconvert/plan", ".ffconvert/journal"} { // as if it had been killed before them
		if err := c.Remove(t.Context(), store.Object{URL: "s3://bucket/data/" + name}); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := bucket.View(t.Context(), "s3://bucket/data", bucket.Options{Client: c, Scratch: t.TempDir()}); err != nil {
		t.Error(err)
	} else if begun, err := out.Begun(); err != nil || !begun || out.Close() != nil {
		t.Errorf("half a copy: begun %t, %v", begun, err)
	}
	if _, err := bucket.Open(t.Context(), "s3://bucket/data", bucket.Options{Client: c, Scratch: t.TempDir()}); !errors.Is(err, dataset.ErrOccupied) && !errors.Is(err, dataset.ErrNotEmpty) {
		t.Errorf("a conversion into half a copy: %v", err)
	}
	if len(said) != 2 || !strings.Contains(said[0], ".ffconvert/copy") || !strings.Contains(said[1], "PART_00001.ffr: an upload in parts") {
		t.Errorf("%q", said)
	}
	opts.Bucket.Client, said = c, nil
	if done := copied(t, from, "s3://bucket/data", opts); done.Copied > 0 || len(said) > 0 {
		t.Errorf("%+v %q", done, said)
	}
	equal(t, objects(t, c, "s3://bucket/data"), tree(t, from))
	for p, err := range c.Pending(t.Context(), "s3://bucket/data") {
		t.Errorf("%+v %v", p, err)
	}
}

// A copy that was cancelled goes on.
func TestCancelled(t *testing.T) {
	t.Parallel()
	from, to := made(t, 3), filepath.Join(t.TempDir(), "to")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := transfer.Copy(ctx, from, to, transfer.Options{Workers: 1, Progress: func(int64) { cancel(errCut) }})
	if !errors.Is(err, errCut) {
		t.Fatal(err)
	}
	if now := tree(t, to); now["manifest.json"] != "" || now[dataset.CopyName] == "" {
		t.Errorf("%q", slices.Sorted(maps.Keys(now)))
	}
	if _, err := lookup.Open(to, lookup.Options{}); !errors.Is(err, dataset.ErrUnfinished) {
		t.Errorf("half a copy: %v", err)
	}
	if done := copied(t, from, to, transfer.Options{}); done.Copied == 0 {
		t.Errorf("%+v", done)
	}
	equal(t, tree(t, to), tree(t, from))
}
