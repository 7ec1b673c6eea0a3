//go:build bench && linux

package bench

import (
	"fmt"
	"testing"
)

const copied = "`cp -r`, then `sync` of the copies"

// warmTars is S1 and S2 measured in the same rounds.
var warmTars = shared(func(t *testing.T) (m struct {
	bytes                         int64
	limit                         limit
	copying, plain, verified, fio series
	reading, device               series // seconds to read the shards, bytes a second
	processors                    series // seconds of them, of verified
}) {
	set := setOf(t, photos)
	m.bytes = sizeOf(t, filesUnder(t, set))
	m.limit = writeLimit(t)
	verified := func(t *testing.T, set, out string) process {
		p := convert("tar")(t, set, out)
		settle(t)
		shards := glob(t, out, "*.ffr")
		m.device = append(m.device, plainRead.rate(t, shards, 0))
		m.reading = append(m.reading, float64(sizeOf(t, shards))/m.device[len(m.device)-1])
		return p
	}
	plain := convert("tar", "--no-verify")
	all := compete(t, warm, set, slowRounds, durableCopy, plain, verified, m.limit.contender(0, outputSize(t, set, plain)))
	m.copying, m.plain, m.verified, m.fio = all[0].seconds(), all[1].seconds(), all[2].seconds(), all[3].seconds()
	m.processors = all[2].cpu()
	return m
})

// TestS1 converts tars of samples of 100 KB beside a copy of them.
func TestS1(t *testing.T) {
	measure(t, "S1", func(record func(figure)) {
		m := warmTars(t)
		what := size(volume) + " of samples of 100 KB in ten tars, `--no-verify`"
		record(figure{work: what, against: copied, value: m.plain.over(m.copying), unit: ratio, target: atMost(1),
			ours: pace(m.bytes, m.plain), theirs: pace(m.bytes, m.copying), limit: m.limit.beside(m.plain, m.fio)})
		record(figure{work: what + ": part of fio's rate", against: "fio " + m.limit.String() + ", as many bytes", value: m.fio.over(m.plain), unit: ratio, target: atLeast(0.97),
			ours: seconds.all(m.plain), theirs: seconds.all(m.fio)})
	})
}

// TestS2 verifies as well. What that may cost is one read of the shards from the device,
// at the rate of fio, right after the conversion that made them.
func TestS2(t *testing.T) {
	measure(t, "S2", func(record func(figure)) {
		m := warmTars(t)
		allowed := m.copying.plus(m.reading)
		record(figure{work: "the same with verification", against: copied + ", and the bytes of the shards at the rate of fio",
			value: m.verified.over(allowed), unit: ratio, target: atMost(1),
			ours: pace(m.bytes, m.verified), theirs: fmt.Sprintf("%s: %s to copy, fio %s", seconds.all(allowed), seconds.all(m.copying), rate.all(m.device))})
		record(figure{work: "the same", against: copied, value: m.verified.over(m.copying), unit: ratio,
			ours: seconds.all(m.verified), theirs: seconds.all(m.copying)})
		record(figure{work: verifiedTime, value: m.processors.each(func(x float64) float64 { return x / gib(m.bytes) }), unit: per("GiB"), target: atMost(0.6 * (1 << 30) / 1e9), ours: seconds.all(m.processors)})
	})
}

// TestS3 converts tars that are nothing but samples.
func TestS3(t *testing.T) {
	measure(t, "S3", func(record func(figure)) {
		g := growth{"sample", smallCounts(), smallsOf, warm, durableCopy, []grown{
			{how: ", `--no-verify`", convert: convert("tar", "--no-verify"), times: atMost(1.15), cpu: atMost(1.2e-6)},
			{how: ", with verification", convert: convert("tar")},
		}}
		g.grow(t, record, figure{work: "tars of samples of 300 bytes", against: copied})
	})
}

// TestS4 converts a folder of many files.
func TestS4(t *testing.T) {
	measure(t, "S4", func(record func(figure)) {
		m := warmFolder(t)
		for i, how := range []string{", `--no-verify`", ", with verification"} {
			took := [...]series{m.plain, m.verified}[i]
			f := figure{work: folderWork(t) + how, against: copiedTree, value: took.over(m.copying), unit: ratio,
				ours: pace(m.bytes, took), theirs: pace(m.bytes, m.copying)}
			if i == 0 {
				f.target = atMost(1)
			}
			record(f)
		}
	})
}

// beside measures a durable conversion against a durable copy, and then what it is with
// verification.
func beside(t *testing.T, record func(figure), set string, copy contender, format string, f figure) {
	t.Helper()
	bytes := sizeOf(t, filesUnder(t, set))
	all := compete(t, warm, set, rounds, copy, convert(format, "--no-verify"), convert(format))
	f.unit = ratio
	f.theirs = pace(bytes, all[0].seconds())
	f.value, f.ours = all[1].seconds().over(all[0].seconds()), pace(bytes, all[1].seconds())
	verified := f
	verified.target = target{}
	verified.value, verified.ours = all[2].seconds().over(all[0].seconds()), pace(bytes, all[2].seconds())
	f.work += ", `--no-verify`"
	verified.work += ", with verification"
	record(f)
	record(verified)
}
