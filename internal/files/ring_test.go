package files

import "testing"

func FuzzRing(f *testing.F) {
	f.Add([]byte{40, 40, 0, 40, 0, 100, 0, 0})
	f.Add([]byte{1, 255, 60, 60, 0, 50, 0, 1, 1, 0, 0, 0, 99})
	f.Fuzz(func(t *testing.T, ops []byte) {
		r := ring{buf: make([]byte, 100)}
		type span struct{ from, to int }
		var live []span
		for _, op := range ops {
			if op == 0 {
				if len(live) > 0 {
					r.free(live[0].to)
					live = live[1:]
				}
				continue
			}
			n := int(op) - 1
			at, ok := r.alloc(n)
			if !ok {
				if len(live) == 0 && n <= len(r.buf) {
					t.Fatalf("no room for %d bytes in an empty ring", n)
				}
				continue
			}
			if at < 0 || at+n > len(r.buf) {
				t.Fatalf("%d bytes at %d", n, at)
			}
			for _, s := range live {
				if n > 0 && s.from < s.to && at < s.to && s.from < at+n {
					t.Fatalf("%d bytes at %d lie over %v of %v", n, at, s, live)
				}
			}
			live = append(live, span{at, at + n})
		}
	})
}
