package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/text"
)

// With --progress json a program reads standard error: an object a line, each with its
// event, its time, and what follows. docs/output.md lists them.
type (
	begunEvent struct {
		Name string `json:"name"`
	}
	shardEvent struct {
		Name    string  `json:"name"`
		Samples int64   `json:"samples"`
		Bytes   int64   `json:"bytes"`
		Seconds float64 `json:"seconds"`
		First   bool    `json:"first"`
	}
	signalEvent struct {
		Signal string  `json:"signal"`
		Grace  float64 `json:"grace_seconds"` // 0: the run stops
	}
	waitingEvent struct {
		For string `json:"for"`
	}
	errorEvent struct {
		Status  int    `json:"status"` // of the process
		Message string `json:"message"`
	}
)

// eventTime is RFC 3339 with milliseconds.
const eventTime = "2006-01-02T15:04:05.000Z07:00"

// writeEvent writes a line: the event, the time, and the members of body, an object that has
// some. It is one Write, and an [os.File] lets no other in between.
func writeEvent(w io.Writer, event string, body any) {
	line, err := json.Marshal(struct {
		Event string `json:"event"`
		Time  string `json:"time"`
	}{event, time.Now().UTC().Format(eventTime)})
	rest, err2 := json.Marshal(body)
	if err := errors.Join(err, err2); err != nil {
		panic(err) // a number that JSON does not have
	}
	line = append(append(line[:len(line)-1], ','), rest[1:]...)
	jsonWriter{w}.Write(append(line, '\n'))
}

// progressMode is what a command that has --progress was told, auto resolved; "" for others.
func progressMode(cmd *cobra.Command) string {
	if flag := cmd.Flags().Lookup("progress"); flag != nil {
		return shownAs(flag.Value.String(), os.Stderr)
	}
	return ""
}

// signalTeller returns what tells of signals; nil where nobody is told.
func signalTeller(mode string, out io.Writer) func(syscall.Signal, time.Duration) {
	switch mode {
	case "json":
		return func(sig syscall.Signal, grace time.Duration) {
			writeEvent(out, "signal", signalEvent{stopSignals[sig], grace.Seconds()})
		}
	case "plain":
		return func(sig syscall.Signal, grace time.Duration) {
			if grace > 0 {
				fmt.Fprintf(out, "%v: no more shards are begun; those under way have %v\n", sig, grace)
			}
		}
	}
	return nil
}

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
