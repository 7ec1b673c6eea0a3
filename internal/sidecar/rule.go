package sidecar

import (
	"encoding/json"
	"fmt"
	"math"
	"sort"
)

// ruleKey is the key of the rule in the metadata of the schema: docs/reading.md.
const ruleKey = "ffconvert"

// A run is a sequence of consecutive samples of one source. Its members: the first row in the index, the row of "sources"
// in the manifest, the number of the first sample in the source, and its offset there in bytes.
type run [4]int64

// ruleOf returns the runs of the rule of an index, nil if the text is empty.
func ruleOf(text string) ([]run, error) {
	if text == "" {
		return nil, nil
	}
	var rule struct {
		Runs []run `json:"runs"`
	}
	if err := json.Unmarshal([]byte(text), &rule); err != nil {
		return nil, fmt.Errorf("%w: its rule: %w", ErrMalformed, err)
	}
	for i, r := range rule.Runs {
		if i == 0 && r[0] != 0 || i > 0 && r[0] <= rule.Runs[i-1][0] || r[1] < 0 || r[1] > math.MaxInt32 {
			return nil, fmt.Errorf("%w: run %d of its rule is %d", ErrMalformed, i, r)
		}
	}
	if len(rule.Runs) == 0 {
		return nil, nil
	}
	return rule.Runs, nil
}

// applyRule sets Row.Source, and for the first row of a run Row.SourceOff, of row n by the rule.
func (c *chunk) applyRule(n int64) {
	runs := c.layout.rule
	if next := c.run + 1; n < runs[c.run][0] || next < len(runs) && n >= runs[next][0] {
		c.run = sort.Search(len(runs), func(i int) bool { return runs[i][0] > n }) - 1
	}
	r := &runs[c.run]
	c.row.Source = int32(r[1])
	if n == r[0] && c.offsets {
		c.row.SourceOff = r[3]
	}
}
