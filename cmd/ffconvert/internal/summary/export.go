package summary

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/export"
	"github.com/ffconvert/ffconvert/internal/text"
)

// An Export is the closing line of export tar and export folder.
type Export struct {
	Done bool `json:"done"`
	*export.Report
}

// NewExport returns the closing line of an export.
func NewExport(done *export.Report) Export { return Export{true, done} }

func (s Export) String() string {
	var b strings.Builder
	unit := "tar"
	if s.Format != unit {
		unit = "file"
	}
	fmt.Fprintf(&b, "%s: %s, %s in %s", text.Name(s.Path), terminal.Counted(s.Totals.Samples, "sample"), humanize.Bytes(uint64(s.Totals.Bytes)), terminal.Counted(s.Totals.Files, unit))
	if s.Totals.LeftOut > 0 {
		fmt.Fprintf(&b, ", %s left out", terminal.Counted(s.Totals.LeftOut, "sample"))
	}
	switch {
	case s.Written == 0 && s.Backend == "":
		fmt.Fprintf(&b, ", complete since %s, not re-read now", terminal.Moment(s.Created))
	case s.Written == 0:
		b.WriteString(", all of them written by an earlier run")
	case int64(s.Written) < s.Totals.Files:
		fmt.Fprintf(&b, ", %d of them by this run", s.Written)
	}
	if s.Verified && s.Backend != "" {
		b.WriteString(", verified by " + s.Backend)
		if s.VerifiedFrom != "" {
			b.WriteString(" " + s.VerifiedFrom.String())
		}
	}
	if s.Again != "" {
		fmt.Fprintf(&b, "; the same shards again: %s", s.Again)
	}
	return b.String()
}
