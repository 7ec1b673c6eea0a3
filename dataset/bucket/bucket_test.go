package bucket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

const url = "s3://bucket/data/"

func newStore() *memory { return &memory{objects: map[string]stored{}} }

// of is a conversion of ten tars into three shards in a bucket.
func of(t *testing.T, s *memory, scratch, out string) *convert.Conversion {
	t.Helper()
	tar, known := format.Named("tar")
	if !known {
		t.Fatal("no tar")
	}
	return &convert.Conversion{
		Reader: tar.Reader(), Sources: []string{filepath.Join("..", "..", "testdata", "shards-{000..009}.tar")}, Out: out,
		Options: convert.Options{Sizes: plan.Sizes{Shards: 3}, Workers: 1, Tool: "test", Bucket: bucket.Options{Client: s, Scratch: scratch}},
	}
}

// local is what the same conversion makes in a directory.
func local(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := of(t, nil, "", dir).Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// equal compares a complete dataset in a bucket with one in a directory: the same names, the same bytes but for times.
func equal(t *testing.T, s *memory, dir string) {
	t.Helper()
	want := []string{".ffconvert/journal", ".ffconvert/plan", "index/PART_00000.arrow", "index/PART_00001.arrow", "index/PART_00002.arrow",
		"manifest.json", "meta.json", "PART_00000.ffr", "PART_00001.ffr", "PART_00002.ffr"}
	slices.Sort(want)
	if got := s.names(url); !slices.Equal(got, want) {
		t.Errorf("the bucket has %q", got)
	}
	for _, name := range want {
		if name == ".ffconvert/journal" || name == "manifest.json" {
			continue // of other times
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, s.objects[url+name].data) {
			t.Errorf("%s differs from that in a directory", name)
		}
	}
	mine, err := dataset.DecodeManifest(s.objects[url+"manifest.json"].data)
	if err != nil {
		t.Fatal(err)
	}
	if theirs, err := dataset.ReadManifest(dir); err != nil || !mine.Same(theirs) {
		t.Errorf("another manifest than in a directory, %v", err)
	}
}

// empty fails if a scratch directory has anything left.
func empty(t *testing.T, scratch string) {
	t.Helper()
	names, err := os.ReadDir(scratch)
	if err != nil && !os.IsNotExist(err) || len(names) > 0 {
		t.Errorf("the scratch has %v, %v", names, err)
	}
}

func TestConversion(t *testing.T) {
	t.Parallel()
	s, scratch, dir := newStore(), t.TempDir(), local(t)
	done, err := of(t, s, scratch, url).Write(t.Context())
	if err != nil || done.Shards != 3 || done.Samples != 120 {
		t.Fatalf("%+v, %v", done, err)
	}
	equal(t, s, dir)
	empty(t, scratch)
	writes := s.writes
	again, err := of(t, s, scratch, strings.TrimSuffix(url, "/")).Write(t.Context())
	if err != nil || again.Kept != 3 || !again.Already || s.writes != writes {
		t.Errorf("again: %+v, %v, %d objects were put", again, err, s.writes-writes)
	}
}

var errCut = errors.New("cut")

// After any request that fails, whether the service has acted or not, the bucket has no manifest unless it has all
// shards, and the same command goes on to the same dataset.
func TestCuts(t *testing.T) {
	t.Parallel()
	dir := local(t)
	whole := newStore()
	if _, err := of(t, whole, t.TempDir(), url).Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	for cut := 1; cut <= whole.n; cut++ {
		for _, acted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/%t", cut, acted), func(t *testing.T) {
				t.Parallel()
				s, scratch := newStore(), t.TempDir()
				s.before = func(n int, _, _ string) (error, bool) {
					if n >= cut {
						return errCut, acted && n == cut
					}
					return nil, false
				}
				_, err := of(t, s, scratch, url).Write(t.Context())
				_, complete := s.objects[url+"manifest.json"]
				if err == nil && !complete || err != nil && !errors.Is(err, errCut) {
					t.Fatalf("manifest %t, %v", complete, err)
				}
				if complete {
					for i := range 3 {
						if _, there := s.objects[fmt.Sprintf("%sPART_%05d.ffr", url, i)]; !there {
							t.Fatalf("a manifest, and no shard %d", i)
						}
					}
				}
				empty(t, scratch)
				s.before = nil
				if _, err := of(t, s, scratch, url).Write(t.Context()); err != nil {
					t.Fatal(err)
				}
				equal(t, s, dir)
				empty(t, scratch)
			})
		}
	}
}

