package plan

import (
	"bytes"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
)

// A shuffled ordering is all written samples, in an order drawn from a seed or sorted.
type shuffled struct {
	parts []PartIndex
	at    []sampleAt
	ends  []int64
}

// A sampleAt is a sample's part and ordinal in it.
type sampleAt struct{ part, ordinal uint32 }

func newShuffled(parts []PartIndex, samples int64, how Shuffle) samplesInOrder {
	at := writtenSamples(parts, samples)
	permute(at, how.Seed)
	return inOrder(parts, at)
}

// newSorted orders samples by the sort keys in the index; samples with equal keys keep their order.
func newSorted(parts []PartIndex, samples int64) samplesInOrder {
	type sorted struct {
		sampleAt
		key []byte
	}
	all := make([]sorted, 0, samples)
	n := 0 // number of the sample among the written ones of the part
	for i, at := range writtenSamples(parts, samples) {
		if i > 0 && all[i-1].part != at.part {
			n = 0
		}
		all = append(all, sorted{at, parts[at.part].order.At(n)})
		n++
	}
	slices.SortStableFunc(all, func(a, b sorted) int { return bytes.Compare(a.key, b.key) })
	at := make([]sampleAt, len(all))
	for i := range all {
		at[i] = all[i].sampleAt
	}
	return inOrder(parts, at)
}

// writtenSamples returns all samples that are not left out, in input order.
func writtenSamples(parts []PartIndex, samples int64) []sampleAt {
	at := make([]sampleAt, 0, samples)
	for p := range parts {
		for i, cost := range parts[p].Costs(0, parts[p].N) {
			if cost > 0 {
				at = append(at, sampleAt{uint32(p), uint32(i)})
			}
		}
	}
	return at
}

// inOrder returns the ordering of the samples at.
func inOrder(parts []PartIndex, at []sampleAt) samplesInOrder {
	s := &shuffled{parts: parts, at: at, ends: make([]int64, len(at))}
	sum := int64(0)
	for i, at := range s.at {
		sum += parts[at.part].CostOf(int(at.ordinal))
		s.ends[i] = sum
	}
	return s
}

func (s *shuffled) len() int        { return len(s.at) }
func (s *shuffled) end(i int) int64 { return s.ends[i] }

func (s *shuffled) shard(from, end int) Shard {
	var b shardBuilder
	b.Runs = make([]converters.Run, 0, end-from) // after a shuffle neighbours are rarely consecutive: about one run a sample
	for _, at := range s.at[from:end] {
		b.run(&s.parts[at.part], int(at.part), int(at.ordinal), int(at.ordinal)+1, RunSamples)
	}
	return b.shard()
}

// permute is the Fisher–Yates shuffle with a PCG generator. It is implemented here because the
// same seed must give the same shards in every version of this program and of Go; the library
// guarantees a stable generator, but not a stable Shuffle.
func permute[T any](s []T, seed uint64) {
	rng := rand.NewPCG(seed, 0)
	for i := len(s) - 1; i > 0; i-- {
		j := below(rng, uint64(i)+1)
		s[i], s[j] = s[j], s[i]
	}
}

// below returns a number from 0 to n−1, each equally likely (Lemire's method).
func below(rng *rand.PCG, n uint64) uint64 {
	hi, lo := bits.Mul64(rng.Uint64(), n)
	for least := -n % n; lo < least; {
		hi, lo = bits.Mul64(rng.Uint64(), n)
	}
	return hi
}
