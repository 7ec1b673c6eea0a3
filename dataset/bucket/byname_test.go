package bucket_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// An object that lists leave out is there all the same: what was finished is sound, is not begun anew, and leaves nothing.
func TestUnlisted(t *testing.T) {
	t.Parallel()
	dir, whole := local(t), newStore()
	if _, err := of(t, whole, t.TempDir(), url).Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(whole.names(url), "") {
		hidden := map[string]bool{url + name: true}
		if name == "" { // all of them
			for _, name := range whole.names(url) {
				hidden[url+name] = true
			}
		}
		whole.hidden = hidden
		if found := view(t, whole); len(found) > 0 {
			t.Errorf("%s is not listed: %q", name, found)
		}
		writes := whole.writes
		if again, err := of(t, whole, t.TempDir(), url).Write(t.Context()); err != nil || !again.Already || whole.writes != writes {
			t.Errorf("%s is not listed: %+v, %v", name, again, err)
		}
	}
	s := newStore()
	if _, err := of(t, s, t.TempDir(), url).Plan(t.Context()); err != nil {
		t.Fatal(err)
	}
	opts := of(t, s, t.TempDir(), url).Options
	for k := range 2 {
		if _, err := (convert.Conversion{Out: url, Options: opts}).Run(t.Context(), plan.Task{K: k, N: 2}); err != nil {
			t.Fatal(err)
		}
	}
	s.hidden = map[string]bool{url + "PART_00000.ffr": true, url + "index/PART_00001.arrow": true, url + ".ffconvert/done/PART_00002.ffr": true, url + ".ffconvert/plan": true}
	if _, err := (convert.Conversion{Out: url, Options: convert.Options{Bucket: opts.Bucket, Tool: "test"}}).Finish(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	equal(t, s, dir)
	for name := range s.objects {
		if strings.Contains(name, "/done/") {
			t.Errorf("%s was left behind", name)
		}
	}
}

// What a bucket has below index/ beside the indexes is listed, without harm to the dataset. A run that replaces the dataset removes
// the table of keys that an earlier version made.
func TestExtra(t *testing.T) {
	t.Parallel()
	s := newStore()
	if _, err := of(t, s, t.TempDir(), url).Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index/PART_00007.arrow", "index/note", "index/more/note", ".ffconvert/keys", ".ffconvert/other"} {
		s.objects[url+name] = stored{[]byte(name), "1"}
	}
	out, err := bucket.View(t.Context(), url, bucket.Options{Client: s, Scratch: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	m, err := out.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	names, err := out.Extra(m)
	if want := []string{"index/PART_00007.arrow", "index/more/note", "index/note"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("%q, %v", names, err)
	}
	if err := out.Close(); err != nil {
		t.Error(err)
	}
	c := of(t, s, t.TempDir(), url)
	c.Sizes, c.Overwrite = plan.Sizes{Shards: 2}, true
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, there := s.objects[url+".ffconvert/keys"]; there {
		t.Error("the table of keys of a dataset that was replaced is there")
	}
	if _, there := s.objects[url+"index/note"]; !there {
		t.Error("a file that is not ours was removed")
	}
}
