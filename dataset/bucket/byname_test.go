package bucket_test

import (
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/convert"
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
		if _, err := convert.Run(t.Context(), url, plan.Task{K: k, N: 2}, convert.PlannedOptions{Options: opts}); err != nil {
			t.Fatal(err)
		}
	}
	s.hidden = map[string]bool{url + "PART_00000.ffr": true, url + "index/PART_00001.arrow": true, url + ".ffconvert/done/PART_00002.ffr": true, url + ".ffconvert/plan": true}
	if _, err := convert.Finish(t.Context(), url, convert.FinishOptions{Bucket: opts.Bucket, Tool: "test"}); err != nil {
		t.Fatal(err)
	}
	equal(t, s, dir)
	for name := range s.objects {
		if strings.Contains(name, "/done/") {
			t.Errorf("%s was left behind", name)
		}
	}
}
