package shard

import (
	"encoding/json"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A rule replaces the columns of places in the index of a shard whose records have equal lengths. Sample i has
// Length bytes at Offset + i·Length, and its CRC is checksum i of the shard's header. The rule is JSON in
// the metadata of the Arrow schema, under ruleKey.
type rule struct {
	Version int   `json:"index"` // ruleVersion
	Samples int64 `json:"samples"`
	Offset  int64 `json:"offset"` // of sample 0 in the shard, bytes
	Length  int64 `json:"length"` // of each sample, bytes

	// Runs are consecutive samples of one source, which end where the next run begins: the number of the first sample in
	// the shard, the row of the source in "sources" of the manifest, the number of that sample in the source, and the byte
	// offset where it starts there.
	Runs [][4]int64 `json:"runs"`
}

const (
	ruleKey     = "ffconvert"
	ruleVersion = 2 // indexes of version 1 have a row for every sample, and no metadata
)

// newRule returns the rule of a shard of equal records. first is the row in "sources" of its part 0.
func newRule(s *plan.Shard, first int) *rule {
	r := &rule{Version: ruleVersion, Samples: s.Samples, Offset: record.FileSize(s.Samples, 0), Length: s.RecordSize()}
	sample := int64(0)
	for _, run := range s.Runs {
		r.Runs = append(r.Runs, [4]int64{sample, int64(first + run.Part), run.First, run.Off})
		sample += run.Count
	}
	return r
}

func (r *rule) metadata() (*arrow.Metadata, error) {
	text, err := json.Marshal(r)
	about := arrow.NewMetadata([]string{ruleKey}, []string{string(text)})
	return &about, err
}

// checkSizes returns an error if a record has another size than the rule states, because the source changed
// after it was indexed.
func (p *pipeline) checkSizes(b *batch) error {
	want := p.index.rule.Length
	for i := range b.at {
		if row := &b.rows[i]; b.at[i].Size != want {
			err := fmt.Errorf("%w: its record has %d bytes, %d were indexed for it", converters.ErrChanged, b.at[i].Size, want)
			return p.plan.ErrorAt(int(row.part), row.off, "", err)
		}
	}
	return nil
}
