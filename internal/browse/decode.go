package browse

import (
	"context"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset/lookup"
)

// Sizes of records in bytes.
const (
	largestRecord = 64 << 20 // maximum that is decoded to compare its fields
	smallRecord   = 1 << 20  // maximum that searches decode without waiting for each other
)

// A reader decodes the records of samples for one search.
type reader struct {
	d       *lookup.Dataset
	records *lookup.Records
	large   chan struct{} // of the searcher: has an element while a search decodes large records
	holds   bool          // whether this search is the one in large
}

func (s *searcher) reader() *reader {
	d := s.d.Fork()
	return &reader{d: d, records: d.Records(), large: s.large}
}

func (x *reader) close() {
	x.records.Close()
	if x.holds {
		<-x.large
	}
}

// decode reads and decodes the record of a row. The sample is valid until the next call.
func (x *reader) decode(ctx context.Context, r *lookup.Row) (*converters.Sample, error) {
	if r.At.Size > largestRecord {
		return nil, fmt.Errorf("sample %d: its record has %d bytes; records of more than %d are not decoded", r.Number, r.At.Size, largestRecord)
	}
	if r.At.Size > smallRecord && !x.holds { // held until close: the reader keeps the memory
		select {
		case x.large <- struct{}{}:
			x.holds = true
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	data, err := x.records.Read(ctx, r)
	if err != nil {
		return nil, err
	}
	return x.d.Decode(r, data)
}
