//go:build bench && linux

package bench

import (
	"fmt"
	"testing"
)

// TestS1 converts tars of samples of 100 KB beside a copy of them.
func TestS1(t *testing.T) {
	measure(t, "S1", func(record func(figure)) {
		set := setOf(t, photos)
		bytes := sizeOf(t, filesUnder(t, set))
		all := compete(t, set, rounds, durableCopy, convert("tar", "--no-verify"))
		record(figure{work: size(volume) + " of samples of 100 KB in ten tars, `--no-verify`", against: copied,
			value: all[1].seconds().over(all[0].seconds()), unit: ratio, target: atMost(1),
			ours: pace(bytes, all[1].seconds()), theirs: pace(bytes, all[0].seconds())})
	})
}

const copied = "`cp -r`, then `sync` of the copies"

// TestS2 verifies as well. What that may cost is one read of the shards from the device,
// at the rate of fio, right after the conversion that made them.
func TestS2(t *testing.T) {
	measure(t, "S2", func(record func(figure)) {
		set := setOf(t, photos)
		bytes := sizeOf(t, filesUnder(t, set))
		var reading, device series
		verified := func(t *testing.T, set, out string) process {
			p := convert("tar")(t, set, out)
			settle(t)
			shards := glob(t, out, "*.ffr")
			device = append(device, plainRead.rate(t, shards))
			reading = append(reading, float64(sizeOf(t, shards))/device[len(device)-1])
			return p
		}
		all := compete(t, set, rounds, durableCopy, verified)
		allowed := all[0].seconds().plus(reading)
		record(figure{work: "the same with verification", against: copied + ", and the bytes of the shards at the rate of fio",
			value: all[1].seconds().over(allowed), unit: ratio, target: atMost(1),
			ours: pace(bytes, all[1].seconds()), theirs: fmt.Sprintf("%s: %s to copy, fio %s", seconds.all(allowed), seconds.all(all[0].seconds()), rate.all(device))})
		record(figure{work: "the same", against: copied, value: all[1].seconds().over(all[0].seconds()), unit: ratio,
			ours: seconds.all(all[1].seconds()), theirs: seconds.all(all[0].seconds())})
	})
}

// TestS3 converts tars that are nothing but samples.
func TestS3(t *testing.T) {
	measure(t, "S3", func(record func(figure)) {
		beside(t, record, setOf(t, smalls), durableCopy, "tar",
			figure{work: fmt.Sprintf("%d samples of 300 bytes in four tars", smallSamples()), against: copied, target: atMost(1.2)})
	})
}

// TestS4 converts a folder of many files.
func TestS4(t *testing.T) {
	measure(t, "S4", func(record func(figure)) {
		set := setOf(t, files)
		beside(t, record, set, durableTree, "folder",
			figure{work: fmt.Sprintf("a folder of %d files, %s", len(filesUnder(t, set)), size(sizeOf(t, filesUnder(t, set)))), against: "`cp -r`, then `sync -f`", target: atMost(1)})
	})
}

// beside measures a durable conversion against a durable copy, and then what it is with
// verification.
func beside(t *testing.T, record func(figure), set string, copy contender, format string, f figure) {
	t.Helper()
	bytes := sizeOf(t, filesUnder(t, set))
	all := compete(t, set, rounds, copy, convert(format, "--no-verify"), convert(format))
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
