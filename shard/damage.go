package shard

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/text"
)

// damage counts the fields that are not whole, and describes the first of them in the order of the shard.
type damage struct {
	notWhole int64
	first    []described // at most as many as a manifest has
}

// A described field is one that is not whole, in words.
type described struct {
	segment int // of the shard
	text    string
}

// mostKey bounds the key in a description, which may be long, characters.
const mostKey = 300

// mostFirst is how many fields a manifest describes, a shard.
const mostFirst = len(dataset.NotWholeNames{})

// found enters fields of a sample, which is read from a segment of the shard. Segments come in order.
func (d *damage) found(segment int, key string, off int64, fields []encode.Damage) {
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

// add enters what another reader of the shard has found in other segments.
func (d *damage) add(o damage) {
	d.notWhole += o.notWhole
	d.first = append(d.first, o.first...)
	slices.SortStableFunc(d.first, func(a, b described) int { return cmp.Compare(a.segment, b.segment) })
	d.first = d.first[:min(len(d.first), mostFirst)]
}

// names returns the descriptions.
func (d *damage) names() (names dataset.NotWholeNames) {
	for i, f := range d.first {
		names[i] = f.text
	}
	return names
}
