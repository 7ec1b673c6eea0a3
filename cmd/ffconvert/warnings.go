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

// warn tells of something that may not be meant, on one line.
func (r *reporter) warn(d converters.Doubt) {
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
