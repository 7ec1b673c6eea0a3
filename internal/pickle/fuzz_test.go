package pickle

import (
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/fuzz"
)

// FuzzDict: no pickle makes DecodeDict panic or allocate more than it warrants. What it
// accepts is the tree that the naive unpickler makes of it, has no key twice, is found by
// Get, and is written and read again to the same tree.
func FuzzDict(f *testing.F) {
	for _, c := range hostile() {
		if len(c.pickle) < 4096 {
			f.Add(c.pickle)
		}
	}
	f.Add("\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01(X\x01\x00\x00\x00aq\x02K\x00X\x01\x00\x00\x00bq\x03h\x00)Rq\x04u.")
	f.Add("\x80\x04\x95\x0d\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a\x94}\x94h\x01K\x07ss.")
	f.Add(string(AppendDict(nil, &Dict{Items: []Item{{Key: "a", Int: 1 << 40}, {Key: "b", Dict: &Dict{Items: []Item{{Key: "c", Int: -1}}}}}})))
	f.Fuzz(func(t *testing.T, s string) {
		var d *Dict
		var err error
		fuzz.WantAllocated(t, 1<<20+500*len(s), func() { d, err = DecodeDict(s) })
		if err != nil {
			if len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("refused with %q", err)
			}
			return
		}
		if want := modelLine(model(s).(*modelDict)); line(d) != want {
			t.Fatalf("%s, the model has %s", line(d), want)
		}
		wantFound(t, d)
		again, err := DecodeDict(string(AppendDict(nil, d)))
		if err != nil || line(again) != line(d) {
			t.Fatalf("%s became another tree: %v", line(d), err)
		}
	})
}

// wantFound wants that Get finds each key, here and below.
func wantFound(t *testing.T, d *Dict) {
	for _, it := range d.Items {
		if got, ok := d.Get(it.Key); !ok || got != it {
			t.Fatalf("%q is %v, %t", it.Key, got, ok)
		}
		if it.Dict != nil {
			wantFound(t, it.Dict)
		}
	}
}
