package faults

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/testproxy"
	"github.com/ffconvert/ffconvert/internal/test/testserver"
	"github.com/ffconvert/ffconvert/internal/test/versitygw"
)

// TestFaultI1Transport looks at a sound, signed dataset while 12 % of the requests have a fault, lies among them: it is never
// called damaged, incomplete, or signed by somebody else. What gives up, the same command does when it is run again.
func TestFaultI1Transport(t *testing.T) {
	slow(t)
	t.Parallel()
	need.Tool(t, "minisign")
	keys := own(t)
	key, public := filepath.Join(keys, "key"), filepath.Join(keys, "pub")
	if r, err := execute("minisign", "-G", "-W", "-p", public, "-s", key); err != nil || r.code != 0 {
		t.Fatal(r, err)
	}
	var all []listing
	for _, s := range []*store{startS3(t, testserver.GoFakeS3()), startS3(t, versitygw.Kind()), startGoogle(t)} {
		in := s.scheme + "://" + bucketName + "/in"
		if err := s.must(append(append([]string{"tar", "--progress", "none", "--shards", "8", "--sign", key}, sources...), in)); err != nil {
			t.Fatal(err)
		}
		for _, l := range []listing{
			{name: "verify", steps: [][]string{{"verify", "--progress", "none", "IN"}}},
			{name: "verify --key", steps: [][]string{{"verify", "--progress", "none", "--key", public, "IN"}}},
			{name: "get", steps: [][]string{{"get", "IN", "#7"}}},
			{name: "copy", steps: [][]string{{"copy", "--progress", "none", "IN", "DIR"}}},
			{name: "copy within", steps: [][]string{{"copy", "--progress", "none", "IN", "TO"}}},
			{name: "ls", steps: [][]string{{"ls", "-l", "IN"}}},
			{name: "ffr", steps: [][]string{{"ffr", "--progress", "none", "--shards", "5", "IN/", "TO"}}},
		} {
			l.store = s
			var err error
			if l.want, err = l.run(s.address, filepath.Join(own(t), "want")); err != nil {
				t.Fatal(err)
			}
			all = append(all, l)
		}
	}
	const seeds = 40
	var gaveUp atomic.Int64
	faults := slices.Concat(testproxy.All(), testproxy.Lies())
	sum := each(t, spread(seeds*len(all), len(all)), func(i int, dir string) error {
		l := all[i/seeds]
		p := testproxy.Start(t, l.store.address, testproxy.Options{Pick: testproxy.Some(uint64(i), 0.12, faults...)})
		got, err := l.run(p.Address, dir)
		if err != nil && l.gaveUp(err) {
			gaveUp.Add(1)
			got, err = l.run(l.store.address, dir)
		}
		maps.DeleteFunc(got.tree, func(name string, _ []byte) bool { // a request to remove may be answered by a lie; a rerun keeps its lock
			return strings.HasPrefix(name, ".ffconvert/done/") || name == "out/.ffconvert/lock"
		})
		if err == nil {
			err = errors.Join(got.tree.differ(l.want.tree), sameText(got.stdout, l.want.stdout))
		}
		if err != nil {
			return fmt.Errorf("%s %s, seed %d: %w", l.store.scheme, l.name, i, err)
		}
		return nil
	})
	t.Logf("I1 [transport] %v gave_up=%d", sum, gaveUp.Load())
}

// gaveUp reports whether a run has ended with a fault of the transport or the service, and said so.
func (l listing) gaveUp(err error) bool {
	text := err.Error()
	return strings.Contains(text, "exit status 3:") || strings.Contains(text, "exit status 4:")
}
