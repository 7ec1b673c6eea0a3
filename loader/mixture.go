package loader

import (
	"errors"
	"fmt"
	"math/big"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
)

// A mixture takes samples of several datasets in proportions: docs/order.md has how. It may be used concurrently.
type mixture struct {
	sets   []*ordering                  // each with a batch of 1
	first  []uint64                     // number of the first sample of each
	epochs []atomic.Pointer[epochOrder] // the latest of each
	phases []phase
	text   string // the phases, as Order.Mix has them
}

// A phase has proportions that do not change.
type phase struct {
	step    int64
	start   uint64   // position of its first sample
	weights []uint64 // without common divisor
	sum     uint64
	turns   []turn   // sum of them, again and again
	before  []uint64 // samples of each dataset that earlier phases take
}

// A turn is one of a dataset that has had so many of the same round.
type turn struct{ set, earlier uint16 }

// Limits of a mixture: of a round, and of positions, which are a sum.
const (
	maxTurns    = 1 << 16
	maxPosition = 1 << 62
)

// parseMix returns the phases of a text as "7:3,4000=1:1", for so many datasets.
func parseMix(text string, sets int) (phases []phase, err error) {
	for k, part := range strings.Split(text, ",") {
		at, weights, changed := strings.Cut(part, "=")
		var p phase
		if !changed {
			at, weights = "0", part
		}
		n, failed := strconv.ParseUint(at, 10, 63)
		if p.step = int64(n); failed != nil || (k == 0) != (p.step == 0) || k > 0 && p.step <= phases[k-1].step {
			return nil, fmt.Errorf("mix %q: want steps that ascend, the first one 0, as in 7:3,4000=1:1", text)
		}
		if p.weights, err = parseWeights(strings.Split(weights, ":")); err != nil {
			return nil, fmt.Errorf("mix %q: %w", text, err)
		}
		if len(p.weights) != sets {
			return nil, fmt.Errorf("mix %q: %q are proportions of %d datasets, not of %d", text, weights, len(p.weights), sets)
		}
		for _, w := range p.weights {
			p.sum += w
		}
		p.turns = turnsOf(p.weights, p.sum)
		phases = append(phases, p)
	}
	return phases, nil
}

// parseWeights returns proportions, which may have decimal places, as whole numbers without common divisor.
func parseWeights(texts []string) (weights []uint64, err error) {
	places := 0
	for _, text := range texts {
		_, fraction, _ := strings.Cut(text, ".")
		places = max(places, len(fraction))
	}
	all, divisor := make([]*big.Int, len(texts)), new(big.Int)
	for k, text := range texts {
		whole, fraction, _ := strings.Cut(text, ".")
		digits := whole + fraction + strings.Repeat("0", places-len(fraction))
		n, ok := new(big.Int).SetString(digits, 10)
		if !ok || whole+fraction == "" || len(text) > 20 || strings.Trim(digits, "0123456789") != "" {
			return nil, fmt.Errorf("%q is no proportion: want numbers as 7 or 0.7", text)
		}
		all[k] = n
		divisor.GCD(nil, nil, divisor, n)
	}
	if divisor.Sign() == 0 {
		return nil, errors.New("all proportions are 0")
	}
	sum := new(big.Int)
	for _, n := range all {
		sum.Add(sum, n.Quo(n, divisor))
		weights = append(weights, n.Uint64())
	}
	if sum.Cmp(big.NewInt(maxTurns)) > 0 {
		return nil, fmt.Errorf("without common divisor the proportions have the sum %d, more than %d: round them", sum, maxTurns)
	}
	return weights, nil
}

// turnsOf returns the round of weights: who of those whose turn has come has to have it soonest.
func turnsOf(weights []uint64, sum uint64) []turn {
	turns, had := make([]turn, 0, sum), make([]uint64, len(weights))
	for s := range sum {
		next, soonest := -1, uint64(0)
		for d, w := range weights {
			if w == 0 || had[d]*sum/w > s {
				continue
			}
			if end := ((had[d]+1)*sum + w - 1) / w; next < 0 || end < soonest {
				next, soonest = d, end
			}
		}
		turns = append(turns, turn{uint16(next), uint16(had[next])})
		had[next]++
	}
	return turns
}

// taken returns how many samples of a dataset the first n of a phase have.
func (p *phase) taken(d int, n uint64) uint64 {
	count := n / p.sum * p.weights[d]
	for _, t := range p.turns[:n%p.sum] {
		if int(t.set) == d {
			count++
		}
	}
	return count
}

// newMixture returns the mixture of datasets, given by the samples of their shards.
func newMixture(sets [][]int64, opts Order) (*mixture, error) {
	m := &mixture{epochs: make([]atomic.Pointer[epochOrder], len(sets))}
	var err error
	if m.phases, err = parseMix(opts.Mix, len(sets)); err != nil {
		return nil, err
	}
	next := uint64(0)
	for d, shards := range sets {
		o, err := newOrdering(shards, Order{Seed: keyOf(opts.Seed, uint64(d), streamSets, 0) >> 1, Batch: 1, Mode: opts.Mode})
		if err != nil {
			return nil, fmt.Errorf("dataset %d of the mixture: %w", d+1, err)
		}
		m.sets, m.first = append(m.sets, o), append(m.first, next)
		next += o.n
	}
	var text []string
	for k := range m.phases {
		p := &m.phases[k]
		if p.step > maxPosition/opts.Batch {
			return nil, fmt.Errorf("mix %q: step %d is too large", opts.Mix, p.step)
		}
		p.start, p.before = uint64(p.step)*uint64(opts.Batch), make([]uint64, len(sets))
		if k > 0 {
			last := &m.phases[k-1]
			for d := range sets {
				p.before[d] = last.before[d] + last.taken(d, p.start-last.start)
			}
		}
		var weights []string
		for _, w := range p.weights {
			weights = append(weights, strconv.FormatUint(w, 10))
		}
		text = append(text, fmt.Sprintf("%d=%s", p.step, strings.Join(weights, ":")))
	}
	m.text = strings.Join(text, ",")
	return m, nil
}

// upTo returns the text of the phases that begin before a step.
func (m *mixture) upTo(step int64) string {
	n := sort.Search(len(m.phases), func(k int) bool { return k > 0 && m.phases[k].step >= step })
	return strings.Join(strings.Split(m.text, ",")[:n], ",")
}

// add appends the samples at positions lo to hi.
func (m *mixture) add(dst []int64, lo, hi uint64) []int64 {
	for ; lo < hi; lo++ {
		k := sort.Search(len(m.phases), func(k int) bool { return m.phases[k].start > lo }) - 1
		p := &m.phases[k]
		n := lo - p.start
		t := p.turns[n%p.sum]
		number := p.before[t.set] + n/p.sum*p.weights[t.set] + uint64(t.earlier)
		o := m.sets[t.set]
		e := m.epochs[t.set].Load()
		if e == nil || e.number != number/o.n {
			e = o.epoch(number / o.n)
			m.epochs[t.set].Store(e)
		}
		at := len(dst)
		dst = e.add(dst, int64(number%o.n), int64(number%o.n)+1)
		dst[at] += int64(m.first[t.set])
	}
	return dst
}
