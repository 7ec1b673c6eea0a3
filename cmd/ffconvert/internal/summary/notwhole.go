package summary

import (
	"strings"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/dataset"
)

// A NotWhole counts pictures, sounds and films that are empty or cut.
type NotWhole struct {
	Fields int64    `json:"fields_not_whole,omitempty"`
	First  []string `json:"first_not_whole,omitempty"` // of them, described
}

// mostFirst is how many fields that are not whole are described.
const mostFirst = 3

// newNotWhole returns the counts of a manifest.
func newNotWhole(m *dataset.Manifest) NotWhole {
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

// text returns the count and the first fields: "3 fields: b: field "jpg": empty; …".
func (n NotWhole) text() string { return terminal.Counted(n.Fields, "field") + ": " + n.names() }

func (n NotWhole) names() string {
	text := strings.Join(n.First, "; ")
	if n.Fields > int64(len(n.First)) {
		text += "; …"
	}
	return text
}
