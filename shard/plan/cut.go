package plan

import "sort"

// An ordering is the samples of a plan in the order in which they are written, by
// their cumulative cost in shard bytes. Samples that are left out cost nothing.
type ordering interface {
	// len returns the number of samples.
	len() int
	// end returns the cost of samples 0 … i.
	end(i int) int64
}

// cut divides the samples into k consecutive shards and returns where each ends (an index into the ordering,
// exclusive). The largest shard is as small as can be; within that, largest − smallest ≤ the largest sample, and cuts
// lie near the even ones. Every shard holds at least one sample that costs something, of which there must be k or more.
// largest is the cost of the largest sample.
//
// Proof that both hold at once: let high be the least bound under which filling shards greedily needs at most k of
// them. A bound of high−1 fails, so k greedy shards of at least high−largest each do not use up all samples; hence k
// shards of at least low = high−largest exist too. Between the two, the prefix sums that j shards of low to high bytes
// can reach have no gap, because no sample is larger than high−low. So shard j can end at every sample between the
// least and the greatest of these sums, and from any end of the last shard there is a way back to the start.
func cut(s ordering, k int, largest int64) []int {
	n := s.len()
	total := s.end(n - 1)
	high := largest + int64(sort.Search(int(total-largest), func(d int) bool {
		end := int64(0)
		for range k {
			end = lastAtMost(s, end+largest+int64(d))
		}
		return end == total
	}))
	low := max(1, high-largest)

	first := make([]int64, k+1) // least and greatest cost that the first j shards can have
	last := make([]int64, k+1)
	for j := 1; j <= k; j++ {
		first[j] = firstAtLeast(s, first[j-1]+low)
		last[j] = lastAtMost(s, last[j-1]+high)
	}

	ends := make([]int, k)
	ends[k-1] = n
	next := total // the cost at which shard j+1 ends
	for j := k - 1; j > 0; j-- {
		from := max(first[j], next-high)
		to := min(last[j], next-low)
		at := nearest(s, min(max(next/int64(j+1)*int64(j), from), to), from, to)
		ends[j-1] = at + 1
		next = s.end(at)
	}
	return ends
}

// firstAtLeast returns the least prefix cost that is x or more, or the total if there is none.
func firstAtLeast(s ordering, x int64) int64 {
	i := sort.Search(s.len(), func(i int) bool { return s.end(i) >= x })
	return s.end(min(i, s.len()-1))
}

// lastAtMost returns the greatest prefix cost that is x or less.
func lastAtMost(s ordering, x int64) int64 {
	i := sort.Search(s.len(), func(i int) bool { return s.end(i) > x })
	if i == 0 {
		return 0
	}
	return s.end(i - 1)
}

// nearest returns the sample between from and to whose prefix cost is nearest to x. Of samples with
// equal prefix costs it returns the last, so that left-out samples stay with the one before them.
func nearest(s ordering, x, from, to int64) int {
	above := sort.Search(s.len(), func(i int) bool { return s.end(i) > x })
	i := above - 1
	if above < s.len() && s.end(above) <= to && (i < 0 || s.end(i) < from || s.end(above)-x < x-s.end(i)) {
		i = sort.Search(s.len(), func(j int) bool { return s.end(j) > s.end(above) }) - 1
	}
	return i
}