// A second run keeps the shards that the first has put.
func TestKeeps(t *testing.T) {
	t.Parallel()
	s, scratch := newStore(), t.TempDir()
	s.before = func(_ int, what, url string) (error, bool) {
		if what == "put" && strings.HasSuffix(url, "/PART_00002.ffr") {
			return errCut, false
		}
		return nil, false
	}
	if _, err := of(t, s, scratch, url).Write(t.Context()); !errors.Is(err, errCut) {
		t.Fatal(err)
	}
	s.before = nil
	status, err := convert.ReadStatus(t.Context(), url, bucket.Options{Client: s, Scratch: scratch})
	if err != nil || status.Done != 2 || !slices.Equal(status.Missing, []string{"PART_00002.ffr"}) || status.Complete {
		t.Errorf("%+v, %v", status, err)
	}
	done, err := of(t, s, scratch, url).Write(t.Context())
	if err != nil || done.Kept != 2 {
		t.Errorf("%+v, %v", done, err)
	}
	empty(t, scratch)
}

// Tasks on several machines write what one process would.
func TestTasks(t *testing.T) {
	t.Parallel()
	s, dir := newStore(), local(t)
	opts := func() convert.Options { return of(t, s, t.TempDir(), url).Options }
	if _, err := (convert.Conversion{Out: url, Options: opts()}).Run(t.Context(), plan.Task{N: 1}); !errors.Is(err, convert.ErrUnplanned) {
		t.Fatalf("without a plan: %v", err)
	}
	planned, err := of(t, s, t.TempDir(), url).Plan(t.Context())
	if err != nil || len(planned.Plan.Shards) != 3 {
		t.Fatalf("%+v, %v", planned, err)
	}
	finish := convert.Conversion{Out: url, Options: convert.Options{Bucket: opts().Bucket, Tool: "test"}}
	if _, err := finish.Finish(t.Context(), 0); !errors.Is(err, dataset.ErrMissing) {
		t.Fatalf("without shards: %v", err)
	}
	for k := range 2 {
		if _, err := (convert.Conversion{Out: url, Options: opts()}).Run(t.Context(), plan.Task{K: k, N: 2}); err != nil {
			t.Fatal(err)
		}
	}
	if named, all, err := bucket.Named(t.Context(), url, opts().Bucket); named != 3 || all != 3 || err != nil {
		t.Errorf("%d of %d, %v", named, all, err)
	}
	done, err := finish.Finish(t.Context(), 0)
	if err != nil || done.Shards != 3 || done.Samples != 120 {
		t.Fatalf("%+v, %v", done, err)
	}
	equal(t, s, dir)
}

