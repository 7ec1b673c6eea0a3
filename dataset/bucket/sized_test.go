package bucket_test

import (
	"io"
	"testing"

	"github.com/ffconvert/ffconvert/dataset/bucket"
)

// A size that a damaged listing gives a shard does not make the shard damaged.
func TestListedSize(t *testing.T) {
	t.Parallel()
	s := newStore()
	if _, err := of(t, s, t.TempDir(), url).Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	name := "PART_00001.ffr"
	whole := s.objects[url+name]
	s.longer = url + name
	out, err := bucket.View(t.Context(), url, bucket.Options{Client: s, Scratch: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	f, size, err := out.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	if err != nil || string(got) != string(whole.data) {
		t.Errorf("%d bytes of %d, %v", len(got), len(whole.data), err)
	}
	if found := view(t, s); len(found) > 0 {
		t.Errorf("verify: %q", found)
	}
}

// A version that a damaged reply to a put has said is not that of another run: the checksum tells.
func TestMistoldVersion(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"PART_00001.ffr", "index/PART_00001.arrow", ".ffconvert/plan", "manifest.json"} {
		s := newStore()
		s.mistold = url + name
		if _, err := of(t, s, t.TempDir(), url).Write(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if found := view(t, s); len(found) > 0 {
			t.Errorf("%s: verify: %q", name, found)
		}
	}
}
