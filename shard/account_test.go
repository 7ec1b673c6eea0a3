package shard

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// Accounts add up to the same whatever the order of what they count, and their size is
// bounded however many names the fields have.
func TestAccount(t *testing.T) {
	t.Parallel()
	var sum, again Account
	for p := range 3 {
		var a Account
		a.skip(&converters.Span{Skip: "directory", Entries: 1})
		a.skip(&converters.Span{Skip: "fifo"})
		a.skip(&converters.Span{Skip: "missing end of archive", Waived: true})
		for i := range maxSeen {
			a.saw(fmt.Sprint(p, "/", i), FieldCount{1, 10})
		}
		sum.merge(&a)
		again.merge(&a)
	}
	if !reflect.DeepEqual(sum, again) {
		t.Error("the same accounts add up to different ones")
	}
	if sum.Entries != 6 || sum.EntriesSkipped() != 6 || sum.Skipped["fifo"] != 3 || sum.Waived["missing end of archive"] != 3 {
		t.Errorf("entries %d, skipped %v, waived %v", sum.Entries, sum.Skipped, sum.Waived)
	}
	samples := int64(0)
	for _, c := range sum.Seen {
		samples += c.Samples
		if c.Bytes != 10*c.Samples {
			t.Errorf("%d bytes in %d samples", c.Bytes, c.Samples)
		}
	}
	if samples != 3*maxSeen || len(sum.Seen) > maxSeen+1 || sum.Seen[otherNames].Samples != 2*maxSeen {
		t.Errorf("%d samples under %d names, %+v under others", samples, len(sum.Seen), sum.Seen[otherNames])
	}
}
