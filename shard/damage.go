package shard

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/text"
)

// damage counts fields that are not whole, and describes the first ones in the order of the shard.
type damage struct {
	notWhole int64
	first    []described // at most mostFirst
}

// A described is the description of a field that is not whole.
type described struct {
	segment int // number of the segment in the shard
	text    string
}

// mostKey is the largest number of characters of a key in a description.
const mostKey = 300

// mostFirst is the largest number of fields that a manifest describes for each shard.
const mostFirst = 3

// addFields adds damaged fields of a sample that was read from a segment. Calls come in the order of segments.
func (d *damage) addFields(segment int, key string, off int64, fields []encode.Damage) {
	d.notWhole += int64(len(fields))
	for _, f := range fields {
		if len(d.first) == mostFirst {
			return
		}
		sample := fmt.Sprintf("the sample at offset %d", off)
		if key != "" {
			sample = text.Name(key)
		}
		d.first = append(d.first, described{segment, fmt.Sprintf("%.*s: field %.100q: %s", mostKey, sample, f.Field, f.Why)})
	}
}

// add adds the damage that another reader of the shard found in other segments.
func (d *damage) add(o damage) {
	d.notWhole += o.notWhole
	d.first = append(d.first, o.first...)
	slices.SortStableFunc(d.first, func(a, b described) int { return cmp.Compare(a.segment, b.segment) })
	d.first = d.first[:min(len(d.first), mostFirst)]
}

func (d *damage) names() (names [mostFirst]string) {
	for i, f := range d.first {
		names[i] = f.text
	}
	return names
}
