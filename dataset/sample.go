package dataset

import (
	"math"
	"math/rand/v2"
)

// A Sample says how many shards of a dataset are read in place of all. One of Percent and Shards is set.
type Sample struct {
	Percent float64 // of the shards, rounded up
	Shards  int
	Seed    uint64 // the same seed chooses the same of as many shards
}

// Choose returns the names of the shards to read: one at least.
func (s *Sample) Choose(m *Manifest) map[string]bool {
	n := s.Shards
	if s.Percent > 0 {
		n = int(math.Ceil(float64(len(m.Shards)) * s.Percent / 100))
	}
	n = max(1, min(n, len(m.Shards)))
	chosen := make(map[string]bool, n)
	for _, i := range rand.New(rand.NewPCG(s.Seed, 0)).Perm(len(m.Shards))[:n] {
		chosen[m.Shards[i].Name] = true
	}
	return chosen
}