// view verifies a dataset in a bucket and returns its problems.
func view(t *testing.T, s *memory) []string {
	t.Helper()
	scratch := t.TempDir()
	out, err := bucket.View(t.Context(), url, bucket.Options{Client: s, Scratch: scratch})
	if err != nil {
		t.Fatal(err)
	}
	m, err := out.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	report, _, err := out.Verify(t.Context(), m, verify.Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	empty(t, scratch)
	var found []string
	for _, p := range report.Problems {
		if !strings.HasPrefix(p.Path, url) {
			t.Errorf("a problem of %s, which is not in the bucket", p.Path)
		}
		found = append(found, fmt.Sprint(p.Shard, " ", p.Kind))
	}
	return found
}

// change replaces the bytes of an object, as another program would.
func (s *memory) change(name string, edit func([]byte) []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	s.objects[url+name] = stored{edit(bytes.Clone(s.objects[url+name].data)), fmt.Sprintf("v%d", s.writes)}
}

func flip(data []byte) []byte { data[len(data)-1] ^= 1; return data }

// What was damaged in the bucket is found, and written again.
func TestRepair(t *testing.T) {
	t.Parallel()
	s, dir := newStore(), local(t)
	if _, err := of(t, s, t.TempDir(), url).Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := view(t, s); len(found) > 0 {
		t.Fatalf("sound, and %q", found)
	}
	s.change("PART_00001.ffr", flip)
	s.change("index/PART_00002.arrow", flip)
	delete(s.objects, url+"PART_00000.ffr")
	s.objects[url+"PART_00009.ffr"] = s.objects[url+"PART_00002.ffr"]
	want := []string{"PART_00000.ffr missing", "PART_00001.ffr checksum", "PART_00009.ffr extra", "index/PART_00002.arrow changed"}
	found := view(t, s)
	for _, w := range want {
		if !slices.Contains(found, w) {
			t.Errorf("%q, and not %q", found, w)
		}
	}
	delete(s.objects, url+"PART_00009.ffr")
	opts := of(t, s, t.TempDir(), url).Options
	done, err := (convert.Conversion{Out: url, Options: opts}).Repair(t.Context(), nil)
	if err != nil || len(done.Rewritten) != 3 {
		t.Fatalf("%+v, %v", done, err)
	}
	equal(t, s, dir)
}

// A dataset that another program has copied from a service of other checksums is whole after a repair, which finds the same
// bytes.
func TestRepairCopied(t *testing.T) {
	t.Parallel()
	s, dir := newStore(), local(t)
	c := of(t, s, t.TempDir(), url)
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range s.names(url) {
		s.change(name, func(b []byte) []byte { return b })
	}
	s.kind = "md5"
	for _, complete := range []bool{false, true} {
		status, err := convert.ReadStatus(t.Context(), url, c.Bucket)
		if err != nil || status.Complete != complete {
			t.Fatalf("complete %t: %+v, %v", complete, status, err)
		}
		done, err := (convert.Conversion{Out: url, Options: c.Options}).Repair(t.Context(), nil)
		if err != nil || len(done.Rewritten) != 0 || slices.Contains(done.Beside, dataset.JournalName) == complete {
			t.Fatalf("complete %t: %+v, %v", complete, done, err)
		}
	}
	equal(t, s, dir)
}

// Bytes that differ from the checksum that the service keeps are damage like any other: told as such, and written again.
func TestRot(t *testing.T) {
	t.Parallel()
	dir := local(t)
	for _, name := range []string{"PART_00001.ffr", "index/PART_00002.arrow", "meta.json", "manifest.json", ".ffconvert/plan", ".ffconvert/journal"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore()
			if _, err := of(t, s, t.TempDir(), url).Write(t.Context()); err != nil {
				t.Fatal(err)
			}
			o := s.objects[url+name]
			s.objects[url+name], s.rotten = stored{flip(bytes.Clone(o.data)), o.version}, url+name
			c := of(t, s, t.TempDir(), url)
			var err error
			switch name {
			case "manifest.json":
				status, err := convert.ReadStatus(t.Context(), url, c.Bucket)
				if err != nil || !errors.Is(status.Err(), dataset.ErrManifest) || !strings.HasPrefix(status.Err().Error(), url+name) {
					t.Fatalf("%+v, %v", status, err)
				}
			default:
				if found := view(t, s); len(found) != 1 || !strings.HasPrefix(found[0], name) || strings.HasSuffix(found[0], string(verify.Unreadable)) {
					t.Errorf("found %q", found)
				}
			}
			if name == ".ffconvert/plan" {
				_, err = c.Write(t.Context())
			} else {
				_, err = (convert.Conversion{Out: url, Options: c.Options}).Repair(t.Context(), nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			equal(t, s, dir)
		})
	}
}

// A shard that another program has replaced is not taken for the one that was put.
func TestReplaced(t *testing.T) {
	t.Parallel()
	s, dir := newStore(), local(t)
	if _, err := of(t, s, t.TempDir(), url).Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.change("PART_00001.ffr", flip)
	s.change("PART_00002.ffr", func(b []byte) []byte { return b }) // the same bytes, put again
	done, err := of(t, s, t.TempDir(), url).Write(t.Context())
	if err != nil || !slices.Equal(done.Lost, []string{"PART_00001.ffr"}) || done.Kept != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	equal(t, s, dir)
}

// Uploads in parts that killed processes have left are ended, of this dataset alone; who may not is told.
func TestPending(t *testing.T) {
	t.Parallel()
	other := "s3://bucket/data/notes.bin"
	for _, denied := range []bool{false, true} {
		s := newStore()
		s.pending = []string{url + "PART_00001.ffr", other, url + "index/PART_00001.arrow"}
		s.before = func(_ int, what, _ string) (error, bool) {
			if denied && (what == "abort" || what == "remove") {
				return &store.Error{Kind: store.ErrDenied}, false
			}
			return nil, false
		}
		var notes []string
		c := of(t, s, t.TempDir(), url)
		c.Bucket.Warn = func(text string) { notes = append(notes, text) }
		if _, err := c.Write(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !denied && (!slices.Equal(s.pending, []string{other}) || len(notes) > 0) || denied && len(notes) != 3 {
			t.Errorf("denied %t: %q, %q", denied, s.pending, notes)
		}
	}
}

// A signature is put after the manifest that it is of, and goes with it.
func TestSigned(t *testing.T) {
	t.Parallel()
	s := newStore()
	write := func() *convert.Conversion { return of(t, s, t.TempDir(), url) }
	if _, err := write().Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.objects[url+dataset.SignatureName] = stored{[]byte("untrusted comment: of this manifest\n"), "v0"}
	if _, err := write().Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, there := s.objects[url+dataset.SignatureName]; !there {
		t.Error("the manifest is the same, and its signature is gone")
	}
	delete(s.objects, url+"PART_00001.ffr")
	s.before = func(_ int, what, at string) (error, bool) {
		if what == "put" && strings.HasSuffix(at, "/PART_00001.ffr") {
			if _, there := s.objects[url+dataset.SignatureName]; there {
				t.Error("a shard is put beside the signature of another manifest")
			}
		}
		return nil, false
	}
	if _, err := write().Write(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestOccupied(t *testing.T) {
	t.Parallel()
	s := newStore()
	s.objects[url+"notes.txt"] = stored{[]byte("mine"), "v0"}
	if _, err := of(t, s, t.TempDir(), url).Write(t.Context()); !errors.Is(err, dataset.ErrNotEmpty) {
		t.Fatalf("beside notes: %v", err)
	}
	c := of(t, s, t.TempDir(), url)
	c.IntoNonempty = true
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := func() *convert.Conversion {
		c := of(t, s, t.TempDir(), url)
		c.Sizes.Shards = 2
		return c
	}
	if _, err := other().Write(t.Context()); !errors.Is(err, dataset.ErrOccupied) {
		t.Fatalf("another plan: %v", err)
	}
	c = other()
	c.Overwrite = true
	if done, err := c.Write(t.Context()); err != nil || done.Shards != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	if _, there := s.objects[url+"PART_00002.ffr"]; there || len(s.names(url)) != 9 {
		t.Errorf("the bucket has %q", s.names(url))
	}
	if string(s.objects[url+"notes.txt"].data) != "mine" {
		t.Error("the notes are gone")
	}
}

// What another conversion has begun there is replaced by --overwrite, and nothing of it is taken for finished.
func TestOverwriteUnfinished(t *testing.T) {
	t.Parallel()
	s, dir := newStore(), local(t)
	s.before = func(_ int, what, url string) (error, bool) {
		if what == "put" && strings.HasSuffix(url, "/PART_00001.ffr") {
			return errCut, true
		}
		return nil, false
	}
	c := of(t, s, t.TempDir(), url)
	c.Sizes.Shards = 2
	if _, err := c.Write(t.Context()); !errors.Is(err, errCut) {
		t.Fatal(err)
	}
	s.before = nil
	c = of(t, s, t.TempDir(), url)
	c.Overwrite = true
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, s, dir)
}

// Of two conversions that begin at once, the one that puts its plan second is refused.
func TestTwoPlans(t *testing.T) {
	t.Parallel()
	s := newStore()
	second := of(t, s, t.TempDir(), url)
	second.Sizes.Shards = 2
	first := true
	s.before = func(_ int, what, at string) (error, bool) {
		if what == "put" && at == url+dataset.PlanName && first {
			first = false
			s.objects[at] = stored{[]byte("another plan"), "v0"}
		}
		return nil, false
	}
	if _, err := second.Write(t.Context()); !errors.Is(err, dataset.ErrOccupied) {
		t.Fatal(err)
	}
}

// A scratch that is too small for a shard is said so.
func TestScratchSize(t *testing.T) {
	t.Parallel()
	s, scratch := newStore(), t.TempDir()
	c := of(t, s, scratch, url)
	c.Bucket.Size = 100 << 10
	_, err := c.Write(t.Context())
	if !errors.Is(err, bucket.ErrScratch) {
		t.Fatal(err)
	}
	empty(t, scratch)
	c.Bucket.Size = 0
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	out, err := bucket.View(t.Context(), url, bucket.Options{Client: s, Scratch: scratch, Size: 100 << 10})
	if err != nil {
		t.Fatal(err)
	}
	if report, _, err := out.Verify(t.Context(), nil, verify.Options{}); !errors.Is(err, bucket.ErrScratch) {
		t.Errorf("verified with too little room: %+v, %v", report, err)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for scratch, kind := range map[string]place.Kind{file: place.IO, filepath.Join(file, "below"): place.IO, "s3://bucket/scratch": place.Usage} {
		if _, err := of(t, s, scratch, url).Write(t.Context()); place.KindOf(err) != kind || !strings.Contains(err.Error(), "option scratch-dir") {
			t.Errorf("%s as the scratch: %v", scratch, err)
		}
	}
}

// What a killed process has left in the scratch is removed by the next.
func TestStale(t *testing.T) {
	t.Parallel()
	s, scratch := newStore(), t.TempDir()
	left := filepath.Join(scratch, "ffconvert-out-0123456789abcdef", ".ffconvert", "tmp", "x")
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "PART_00000.ffr.tmp"), make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(scratch, "ffconvert-out-0123456789abcdef"), long, long); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(scratch, "mine")
	if err := os.Mkdir(mine, 0o755); err != nil {
		t.Fatal(err)
	}
	held, err := bucket.View(context.Background(), url, bucket.Options{Client: s, Scratch: scratch})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := of(t, s, scratch, url).Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(held.Path("")); err != nil {
		t.Errorf("the scratch of a process that lives: %v", err)
	}
	if err := errors.Join(held.Close(), os.Remove(mine)); err != nil {
		t.Fatal(err)
	}
	empty(t, scratch)
}

// A bucket that others have filled: objects that are too large, lines that are none, names that lead elsewhere.
func TestHostile(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*memory){
		"a huge plan": func(s *memory) { s.change(".ffconvert/plan", func([]byte) []byte { return make([]byte, 2<<20) }) },
		"no plan":     func(s *memory) { s.change(".ffconvert/plan", func([]byte) []byte { return []byte("plan") }) },
		"a torn line": func(s *memory) {
			s.change(".ffconvert/done/PART_00000.ffr", func(b []byte) []byte { return b[:len(b)-9] })
		},
		"two lines": func(s *memory) {
			s.change(".ffconvert/done/PART_00000.ffr", func(b []byte) []byte { return append(b, b...) })
		},
		"another's name": func(s *memory) { s.objects[url+".ffconvert/done/../../x"] = stored{[]byte("x"), "v0"} },
		"a name outside": func(s *memory) { s.objects[url+"index/../../../x.arrow"] = stored{[]byte("x"), "v0"} },
		"no journal":     func(s *memory) { s.change(".ffconvert/journal", func([]byte) []byte { return nil }) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, dir, scratch := newStore(), local(t), t.TempDir()
			s.before = func(_ int, what, url string) (error, bool) {
				if what == "put" && strings.HasSuffix(url, "/PART_00002.ffr") {
					return errCut, false
				}
				return nil, false
			}
			if _, err := of(t, s, scratch, url).Write(t.Context()); !errors.Is(err, errCut) {
				t.Fatal(err)
			}
			s.before = nil
			edit(s)
			c := of(t, s, scratch, url)
			c.Bucket.Size = 1 << 20
			c.Overwrite = strings.HasSuffix(name, "plan")
			_, err := c.Write(t.Context())
			empty(t, scratch)
			if name == "a huge plan" {
				if !errors.Is(err, bucket.ErrScratch) {
					t.Fatal(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for at := range s.objects {
				if strings.Contains(at, "..") {
					delete(s.objects, at)
				}
			}
			equal(t, s, dir)
		})
	}
}
