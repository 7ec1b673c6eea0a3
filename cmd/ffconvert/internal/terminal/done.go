package terminal

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A conversionDone is the closing line of a conversion and of finish.
type conversionDone struct {
	Out     string `json:"out"`
	Samples int64  `json:"samples"`
	Bytes   int64  `json:"bytes"`
	Shards  int    `json:"shards"`
	earlier
	Since   time.Time `json:"complete_since"`
	Already bool      `json:"complete_before"` // it was complete before, and this run changed nothing
	Seconds float64   `json:"seconds"`
	Written int64     `json:"bytes_written"` // bytes of shards that this run wrote
	MBPerS  float64   `json:"mb_per_second"` // Written / 1e6 / Seconds
	proof
	NoSums    bool             `json:"no_sha256,omitempty"` // the manifest has no SHA-256; said of finish alone
	SignedBy  string           `json:"signed_by,omitempty"` // ID of the key
	Unsigned  bool             `json:"signature_removed,omitempty"`
	LeftOut   int64            `json:"samples_left_out"`
	LeftOutBy map[string]int64 `json:"left_out_by,omitempty"` // samples that were not chosen, by option
	filtered
	Unread     int64            `json:"sources_not_read,omitempty"`
	Partly     int64            `json:"sources_read_in_part,omitempty"`
	Skipped    map[string]int64 `json:"skipped,omitempty"`
	Accepted   map[string]int64 `json:"waived,omitempty"`
	FieldsLeft int64            `json:"fields_left_out"`
	NotWhole
	NoEnd string `json:"no_end,omitempty"` // the format of standard input: one without an end mark, of which a cut between two samples is not noticed

	Columns      []converters.ColumnType `json:"columns,omitempty"`       // of a CSV table that this run read
	HeaderFound  bool                    `json:"header_found,omitempty"`  // the first lines were taken for names; no option required it
	HeaderMissed bool                    `json:"header_missed,omitempty"` // the first lines are words and were taken for rows; no option required it
}

// filtered counts the samples that a filter was given, dropped and added.
type filtered struct {
	Read    int64 `json:"filter_samples,omitempty"`
	Dropped int64 `json:"filter_dropped,omitempty"`
	Added   int64 `json:"filter_added,omitempty"` // beyond one for each sample given
}

// String returns the part of the closing line about a filter; "" if there is none.
func (f filtered) String() string {
	if f.Read == 0 {
		return ""
	}
	text := fmt.Sprintf("; the filter was given %s", Counted(f.Read, "sample"))
	if f.Dropped > 0 {
		text += ", dropped " + humanize.Comma(f.Dropped)
	}
	if f.Added > 0 {
		text += ", added " + humanize.Comma(f.Added)
	}
	return text
}

// earlier counts the shards that this run found in the output.
type earlier struct {
	Kept   int      `json:"shards_kept"`           // finished by an earlier run
	Lost   []string `json:"shards_lost,omitempty"` // finished by an earlier run, then damaged or removed, and written again
	Others int      `json:"shards_there"`          // written by another process meanwhile, with the same bytes
}

func newEarlier(r *write.Report) earlier { return earlier{r.Kept, r.Lost, r.Others} }

// A proof describes which shards this run re-read and checked, how, and when the others were checked.
type proof struct {
	Verified   bool       `json:"verified"`              // this run re-read every shard
	Reread     int        `json:"shards_verified"`       // shards that this run re-read
	VerifiedAt *time.Time `json:"verified_at,omitempty"` // when the first of the other shards was verified
	Backend    string     `json:"backend,omitempty"`
	Fallback   string     `json:"fallback,omitempty"`
	From       aio.Origin `json:"verified_from,omitempty"` // of the shards that this run re-read
	Uploaded   int        `json:"shards_uploaded,omitempty"`
	ReadBack   bool       `json:"read_back,omitempty"`       // all bytes of uploaded and of kept shards were read back and compared
	NotRead    int        `json:"shards_not_read,omitempty"` // kept in a bucket, and not read whole
	kept       bool       // there are shards that were kept
}

