package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/shard"
)

// A summary is the closing line of a conversion.
type summary struct {
	Done    bool    `json:"done"`
	Out     string  `json:"out"`
	Samples int64   `json:"samples"`
	Bytes   int64   `json:"bytes"`
	Shards  int     `json:"shards"`
	Kept    int     `json:"shards_kept"` // of a run before
	Seconds float64 `json:"seconds"`
	MBPerS  float64 `json:"mb_per_second"`
	proof
	LeftOut    int64            `json:"samples_left_out"`
	Skipped    map[string]int64 `json:"skipped,omitempty"`
	Waived     map[string]int64 `json:"waived,omitempty"`
	FieldsLeft int64            `json:"fields_left_out"`

	state string // where this run has written no shard; "": as it was before
}

// A proof says how shards were verified.
type proof struct {
	Verified bool       `json:"verified"`
	Backend  string     `json:"backend,omitempty"`
	Fallback string     `json:"fallback,omitempty"`
	From     aio.Origin `json:"verified_from,omitempty"`
}

func newProof(r *shard.Report) proof { return proof{r.Verified, r.Backend, r.Fallback, r.From} }

func (p proof) String() string {
	if !p.Verified {
		return "not verified"
	}
	var b strings.Builder
	b.WriteString("verified")
	if p.Backend != "" {
		fmt.Fprintf(&b, " by %s", p.Backend)
	}
	if p.Backend != "" && p.From != "" {
		fmt.Fprintf(&b, " %v", p.From)
	}
	if p.Fallback != "" {
		fmt.Fprintf(&b, " (%s)", p.Fallback)
	}
	return b.String()
}

func newSummary(out string, r *shard.Report) summary {
	t := &r.Manifest.Totals
	return summary{
		Done: true, Out: out,
		Samples: t.SamplesWritten, Bytes: t.Bytes, Shards: t.Shards, Kept: r.Kept,
		Seconds: r.Seconds, MBPerS: float64(t.Bytes) / 1e6 / max(r.Seconds, 1e-9), // JSON has no infinity
		proof:   newProof(r),
		LeftOut: t.SamplesLeftOut, Skipped: t.Skipped, Waived: t.Waived, FieldsLeft: t.FieldsLeftOut,
	}
}

func (s summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s in %s", s.Out, counted(s.Samples, "sample"), humanize.Bytes(uint64(s.Bytes)), counted(int64(s.Shards), "shard"))
	switch {
	case s.Kept == s.Shards:
		fmt.Fprintf(&b, ", %s", cmp.Or(s.state, "complete already"))
	case s.Kept > 0:
		fmt.Fprintf(&b, " (%d finished before), %.1f s", s.Kept, s.Seconds)
	default:
		fmt.Fprintf(&b, ", %.1f s, %.0f MB/s", s.Seconds, s.MBPerS)
	}
	fmt.Fprintf(&b, ", %v", s.proof)
	if s.LeftOut > 0 {
		fmt.Fprintf(&b, "; left out %s without a field", counted(s.LeftOut, "sample"))
	}
	if s.FieldsLeft > 0 {
		fmt.Fprintf(&b, "; %s not selected", counted(s.FieldsLeft, "field"))
	}
	if len(s.Skipped) > 0 {
		fmt.Fprintf(&b, "; skipped %s", skippedText(s.Skipped))
	}
	if len(s.Waived) > 0 {
		fmt.Fprintf(&b, "; accepted %s", skippedText(s.Waived))
	}
	return b.String()
}
