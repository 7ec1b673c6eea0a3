package terminal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/text"
)

// With --progress json, standard error is a JSON object a line: the event, the time, and the members
// of one of these types, or a single one. docs/output.md lists them.
type (
	shardEvent struct {
		Name    string  `json:"name"`
		Samples int64   `json:"samples"`
		Bytes   int64   `json:"bytes"`
		Seconds float64 `json:"seconds"`
		First   bool    `json:"first"` // no other process had written the shard before
	}
	// A warningEvent reports a part of the input that is accepted but is probably a mistake.
	warningEvent struct {
		Message string `json:"message"` // with the place and the hint
		Name    string `json:"name"`
		Offset  int64  `json:"offset"`
	}
	errorEvent struct {
		Status  int    `json:"status"` // exit status of the process
		Message string `json:"message"`
	}
	signalEvent struct {
		Signal string  `json:"signal"`
		Grace  float64 `json:"grace_seconds"` // 0: the run stops now
	}
)

// eventTime is RFC 3339 with milliseconds.
const eventTime = "2006-01-02T15:04:05.000Z07:00"

// WriteEvent writes a line with the event, the time, and the members of body, which must have at
// least one. It is one Write: lines of several goroutines do not mix in an [os.File].
func WriteEvent(w io.Writer, event string, body any) {
	line, err := json.Marshal(struct {
		Event string `json:"event"`
		Time  string `json:"time"`
		Done  bool   `json:"done,omitempty"` // of the last event of a run
	}{event, time.Now().UTC().Format(eventTime), event == "done"})
	rest, err2 := json.Marshal(body)
	if err := errors.Join(err, err2); err != nil {
		panic(err) // NaN or an infinity in body
	}
	line = append(append(line[:len(line)-1], ','), rest[1:]...)
	w.Write(append(EscapeJSON(line), '\n'))
}

// Warn prints a warning on one line.
func (r *Reporter) Warn(d converters.Doubt) {
	message := d.Part + ": " + d.Text
	if d.Off >= 0 {
		message = fmt.Sprintf("%s: offset %d: %q: %s", d.Part, d.Off, d.Entry, d.Text)
	}
	if d.Hint != "" {
		message += " (" + Flags(d.Hint) + ")"
	}
	r.emit("warning", warningEvent{message, d.Part, d.Off}, r.paint.Head("warning: "+text.Line(message), r.paint.warn))
}

// Listed prints a line about the names that a pattern or a prefix expanded to. name is the pattern.
func (r *Reporter) Listed(name, what string) {
	r.emit("listed", map[string]string{"message": name + ": " + what}, text.Line(name+": "+what))
}

// Note prints a line about the cache.
func (r *Reporter) Note(line string) {
	r.emit("cache", map[string]string{"message": line}, text.Line(line))
}

// emit writes an event, or prints a line.
func (r *Reporter) emit(event string, body any, line string) {
	switch r.mode {
	case "none":
	case "json":
		WriteEvent(r.out, event, body)
	default:
		r.print(line)
	}
}