func newProof(r *write.Report) proof {
	p := proof{Verified: r.Verified, Reread: r.Reread, Backend: r.Backend, Fallback: r.Fallback, From: r.From, Uploaded: r.Uploaded, ReadBack: r.ReadBack, NotRead: r.Unread, kept: r.Kept > 0}
	if !r.VerifiedAt.IsZero() {
		at := r.VerifiedAt.UTC()
		p.VerifiedAt = &at
	}
	return p
}

// doubtful reports whether there are shards that were never re-read.
func (p proof) doubtful() bool { return !p.Verified && p.VerifiedAt == nil }

// String returns the part of the closing line about verification and upload.
func (p proof) String() string {
	text := p.local()
	switch {
	case p.ReadBack && p.kept && p.Uploaded == 0 && p.Reread == 0:
		return "shards that were kept read back"
	case p.ReadBack && p.kept && p.Uploaded > 0:
		text += ", then uploaded and read back, shards that were kept too"
	case p.ReadBack && p.Uploaded > 0:
		text += ", then uploaded and read back"
	case p.Uploaded > 0:
		text += ", then uploaded: the service compared their checksums"
	}
	if p.NotRead > 0 && p.Reread > 0 { // if no shard was re-read, local covers all of them
		text += fmt.Sprintf("; %s not read whole (--bucket verify=read reads them)", Counted(int64(p.NotRead), "kept shard"))
	}
	return text
}

// local returns the part about verification.
func (p proof) local() string {
	switch {
	case p.Reread == 0 && p.VerifiedAt != nil:
		return "not re-read now, verified when written, from " + Moment(*p.VerifiedAt) + " on"
	case p.Reread == 0 && !p.Verified:
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
	switch {
	case p.Verified:
	case p.VerifiedAt != nil:
		fmt.Fprintf(&b, ": %s; the others when written, from %s on", Counted(int64(p.Reread), "shard"), Moment(*p.VerifiedAt))
	default:
		fmt.Fprintf(&b, ": %s; not the others", Counted(int64(p.Reread), "shard"))
	}
	return b.String()
}

// lost names the shards of an earlier run that were written again.
func (e earlier) lost() string {
	switch n := len(e.Lost) - 1; {
	case n < 0:
		return ""
	case n > 0:
		return fmt.Sprintf(", %s and %s more damaged or missing since and written anew", e.Lost[0], Counted(int64(n), "shard"))
	}
	return fmt.Sprintf(", %s damaged or missing since and written anew", e.Lost[0])
}

func ConversionDone(out string, r *write.Report) conversionDone {
	t := &r.Manifest.Totals
	return conversionDone{
		Out:     out,
		Samples: t.SamplesWritten, Bytes: t.Bytes, Shards: t.Shards, earlier: newEarlier(r),
		Since: r.Manifest.Created, Already: r.Already, Unsigned: r.Unsigned,
		Seconds: r.Seconds, Written: r.Written, MBPerS: float64(r.Written) / 1e6 / max(r.Seconds, 1e-9), // JSON has no infinity
		proof:    newProof(r),
		filtered: filtered{t.FilterRead, t.FilterDropped, t.FilterAdded},
		LeftOut:  t.SamplesLeftOut, LeftOutBy: t.LeftOutBy, Unread: t.SourcesUnread, Partly: t.SourcesPartly, Skipped: t.Skipped, Accepted: t.Accepted, FieldsLeft: t.FieldsLeftOut,
		NotWhole: NewNotWhole(r.Manifest),
	}
}

const unsigned = "; its signature was of the manifest before, and is removed: ffconvert sign makes one"

// columnsText lists the columns of a table with their types, at most eight.
func columnsText(columns []converters.ColumnType) string {
	const most = 8
	var each []string
	alike := true
	for i, c := range columns {
		if alike = alike && c.DType == columns[0].DType; i < most {
			each = append(each, text.Name(c.Name)+" "+c.DType)
		}
	}
	number := Counted(int64(len(columns)), "column")
	switch {
	case len(columns) <= most:
		return number + ": " + strings.Join(each, ", ")
	case alike:
		return number + " of " + columns[0].DType
	}
	return number + ": " + strings.Join(each, ", ") + ", …"
}

func (s conversionDone) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s in %s", text.Name(s.Out), Counted(s.Samples, "sample"), humanize.Bytes(uint64(s.Bytes)), Counted(int64(s.Shards), "shard"))
	switch {
	case s.Kept == s.Shards && s.Already:
		fmt.Fprintf(&b, ", complete since %s", Moment(s.Since))
	case s.Kept == s.Shards:
		b.WriteString(", complete now")
	case s.Kept > 0:
		fmt.Fprintf(&b, " (%d finished before), %.1f s", s.Kept, s.Seconds)
	default:
		fmt.Fprintf(&b, ", %.1f s", s.Seconds)
		if s.Written > 0 {
			b.WriteString(", " + RateText(1e6*s.MBPerS))
		}
	}
	b.WriteString(s.lost())
	switch {
	case s.Kept < s.Shards || s.Reread > 0 || s.ReadBack:
		fmt.Fprintf(&b, ", %v", s.proof)
	case s.Already && s.VerifiedAt != nil:
		fmt.Fprintf(&b, ", not re-read now: ffconvert verify %s", text.ShellWord(s.Out))
	default:
		fmt.Fprintf(&b, ", %v: ffconvert verify %s", s.proof, text.ShellWord(s.Out))
	}
	if s.NoSums {
		b.WriteString("; no SHA-256 (--sha256 adds them)")
	}
	if s.SignedBy != "" {
		b.WriteString("; signed by the key " + s.SignedBy)
	}
	if s.Unsigned {
		b.WriteString(unsigned)
	}
	if len(s.Columns) > 0 {
		b.WriteString("; " + columnsText(s.Columns))
		if s.HeaderFound {
			b.WriteString(" (the first line names them)")
		} else if s.HeaderMissed {
			b.WriteString(" (the first line is a row)")
		}
	}
	b.WriteString(s.filtered.String())
	for _, text := range leftOut(s.LeftOut, s.LeftOutBy, s.Unread, s.Partly) {
		b.WriteString("; " + text)
	}
	if s.FieldsLeft > 0 && len(s.LeftOutBy) == 0 {
		fmt.Fprintf(&b, "; %s not selected", Counted(s.FieldsLeft, "field"))
	}
	if s.NotWhole.Fields > 0 {
		fmt.Fprintf(&b, "; %s not whole: %s", Counted(s.NotWhole.Fields, "field"), s.NotWhole.Text())
	}
	if s.NoEnd != "" {
		fmt.Fprintf(&b, "; nothing in %s says that - is complete", s.NoEnd)
	}
	if len(s.Skipped) > 0 {
		fmt.Fprintf(&b, "; skipped %s", SkippedText(s.Skipped))
	}
	if len(s.Accepted) > 0 {
		fmt.Fprintf(&b, "; accepted %s", SkippedText(s.Accepted))
	}
	return b.String()
}

