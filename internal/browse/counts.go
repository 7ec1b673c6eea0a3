package browse

import (
	"context"
	"path/filepath"

	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/record"
)

// A survey is the result of countSamples.
type survey struct {
	Samples   int64
	Bytes     int64        // total of the records
	Classes   []classCount // by number: all with a name, and those without one that have samples, at most 1,048,576
	Unlabeled int64        // samples without a class

	Sizes             []bucket  // from the smallest record to the largest, without gaps
	Largest, Smallest []outlier // at most 20 of each, the most unusual first; equal ones in dataset order
	Median, P01, P99  int64     // sizes that half, 1 % and 99 % of the records do not exceed: exact below 2 KiB, else up to 0.1 % too low

	Shards []shardSize
}

// A shardSize is a shard and its size.
type shardSize struct {
	Name    string // without directories
	Samples int64
	Bytes   int64 // size of the file
}

// surveyStep is how many samples are counted between two calls of progress.
const surveyStep = 1 << 16

// countSamples makes a survey of all samples: the classes, and the sizes of records and shards. It reads indexes, and the
// headers of shards without an index; it reads no record. classes are the class names by number; nil: classes have no
// names. It calls progress with the number of counted samples, from time to time and at the end; progress may be nil.
// Indexes and headers are compared with their checksums. Memory does not grow with the number of samples.
func countSamples(ctx context.Context, d *lookup.Dataset, classes []string, progress func(done int64)) (*survey, error) {
	s := new(survey)
	c := newCounts(classes)
	var z sizes
	payload := make(map[string]int64) // bytes of each shard's records, by path
	path, bytes := "", int64(0)
	for r, err := range d.Walk(ctx) {
		if err != nil {
			return nil, err
		}
		if r.Shard != path {
			payload[path] += bytes
			path, bytes = r.Shard, 0
		}
		bytes += r.At.Size
		if r.Labeled {
			c.add(r.Label)
		} else {
			s.Unlabeled++
		}
		z.add(r)
		if s.Samples++; s.Samples%surveyStep == 0 && progress != nil {
			progress(s.Samples)
		}
	}
	payload[path] += bytes
	for _, f := range d.Files() {
		n := payload[f.Path]
		s.Bytes += n
		s.Shards = append(s.Shards, shardSize{filepath.Base(f.Path), f.Samples, record.FileSize(f.Samples, n)})
	}
	s.Classes = c.classes()
	z.describe(s)
	if progress != nil {
		progress(s.Samples)
	}
	return s, nil
}
