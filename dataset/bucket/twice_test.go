package bucket_test

import (
	"os"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/shard/plan"
)

// Of two runs at once that replace a dataset by two others, one that ends without an error leaves a sound dataset, whatever
// the other one does, and the same command makes it afterwards. Without --overwrite, too.
func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	sound := 0
	pairs := 8
	if os.Getenv("FFCONVERT_FAULTS") != "" {
		pairs = 100
	}
	for i := range pairs {
		s := newStore()
		if _, err := of(t, s, t.TempDir(), url).Write(t.Context()); err != nil {
			t.Fatal(err)
		}
		if i%4 == 3 {
			s = newStore()
		}
		var errs [2]error
		var wg sync.WaitGroup
		for k := range 2 {
			one := of(t, s, t.TempDir(), url)
			one.Sizes, one.Overwrite = plan.Sizes{Shards: 4 + k}, i%4 != 3
			wg.Go(func() { _, errs[k] = one.Write(t.Context()) })
		}
		wg.Wait()
		if errs[0] != nil && errs[1] != nil {
			continue
		}
		sound++
		if found := view(t, s); len(found) > 0 {
			t.Errorf("%d: %v: %q", i, errs, found)
		}
	}
	t.Logf("%d of %d pairs have a run without an error", sound, pairs)
}
