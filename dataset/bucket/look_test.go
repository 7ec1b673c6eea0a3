package bucket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/verify"
)

// written is a service with a dataset of three shards.
func written(t *testing.T) *memory {
	t.Helper()
	s := newStore()
	if _, err := of(t, s, t.TempDir(), url).Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// log notes the requests for the objects of a dataset from now on.
func (s *memory) log() *[]string {
	all := new([]string)
	s.before = func(_ int, what, at string) (error, bool) {
		*all = append(*all, what+" "+strings.TrimPrefix(at, url))
		return nil, false
	}
	return all
}

// bytesOf reads a shard or an index.
func bytesOf(t *testing.T, out *dataset.Dataset, name string) []byte {
	t.Helper()
	f, size, err := out.Open(name)
	if err != nil {
		t.Error(err)
		return nil
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	if err := errors.Join(err, f.Close()); err != nil {
		t.Error(err)
	}
	return data
}

// A dataset that is looked at is neither listed nor fetched: what tells of the shards is. An index comes when it is first
// opened, once for all that read it.
func TestLook(t *testing.T) {
	t.Parallel()
	s, scratch := written(t), t.TempDir()
	asked := s.log()
	out, err := bucket.Look(t.Context(), url, bucket.Options{Client: s, Scratch: scratch})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"stat manifest.json", "get manifest.json", "stat manifest.json.minisig", "stat manifest.json.minisig", "stat meta.json", "get meta.json"}
	if !slices.Equal(*asked, want) {
		t.Errorf("asked for %q", *asked)
	}
	*asked = nil
	const index, shard = "index/PART_00001.arrow", "PART_00002.ffr"
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if !bytes.Equal(bytesOf(t, out, index), s.objects[url+index].data) {
				t.Error("an index of other bytes")
			}
		})
	}
	all.Wait()
	if !bytes.Equal(bytesOf(t, out, shard), s.objects[url+shard].data) {
		t.Error("a shard of other bytes")
	}
	*asked = slices.DeleteFunc(*asked, func(a string) bool { return a == "get "+shard })
	if !slices.Equal(*asked, []string{"stat " + index, "get " + index, "stat " + shard}) {
		t.Errorf("asked for %q", *asked)
	}
	if _, _, err := out.Open("PART_00007.ffr"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
	empty(t, scratch)
}

// Indexes that nobody reads make room for others.
func TestLookRoom(t *testing.T) {
	t.Parallel()
	s := written(t)
	out, err := bucket.Look(t.Context(), url, bucket.Options{Client: s, Scratch: t.TempDir(), Size: 5 << 10}) // an index has some 4 KB
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	asked := s.log()
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			name := fmt.Sprintf("index/PART_%05d.arrow", i%3)
			if !bytes.Equal(bytesOf(t, out, name), s.objects[url+name].data) {
				t.Errorf("%s: other bytes", name)
			}
		})
	}
	all.Wait()
	if len(*asked) < 6 {
		t.Errorf("asked for %q", *asked)
	}
	left, err := os.ReadDir(out.Path("looked"))
	if err != nil || len(left) != 1 {
		t.Errorf("%v are there, %v", left, err)
	}
	if _, _, err := out.Open("index/PART_00000.arrow"); err != nil {
		t.Error(err)
	}
}

// A link damages what is fetched, as many times as it says for each object, and has no lists.
type badLink struct {
	*memory
	mu    sync.Mutex
	times int
	came  map[string]int
}

func (l *badLink) List(_ context.Context, prefix string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		yield(store.Object{}, &store.Error{URL: prefix, Kind: store.ErrNoList})
	}
}

func (l *badLink) Fetch(ctx context.Context, o store.Object, into store.File, progress func(int64)) error {
	if err := l.memory.Fetch(ctx, o, into, progress); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.came[o.URL]++; l.came[o.URL] > l.times {
		return nil
	}
	at, b := o.Size/2, make([]byte, 1)
	_, err := into.ReadAt(b, at)
	b[0] ^= 1
	_, late := into.WriteAt(b, at)
	return errors.Join(err, late)
}

