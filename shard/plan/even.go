package plan

import (
	"sort"

	"github.com/ffconvert/ffconvert/converters"
)

// Even divides samples that were indexed with [IndexOptions.Bare] into files, of even size, as [New] does for
// shards, or with a fixed number of samples. The returned files have no names; Bytes is the cost of their
// samples. Runs are as long as possible, because one goroutine reads a file. Even is a pure function.
func Even(parts []PartIndex, opts Options) ([]Shard, error) {
	order, n, largest, err := opts.order(parts)
	if err != nil {
		return nil, err
	}
	most := opts.Sizes.MaxSamples
	if most > 0 && opts.Sizes.Shards == 0 {
		return fullPieces(order, opts.Sizes)
	}
	pieces := evenPieces(order, n, largest)
	for i := range pieces {
		if most > 0 && pieces[i].Samples > most {
			return nil, sizesClash("option shards %d makes one of %d samples, above option max-count %d", n, pieces[i].Samples, most)
		}
	}
	return pieces, nil
}

// fullPieces cuts by Sizes.MaxSamples.
func fullPieces(order samplesInOrder, sizes Sizes) (pieces []Shard, err error) {
	most := sizes.MaxSamples
	if sizes.Min > 0 {
		return nil, sizesClash("option min-shard-size=%s has no place beside option max-count %d, which cuts by the number of samples", BytesText(sizes.Min), most)
	}
	for from := 0; from < order.len(); {
		end := int(min(int64(order.len()), int64(from)+most))
		before := int64(0)
		if from > 0 {
			before = order.end(from - 1)
		}
		if sizes.ShardSize > 0 {
			end = from + 1 + sort.Search(end-from-1, func(i int) bool { return order.end(from+i)-before >= sizes.ShardSize })
		}
		pieces = append(pieces, pieceOf(order, from, end, order.end(end-1)-before))
		from = end
	}
	if sizes.Max > 0 && len(pieces) > sizes.Max {
		return nil, sizesClash("option max-count %d makes %d files, above option max-shards=%d", most, len(pieces), sizes.Max)
	}
	return pieces, nil
}

func pieceOf(order samplesInOrder, from, end int, cost int64) Shard {
	s := order.shard(from, end)
	return Shard{Samples: s.Samples, Bytes: cost, Runs: joined(s.Runs)}
}

func evenPieces(order samplesInOrder, n int, largest int64) (pieces []Shard) {
	from := 0
	for _, end := range cut(order, n, largest) {
		cost := order.end(end - 1)
		if from > 0 {
			cost -= order.end(from - 1)
		}
		pieces = append(pieces, pieceOf(order, from, end, cost))
		from = end
	}
	return pieces
}

// joined merges adjacent runs.
func joined(runs []converters.Run) []converters.Run {
	long := runs[:0]
	for _, r := range runs {
		if n := len(long); n > 0 && long[n-1].Part == r.Part && long[n-1].First+long[n-1].Count == r.First {
			long[n-1].Count += r.Count
			continue
		}
		long = append(long, r)
	}
	return long
}
