package remote

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/need"
	"github.com/ffconvert/ffconvert/internal/testproxy"
)

// Each request of an upload in turn is disturbed in each way: the object is made, once, of all its bytes, and
// nothing else stays.
func TestSitesEachRequest(t *testing.T) {
	need.Time(t, "every fault of every request, on every server")
	onSites(t, func(t *testing.T, s *site) {
		for _, f := range testproxy.All() {
			for _, n := range []int{1000, smallPart + 1000} {
				for _, isNew := range []bool{false, true} {
					for i := 0; ; i++ {
						p := testproxy.Start(t, s.address, testproxy.Options{Pick: testproxy.Only(i, f)})
						name := fmt.Sprintf("each/%d-%d-%v-%d", f, n, isNew, i)
						data := random(n, uint64(i))
						if _, err := putTold(t, s.client(t, p), s.url(name), data, isNew); err != nil {
							t.Errorf("fault %d of request %d, new %v, %d bytes: %v\n%v", f, i, isNew, n, err, p.Requests())
						} else {
							s.holds(t, name, data)
						}
						s.lost(t, p, name)
						if p.Count(f) == 0 {
							break
						}
					}
				}
			}
		}
	})
}

// lost fails the test if an upload was not ended, unless its beginning has reached the service twice: that one can
// be named and aborted.
func (s *site) lost(t *testing.T, p *testproxy.Proxy, prefix string) {
	t.Helper()
	twice := 0
	for _, r := range p.Requests() {
		if r.Fault == testproxy.Twice && r.Method == http.MethodPost && strings.HasSuffix(r.Path, "?uploads=") {
			twice++
		}
	}
	c, left := s.client(t, nil), 0
	for pending, err := range c.Pending(t.Context(), s.url(prefix)) {
		must(t, err)
		must(t, c.Abort(t.Context(), pending))
		left++
	}
	if left > twice {
		t.Errorf("%d uploads were not ended, %d may", left, twice)
	}
	if again := s.pending(t, prefix); len(again) > 0 {
		t.Errorf("uploads of %q were aborted, and stay", again)
	}
}

// Many uploads, with a fifth of all requests disturbed.
func TestSitesDisturbed(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 4
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
				must(t, c.Remove(t.Context(), o.URL))
				continue
			}
			want = append(want, name)
		}
		if got := s.names(t, "disturbed/"); !sameNames(got, want) {
			t.Errorf("listed %q, want %q", got, want)
		}
		s.lost(t, p, "")
		t.Logf("%d requests", len(p.Requests()))
	})
}