// What comes damaged is fetched again: the manifest and meta.json once, an index four times. What stays damaged is an
// error with its URL, and is asked for again by the next who wants it.
func TestLookDamaged(t *testing.T) {
	t.Parallel()
	const index = "index/PART_00001.arrow"
	s := written(t)
	for times, right := range map[int]bool{1: true, 2: false} {
		l := &badLink{memory: s, times: times, came: map[string]int{}}
		out, err := bucket.Look(t.Context(), url, bucket.Options{Client: l, Scratch: t.TempDir()})
		if !right {
			if place.KindOf(err) != place.Corrupt || !strings.HasPrefix(err.Error(), url+"manifest.json: ") {
				t.Errorf("a damaged manifest: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		for _, times := range []int{4, 0, 5} {
			l.times, l.came = times, map[string]int{}
			f, _, err := out.Open(index)
			if times <= 4 {
				if err != nil {
					t.Fatalf("damaged %d times: %v", times, err)
				}
				data, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<20))
				if err := errors.Join(err, f.Close()); err != nil || !bytes.Equal(data, s.objects[url+index].data) {
					t.Errorf("other bytes, %v", err)
				}
			}
			if times == 0 && len(l.came) != 0 {
				t.Error("an index that is there was fetched again")
			}
		}
		l.times, l.came = 5, map[string]int{}
		if _, _, err := out.Open("index/PART_00000.arrow"); place.KindOf(err) != place.Corrupt || !strings.HasPrefix(err.Error(), url+"index/PART_00000.arrow: its checksum is ") {
			t.Errorf("damaged five times: %v", err)
		}
		if data := bytesOf(t, out, "index/PART_00000.arrow"); !bytes.Equal(data, s.objects[url+"index/PART_00000.arrow"].data) {
			t.Error("other bytes after a failure")
		}
	}
}

// What is no finished dataset is refused in a line; a service without lists serves a reader as any other does.
func TestLookRefused(t *testing.T) {
	t.Parallel()
	s, scratch := written(t), t.TempDir()
	l := &badLink{memory: s, came: map[string]int{}}
	out, err := bucket.View(t.Context(), url, bucket.Options{Client: l, Scratch: scratch})
	if err != nil {
		t.Fatal(err)
	}
	m, err := out.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	if report, _, err := out.Verify(t.Context(), m, verify.Options{}); err != nil || report.Err() != nil || report.Samples != 120 {
		t.Errorf("%+v, %v", report, err)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
	delete(s.objects, url+"index/PART_00001.arrow")
	if out, err = bucket.Look(t.Context(), url, bucket.Options{Client: l, Scratch: scratch}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := out.Open("index/PART_00001.arrow"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing index: %v", err)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
	delete(s.objects, url+"manifest.json")
	if _, err := bucket.Look(t.Context(), url, bucket.Options{Client: l, Scratch: scratch}); !errors.Is(err, dataset.ErrUnfinished) || !strings.HasPrefix(err.Error(), url) {
		t.Errorf("without a manifest: %v", err)
	}
	if _, err := bucket.Look(t.Context(), "s3://bucket/other", bucket.Options{Client: l, Scratch: scratch}); place.KindOf(err) != place.Refused ||
		err.Error() != "s3://bucket/other/: no dataset is there: it has no manifest.json" {
		t.Errorf("nothing: %v", err)
	}
	denied := &store.Error{URL: url, Kind: store.ErrDenied}
	s.before = func(int, string, string) (error, bool) { return denied, false }
	if _, err := bucket.Look(t.Context(), url, bucket.Options{Client: l, Scratch: scratch}); !errors.Is(err, store.ErrDenied) {
		t.Errorf("denied: %v", err)
	}
	empty(t, scratch)
}

// A token that a URL has is sent with each file, and in no name.
func TestLookQuery(t *testing.T) {
	t.Parallel()
	s := written(t)
	const token = "?sv=2025&sig=secret"
	for at, o := range maps.Clone(s.objects) {
		s.objects["https://host/data/"+strings.TrimPrefix(at, url)+token] = o
		s.objects["ais://host/data/"+strings.TrimPrefix(at, url)+"?provider=aws"] = o
		delete(s.objects, at)
	}
	for _, at := range []string{"https://host/data/" + token, "https://user:word@host/data" + token, "ais://host/data/?provider=aws", "ais://host/data?provider=aws"} {
		for in, o := range maps.Clone(s.objects) {
			if rest, ok := strings.CutPrefix(in, "https://host/"); ok {
				s.objects["https://user:word@host/"+rest] = o
			}
		}
		for _, open := range []func(context.Context, string, bucket.Options) (*dataset.Dataset, error){bucket.Look, bucket.View} {
			out, err := open(t.Context(), at, bucket.Options{Client: s, Scratch: t.TempDir()})
			if err != nil {
				t.Fatalf("%s: %v", at, err)
			}
			defer out.Close()
			if scheme, _, _ := strings.Cut(at, ":"); out.Name() != scheme+"://host/data/" {
				t.Errorf("%s is called %s", at, out.Name())
			}
			m, err := out.Manifest()
			if err != nil || m == nil {
				t.Fatalf("%s: %+v, %v", at, m, err)
			}
			for _, name := range m.Files() {
				if len(bytesOf(t, out, name)) < 3000 {
					t.Errorf("%s: other bytes of %s", at, name)
				}
			}
		}
	}
}
