package plan

import (
	"fmt"
	"math"
	"sort"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
)

// A Piece is consecutive samples for one file of a container that is not FFRecord.
type Piece struct {
	Samples int64
	Bytes   int64            // cost of the samples
	Runs    []converters.Run // as long as they can be: one goroutine reads a piece
}

// EvenOptions say how samples are divided. The zero value follows the rule of [Sizes].
type EvenOptions struct {
	Sizes Sizes
	// MaxSamples, unless it is 0, cuts from the first sample on: a piece ends with so many samples, or with the one that brings its cost to
	// Sizes.ShardSize, if that is set. With Sizes.Shards it is a limit that no piece may be above.
	MaxSamples int64
	Choice     *choose.Options // as the index was made with; nil: all samples
}

// Even divides samples that were indexed with [IndexOptions.Bare] into pieces of even size, as [New] does for
// shards, or of a number of samples. It is a pure function.
func Even(parts []PartIndex, opts EvenOptions) ([]Piece, error) {
	sizes, most := opts.Sizes, opts.MaxSamples
	var total, samples, largest int64
	for i := range parts {
		if parts[i].Cost > math.MaxInt64-total {
			return nil, fmt.Errorf("%w: the dataset is larger than 8 EiB", converters.ErrLimit)
		}
		total += parts[i].Cost
		samples += parts[i].Account.Written()
		largest = max(largest, parts[i].Largest)
	}
	if samples == 0 {
		return nil, ErrEmpty
	}
	n, err := sizes.count(total, samples)
	if err != nil {
		return nil, err
	}
	order := newSequence(parts)
	if opts.Choice.Sorted() {
		order = newSorted(parts, samples)
	}
	if most > 0 && sizes.Shards == 0 {
		return fullPieces(order, opts)
	}
	pieces := evenPieces(order, int(n), largest)
	for i := range pieces {
		if most > 0 && pieces[i].Samples > most {
			return nil, sizesClash("option shards %d makes one of %d samples, above option max-count %d", n, pieces[i].Samples, most)
		}
	}
	return pieces, nil
}

// fullPieces cuts as EvenOptions.MaxSamples says.
func fullPieces(order samplesInOrder, opts EvenOptions) (pieces []Piece, err error) {
	sizes, most := opts.Sizes, opts.MaxSamples
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

func pieceOf(order samplesInOrder, from, end int, cost int64) Piece {
	s := order.shard(from, end)
	return Piece{Samples: s.Samples, Bytes: cost, Runs: joined(s.Runs)}
}

func evenPieces(order samplesInOrder, n int, largest int64) (pieces []Piece) {
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

// joined joins runs that follow one another.
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
