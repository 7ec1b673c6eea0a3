package plan

import (
	"fmt"
	"math"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/shard/choose"
)

// A Piece is consecutive samples for one file of a container that is not FFRecord.
type Piece struct {
	Samples int64
	Bytes   int64            // cost of the samples
	Runs    []converters.Run // as long as they can be: one goroutine reads a piece
}

// EvenOptions say how samples are divided. The zero value follows the rule of [Sizes].
type EvenOptions struct {
	Sizes      Sizes
	MaxSamples int64           // most samples of a piece, so that there are more pieces; 0: no limit
	Choice     *choose.Options // as the index was made with; nil: all samples
}

// Even divides samples that were indexed with [IndexOptions.Bare] into pieces of even size, as [New] does for
// shards. It is a pure function.
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
	if least := (samples + most - 1) / max(1, most); most > 0 && n < least {
		if sizes.Shards > 0 {
			return nil, sizesClash("Sizes.Shards %d have %d samples each, above option max-count %d", n, (samples+n-1)/n, most)
		}
		n = least
	}
	order := newSequence(parts)
	if opts.Choice.Sorted() {
		order = newSorted(parts, samples)
	}
	for {
		pieces := evenPieces(order, int(n), largest)
		over := int64(0)
		for i := range pieces {
			over = max(over, pieces[i].Samples)
		}
		if most == 0 || over <= most {
			return pieces, nil
		}
		if sizes.Shards > 0 {
			return nil, sizesClash("Sizes.Shards %d makes one of %d samples, above option max-count %d", n, over, most)
		}
		n = min(samples, n+max(1, n/16)) // cut by bytes: pieces of small samples have more of them
	}
}

func evenPieces(order samplesInOrder, n int, largest int64) (pieces []Piece) {
	from := 0
	for _, end := range cut(order, n, largest) {
		s := order.shard(from, end)
		cost := order.end(end - 1)
		if from > 0 {
			cost -= order.end(from - 1)
		}
		pieces = append(pieces, Piece{Samples: s.Samples, Bytes: cost, Runs: joined(s.Runs)})
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
