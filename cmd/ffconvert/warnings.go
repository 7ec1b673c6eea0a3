package main

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A warningEvent tells programs of something that may not be meant.
type warningEvent struct {
	Message string `json:"message"` // with the place and the hint, as for people
	Name    string `json:"name"`
	Offset  int64  `json:"offset"`
}

// warn tells, a line each, what the source has seen that may not be meant, and was not told of yet.
func (c *conversion) warn(r *reporter) {
	from, ok := c.src.(converters.Doubter)
	if !ok {
		return
	}
	for _, d := range from.Doubts() {
		if c.told[d] {
			continue
		}
		if c.told == nil {
			c.told = make(map[converters.Doubt]bool)
		}
		c.told[d] = true
		message := fmt.Sprintf("%s: offset %d: %q: %s", d.Part, d.Off, d.Entry, d.Text)
		if d.Hint != "" {
			message += " (" + d.Hint + ")"
		}
		switch r.mode {
		case "none":
		case "json":
			writeEvent(r.out, "warning", warningEvent{message, d.Part, d.Off})
		default:
			r.print(r.paint.head("warning: "+text.Line(message), r.paint.warn))
		}
	}
}
