package bucket_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// Bytes that the service changed are found when they are read back.
func TestReadBack(t *testing.T) {
	t.Parallel()
	for _, readBack := range []bool{false, true} {
		s := newStore()
		c := of(t, s, t.TempDir(), url)
		c.Bucket.ReadBack = readBack
		s.before = func(_ int, what, at string) (error, bool) {
			if o, there := s.objects[at]; what == "get" && there && strings.HasSuffix(at, "PART_00001.ffr") {
				s.objects[at] = stored{flip(bytes.Clone(o.data)), o.version}
			}
			return nil, false
		}
		_, err := c.Write(t.Context())
		if readBack == (err == nil) {
			t.Errorf("read back %t: %v", readBack, err)
		}
	}
}

// An object that was changed under its version is taken for the one that was put, and counted as not read; with reading
// back it is found and written again, whether the run has other shards to write or not.
func TestChangedUnderVersion(t *testing.T) {
	t.Parallel()
	dir := local(t)
	for _, name := range []string{"PART_00001.ffr", "index/PART_00001.arrow"} {
		for _, partial := range []bool{false, true} {
			s := newStore()
			if _, err := of(t, s, t.TempDir(), url).Write(t.Context()); err != nil {
				t.Fatal(err)
			}
			changed := s.objects[url+name]
			s.objects[url+name] = stored{bytes.Clone(changed.data), changed.version}
			s.objects[url+name].data[len(changed.data)-1] ^= 1
			lost, kept := []string{"PART_00001.ffr"}, 3
			if partial {
				s.change("PART_00002.ffr", flip)
				lost, kept = append(lost, "PART_00002.ffr"), 2
			}
			done, err := of(t, s, t.TempDir(), url).Write(t.Context())
			if err != nil || done.Kept != kept || done.Unread != kept || done.Uploaded != 3-kept || done.ReadBack {
				t.Errorf("%s, partial %t: %+v, %v", name, partial, done.Report, err)
			}
			if found := view(t, s); len(found) != 1 || !strings.HasPrefix(found[0], name) {
				t.Errorf("%s: found %q", name, found)
			}
			if partial {
				s.change("PART_00002.ffr", flip)
			}
			again := of(t, s, t.TempDir(), url)
			again.Bucket.ReadBack = true
			done, err = again.Write(t.Context())
			if err != nil || !slices.Equal(done.Lost, lost) || done.Kept != 3-len(lost) || done.Unread != 0 || !done.ReadBack {
				t.Errorf("%s, partial %t, with reading back: %+v, %v", name, partial, done.Report, err)
			}
			equal(t, s, dir)
		}
	}
}

// A kept shard that a run has read again from the bucket for its verification is not counted as unread.
func TestKeptVerified(t *testing.T) {
	t.Parallel()
	s := newStore()
	if _, err := of(t, s, t.TempDir(), url).Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.change("PART_00002.ffr", flip)
	c := of(t, s, t.TempDir(), url)
	c.Verify = true
	if done, err := c.Write(t.Context()); err != nil || done.Kept != 2 || done.Unread != 0 || done.Reread != 3 {
		t.Errorf("%+v, %v", done.Report, err)
	}
}
