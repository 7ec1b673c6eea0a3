package faults

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestFaultEAGAIN has a FUSE server answer EAGAIN to every request of a kind from the k-th on, which
// Go's poller would wait for, for ever.
func TestFaultEAGAIN(t *testing.T) {
	long(t)
	t.Parallel()
	l := newLiar(t, own(t))
	l.tell(nil, "", 0, false)
	out := filepath.Join(l.dir, "out")
	if r, err := run(convert(out, "-j1")...); err != nil || r.code != 0 {
		t.Fatal(r, err)
	}
	counts := l.counts()
	t.Logf("%v", counts)
	again := &lies[len(lies)-2]
	if again.name != "EAGAIN" {
		t.Fatal(again.name)
	}
	for _, kind := range []string{"write", "read", "fsync"} {
		for k := range min(counts[kind], cases(1000, 12)) {
			out := filepath.Join(l.dir, fmt.Sprintf("out-%s-%d", kind, k))
			l.tell(again, kind, k, true)
			r, err := run(convert(out, "-j1")...)
			if told := l.told(); err == nil && told != "" && r.code != 0 {
				err = r.clean(4)
			}
			if err != nil {
				t.Fatalf("%s %d, %s: %v", kind, k, l.told(), err)
			}
		}
	}
}
