package bucket_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A task that begins while another one puts a line again, or while finish completes the dataset, finds its shards finished.
func TestStaleList(t *testing.T) {
	t.Parallel()
	dir := local(t)
	for name, finished := range map[string]bool{"a line put again": false, "finished": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore()
			if _, err := of(t, s, t.TempDir(), url).Plan(t.Context()); err != nil {
				t.Fatal(err)
			}
			run := func() (*write.Report, error) {
				opts := of(t, s, t.TempDir(), url).Options
				return convert.Conversion{Out: url, Options: opts}.Run(t.Context(), plan.Task{N: 1})
			}
			if _, err := run(); err != nil {
				t.Fatal(err)
			}
			finish := func(s *memory) {
				t.Helper()
				opts := convert.Options{Bucket: of(t, s, t.TempDir(), url).Options.Bucket, Tool: "test"}
				if _, err := (convert.Conversion{Out: url, Options: opts}).Finish(t.Context(), 0); err != nil {
					t.Fatal(err)
				}
			}
			whole := newStore()
			whole.objects = maps.Clone(s.objects)
			finish(whole)
			changed := false
			s.before = func(_ int, what, line string) (error, bool) {
				if changed || what != "get" || !strings.HasPrefix(line, url+dataset.DoneDir+"/") {
					return nil, false
				}
				if changed = true; finished {
					s.objects = whole.objects
				} else {
					s.objects[line] = stored{s.objects[line].data, "again"}
				}
				return nil, false
			}
			done, err := run()
			if err != nil || !changed || done.Kept != 3 {
				t.Fatalf("%+v, %v; changed %v", done, err, changed)
			}
			finish(s)
			equal(t, s, dir)
		})
	}
}
