//go:build bench && linux

package bench

import (
	"fmt"
	"testing"
)

// A coldRun is a set that is not in the page cache, converted and copied in the same rounds.
type coldRun struct {
	bytes                         int64
	limit                         limit
	copying, plain, verified, fio series
}

func runCold(t *testing.T, set string) (m coldRun) {
	t.Helper()
	m.bytes, m.limit = sizeOf(t, filesUnder(t, set)), mixedLimit(t)
	plain := convert("tar", "--no-verify")
	all := compete(t, chill, set, slowRounds, plain, durableCopy, m.limit.contender(m.bytes, outputSize(t, set, plain)), convert("tar"))
	m.plain, m.copying, m.fio, m.verified = all[0].seconds(), all[1].seconds(), all[2].seconds(), all[3].seconds()
	return m
}

// coldTars is C1 and C2 measured in the same rounds.
var coldTars = shared(func(t *testing.T) coldRun { return runCold(t, setOf(t, photos)) })

// figure sets ours beside the copy.
func (m coldRun) figure(what string, ours series, most float64) figure {
	return figure{work: what, against: copied + ", as cold", value: ours.over(m.copying), unit: ratio, target: atMost(most),
		ours: pace(m.bytes, ours), theirs: pace(m.bytes, m.copying), limit: m.limit.beside(ours, m.fio)}
}

// TestC1 is S1 with cold inputs, as all are that are larger than memory.
func TestC1(t *testing.T) {
	measure(t, "C1", func(record func(figure)) {
		m := coldTars(t)
		what := size(volume) + " of samples of 100 KB in ten tars, cold, `--no-verify`"
		record(m.figure(what, m.plain, 0.45))
		record(figure{work: what + ": part of fio's rate", against: "fio " + m.limit.String() + ", as many bytes at the same time",
			value: m.fio.over(m.plain), unit: ratio, target: atLeast(0.8), ours: seconds.all(m.plain), theirs: seconds.all(m.fio)})
	})
}

// TestC2 verifies as well.
func TestC2(t *testing.T) {
	measure(t, "C2", func(record func(figure)) {
		m := coldTars(t)
		record(m.figure("the same with verification", m.verified, 0.55))
	})
}

// TestC3 is S3 with cold inputs.
func TestC3(t *testing.T) {
	measure(t, "C3", func(record func(figure)) {
		g := growth{"sample", smallCounts(), smallsOf, chill, durableCopy, []grown{
			{how: ", `--no-verify`", convert: convert("tar", "--no-verify"), times: atMost(1)},
			{how: ", with verification", convert: convert("tar")},
		}}
		g.grow(t, record, figure{work: "tars of samples of 300 bytes, cold", against: copied + ", as cold"})
	})
}

// TestC4 is S4 with cold inputs.
func TestC4(t *testing.T) {
	measure(t, "C4", func(record func(figure)) {
		f := coldFolder(t)
		m := coldRun{bytes: f.bytes, limit: f.limit, copying: f.copying, fio: f.fio}
		plain := m.figure(folderWork(t)+", cold, `--no-verify`", f.plain, 0.3)
		verified := m.figure(folderWork(t)+", cold, with verification", f.verified, 0)
		plain.against, verified.against = copiedTree+", as cold", copiedTree+", as cold"
		verified.target = target{}
		record(plain)
		record(verified)
	})
}

// TestC5 converts four times as much with so little memory that the page cache holds a sixteenth of it at most.
func TestC5(t *testing.T) {
	measure(t, "C5", func(record func(figure)) {
		const times, most = 4, 1.1
		set := setOf(t, photos)
		bytes := sizeOf(t, filesUnder(t, set))
		memoryLimit := max(volume/4, 256<<20)
		f := figure{work: fmt.Sprintf("wall time a GiB: %s of tars, cold, all memory limited to %s by a cgroup, `--no-verify`", size(times*volume), size(memoryLimit)),
			against: "C1, without a limit of memory", unit: ratio, target: atMost(most)}
		group, err := newMemoryGroup(t, memoryLimit)
		if err != nil {
			f.leftOut = err.Error()
		} else if f.leftOut = roomFor(t, 2*times); f.leftOut == "" {
			larger := copies(t, set, times)
			defer settle(t, larger)
			inGroup := func(t *testing.T, _, out string) process {
				chill(t, filesUnder(t, larger))
				return finish(t, group.limited(conversion("tar", larger, out, "--no-verify")), false)
			}
			all := compete(t, chill, set, longRounds, convert("tar", "--no-verify"), inGroup)
			share := func(r runs, bytes int64) series {
				return r.seconds().each(func(x float64) float64 { return x / gib(bytes) })
			}
			once, many := share(all[0], bytes), share(all[1], times*bytes)
			f.value, f.ours, f.theirs = many.over(once), per("GiB").all(many), per("GiB").all(once)
			f.ours += ", " + rate.all(all[1].seconds().under(float64(times*bytes)))
		}
		record(f)
	})
}
