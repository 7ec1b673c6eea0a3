package store

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/testproxy"
)

// allFaults has every case of the tests below tried, as FFCONVERT_FAULTS does for the table of faults.
var allFaults = os.Getenv("FFCONVERT_FAULTS") != ""

// Each request of an upload in turn is disturbed in each way: the object is made, once, of all its bytes, and
// nothing else stays.
func TestSitesEachRequest(t *testing.T) {
	need.Time(t, "every fault of every request, on every server")
	onSites(t, func(t *testing.T, s *site) {
		for _, f := range testproxy.All() {
			for _, n := range []int{1000, smallPart + 1000} {
				for _, isNew := range []bool{false, true} {
					if !allFaults && isNew != (n > smallPart) {
						continue
					}
					for i := 0; ; i++ {
						p := testproxy.Start(t, s.address, testproxy.Options{Pick: testproxy.Only(i, f)})
						name := fmt.Sprintf("each/%d-%d-%v-%d", f, n, isNew, i)
						data := random(n, uint64(i))
						if _, err := putTold(t, s.client(t, p), s.url(name), data, isNew); err != nil {
							t.Errorf("fault %d of request %d, new %v, %d bytes: %v\n%v", f, i, isNew, n, err, p.Requests())
						} else {
							s.holds(t, name, data)
						}
						if left := s.pending(t, name); len(left) > 0 {
							t.Errorf("fault %d of request %d, new %v: parts of %q stay", f, i, isNew, left)
						}
						if p.Count(f) == 0 {
							break
						}
					}
				}
			}
		}
	})
}

// Many uploads, with a fifth of all requests disturbed.
func TestSitesDisturbed(t *testing.T) {
	rounds := 12
	switch {
	case testing.Short():
		rounds = 4
	case allFaults:
		rounds = 40
	}
	onSites(t, func(t *testing.T, s *site) {
		p := testproxy.Start(t, s.address, testproxy.Options{Pick: testproxy.Some(22, 0.2)})
		c := s.client(t, p)
		var want []string
		for i := range rounds {
			n := []int{0, 1000, smallPart, 2*smallPart + i}[i%4]
			name := fmt.Sprintf("disturbed/%d", i)
			data := random(n, uint64(i))
			o, err := putTold(t, c, s.url(name), data, i%3 == 0)
			if err != nil {
				t.Errorf("%d bytes: %v", n, err)
				continue
			}
			s.holds(t, name, data)
			if found, err := c.Stat(t.Context(), o.URL); err != nil || found.Version != o.Version {
				t.Errorf("put %+v, found %+v, %v", o, found, err)
			}
			if n > 0 {
				must(t, c.Read(t.Context(), o, make([]byte, n), 0))
			}
			if _, err := putTold(t, c, s.url(name), data, true); !errors.Is(err, ErrExists) {
				t.Errorf("%d bytes, put again as new: %v", n, err)
			}
			if i%5 == 4 {
				must(t, c.Remove(t.Context(), Object{URL: o.URL}))
				continue
			}
			want = append(want, name)
		}
		if got := s.names(t, "disturbed/"); !sameNames(got, want) {
			t.Errorf("listed %q, want %q", got, want)
		}
		if left := s.pending(t, ""); len(left) > 0 {
			t.Errorf("parts of %q stay", left)
		}
		t.Logf("%d requests", len(p.Requests()))
	})
}
