package terminal

import (
	"strings"

	"github.com/ffconvert/ffconvert/dataset"
)

// A NotWhole counts pictures, sounds and films that are empty or cut.
type NotWhole struct {
	Fields int64    `json:"fields_not_whole,omitempty"`
	First  []string `json:"first_not_whole,omitempty"` // of them, described
}

// mostFirst is how many fields that are not whole are described.
const mostFirst = 3

// NewNotWhole returns the counts of a manifest.
func NewNotWhole(m *dataset.Manifest) NotWhole {
	n := NotWhole{Fields: m.Totals.NotWhole}
	for i := range m.Shards {
		n.First = append(n.First, m.Shards[i].FirstNot.List()...)
		if len(n.First) >= mostFirst {
			n.First = n.First[:mostFirst]
			break
		}
	}
	return n
}

// Text describes the first fields: "b: field "jpg": empty; …".
func (n NotWhole) Text() string {
	text := strings.Join(n.First, "; ")
	if n.Fields > int64(len(n.First)) {
		text += "; …"
	}
	return text
}
