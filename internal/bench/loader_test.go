//go:build bench && linux

package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/loader"
)

// TestT1 reads an epoch by the loader, in random order.
func TestT1(t *testing.T) {
	measure(t, "T1", func(record func(figure)) {
		const batch = 128
		out, shards := freshShards(t)
		var ways []fioJob
		for _, depth := range []int{32, 64, 128, 256} {
			ways = append(ways, fioJob{"randread", "100k", depth, 1})
		}
		ways = append(ways, fioJob{"randread", "100k", 64, 2})
		ways = bestFirst(t, ways, shards)[:finalists]

		l, err := loader.Open([]string{out}, loader.Options{Order: loader.Order{Seed: 8, Batch: batch}})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		var ours series
		device := make([]series, finalists)
		inTurn(rounds, 1+finalists, func(i int) {
			chill(t, shards)
			if i < finalists {
				device[i] = append(device[i], ways[i].rate(t, shards, 0))
				return
			}
			before := l.Stats()
			took := timed(func() { runEpoch(t, l) })
			s := l.Stats()
			if s.Samples-before.Samples != l.Steps()*batch || s.AIO.Cached > 0 || !s.AIO.Direct || s.AIO.Backend != aio.AIO {
				t.Fatalf("%+v is not an epoch of the device", s)
			}
			ours = append(ours, float64(s.Bytes-before.Bytes)/took.seconds)
		})
		settle(t, out)
		best := greatest(device)
		record(figure{work: fmt.Sprintf("%d random batches of %d samples of 100 KB by package `loader`, cold, verified", l.Steps(), batch), against: "the best of fio randread, direct",
			value: ours.over(best), unit: ratio, target: atLeast(0.95), ours: rate.all(ours), theirs: rate.all(best)})
		for i, way := range ways {
			record(figure{work: "the same", against: "fio randread, direct, " + way.String(), value: ours.over(device[i]), unit: ratio, ours: rate.all(ours), theirs: rate.all(device[i])})
		}
	})
}

// runEpoch goes through an epoch, and begins the next one.
func runEpoch(t *testing.T, l *loader.Loader) {
	t.Helper()
	for _, err := range l.Batches(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := l.SetEpoch(l.Epoch() + 1); err != nil {
		t.Fatal(err)
	}
}