// leftOut describes the samples and sources that were left out.
func leftOut(samples int64, by map[string]int64, unread, partly int64) (all []string) {
	for _, n := range by {
		samples -= n
	}
	if len(by) > 0 {
		all = append(all, "left out "+LeftOutText(by))
	}
	if samples > 0 {
		all = append(all, fmt.Sprintf("left out %s without a field", Counted(samples, "sample")))
	}
	if unread > 0 {
		all = append(all, Counted(unread, "source")+" not read, as no more was wanted")
	}
	if partly > 0 {
		all = append(all, Counted(partly, "source")+" read up to the last sample that was wanted")
	}
	return all
}

// LeftOutText formats counts of samples that were not chosen, by option: "12 samples (--limit: 10, --where: 2)".
func LeftOutText(by map[string]int64) string {
	var each []string
	sum := int64(0)
	for _, name := range slices.Sorted(maps.Keys(by)) {
		each = append(each, option.Flag(name)+": "+humanize.Comma(by[name]))
		sum += by[name]
	}
	return fmt.Sprintf("%s (%s)", Counted(sum, "sample"), strings.Join(each, ", "))
}

// SkippedText formats counts by reason: "12 entries (directory: 10, symbolic link: 2)".
func SkippedText(skipped map[string]int64) string {
	var each []string
	sum := int64(0)
	for _, reason := range slices.Sorted(maps.Keys(skipped)) {
		each = append(each, reason+": "+humanize.Comma(skipped[reason]))
		sum += skipped[reason]
	}
	return fmt.Sprintf("%s (%s)", Counted(sum, "entry"), strings.Join(each, ", "))
}
