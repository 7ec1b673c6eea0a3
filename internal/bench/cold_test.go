//go:build bench && linux

package bench

import (
	"fmt"
	"os"
	"testing"
)

// A coldRun is a set that is not in the page cache, converted and copied in the same rounds.
type coldRun struct {
	bytes, written                int64
	limit                         limit
	copying, plain, verified, fio series
	fioTwice                      series // reads what it has written, too
	catThenFio                    series // reads all, then writes
	index, cat                    series // only read
}

func runCold(t *testing.T, set string) (m coldRun) {
	t.Helper()
	plain := convert("tar", "--no-verify")
	m.bytes, m.written, m.limit = sizeOf(t, filesUnder(t, set)), outputSize(t, set, plain), mixedLimit(t)
	write := writeLimit(t)
	cat := func(t *testing.T, set, _ string) process {
		return execute(t, "sh", "-c", `cat "$1"/* > "$2"`, "sh", set, os.DevNull)
	}
	apart := func(t *testing.T, set, out string) process {
		return process{seconds: cat(t, set, out).seconds + write.run(t, 0, m.written, out).seconds}
	}
	all := compete(t, chill, set, rounds, plain, durableCopy, m.limit.contender(m.bytes, m.written), convert("tar"), m.limit.contender(m.bytes+m.written, m.written), apart, convert("tar", "--dry-run"), cat)
	for i, s := range []*series{&m.plain, &m.copying, &m.fio, &m.verified, &m.fioTwice, &m.catThenFio, &m.index, &m.cat} {
		*s = all[i].seconds()
	}
	return m
}

// coldTars is C1 and C2 measured in the same rounds.
var coldTars = shared(func(t *testing.T) coldRun { return runCold(t, setOf(t, photos)) })

// figure sets ours beside the copy.
func (m coldRun) figure(what string, ours series, most target) figure {
	return figure{work: what, against: copied + ", as cold", value: ours.over(m.copying), unit: ratio, target: most,
		ours: pace(m.bytes, ours), theirs: pace(m.bytes, m.copying), limit: m.limit.beside(ours, m.fio)}
}

// TestC1 is S1 with cold inputs, as all are that are larger than memory.
func TestC1(t *testing.T) {
	measure(t, "C1", func(record func(figure)) {
		m := coldTars(t)
		what := size(volume) + " of samples of 100 KB in ten tars, cold, `--no-verify`"
		record(m.figure(what, m.plain, atMost(0.45)))
		record(figure{work: what + ": part of fio's rate", against: "fio " + m.limit.String() + ", as many bytes at the same time",
			value: m.fio.over(m.plain), unit: ratio, target: atLeast(1), ours: seconds.all(m.plain), theirs: seconds.all(m.fio)})
		record(figure{work: what + ": part of that rate", against: "`cat` of the tars, then fio writing as many bytes",
			value: m.catThenFio.over(m.plain), unit: ratio, target: atLeast(1), ours: seconds.all(m.plain), theirs: seconds.all(m.catThenFio)})
		record(figure{work: what + ": its index alone, by `--dry-run`", against: "`cat` of the tars",
			value: m.index.over(m.cat), unit: ratio, target: atMost(1), ours: seconds.all(m.index), theirs: seconds.all(m.cat)})
	})
}

// TestC2 verifies as well.
func TestC2(t *testing.T) {
	measure(t, "C2", func(record func(figure)) {
		m := coldTars(t)
		const what = "the same with verification"
		record(m.figure(what, m.verified, atMost(0.55)))
		record(figure{work: what, against: "C1", value: m.verified.over(m.plain), unit: ratio, target: atMost(1.15), ours: pace(m.bytes, m.verified), theirs: pace(m.bytes, m.plain)})
		record(figure{work: what + ": part of fio's rate", against: "the same of fio, which reads as many bytes more as it writes", value: m.fioTwice.over(m.verified), unit: ratio,
			target: atLeast(1), ours: seconds.all(m.verified), theirs: fmt.Sprintf("%s, %s of what C1's takes", seconds.all(m.fioTwice), ratio.all(m.fioTwice.over(m.fio)))})
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
		plain := m.figure(folderWork(t)+", cold, `--no-verify`", f.plain, atMost(0.3))
		verified := m.figure(folderWork(t)+", cold, with verification", f.verified, target{})
		plain.against, verified.against = copiedTree+", as cold", copiedTree+", as cold"
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
