package terminal

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A planDone is the closing line of plan.
type planDone struct {
	Out     string `json:"out"`
	Shards  int    `json:"shards"`
	Parts   int    `json:"parts"`
	Stored  int64  `json:"part_bytes"`
	Whole   bool   `json:"whole_parts,omitempty"`
	Samples int64  `json:"samples,omitempty"` // 0, as Bytes, for a part-aligned plan, before its parts are read
	Bytes   int64  `json:"bytes,omitempty"`
	Digest  string `json:"plan_sha256"`
	Same    bool   `json:"same"`     // the plan was there already
	Ready   bool   `json:"complete"` // the dataset is complete
	filtered
	LeftOut   int64            `json:"samples_left_out,omitempty"`
	LeftOutBy map[string]int64 `json:"left_out_by,omitempty"` // samples that were not chosen, by option
	Unread    int64            `json:"sources_not_read,omitempty"`
	Partly    int64            `json:"sources_read_in_part,omitempty"`
	Indexed   int              `json:"parts_indexed_before"`       // by plan --task
	Unused    []string         `json:"indexes_not_used,omitempty"` // by plan --task, with the reasons
}

func PlanDone(out string, done *convert.Planned) *planDone {
	p := done.Plan
	s := &planDone{
		Out: out, Shards: len(p.Shards), Parts: len(p.Parts), Stored: partBytes(p), Whole: p.Whole, Digest: done.Digest,
		Same: done.Same, Ready: done.Ready, Indexed: done.Indexed,
	}
	if !p.Whole {
		s.Samples, s.Bytes = p.Totals()
		a := p.Account()
		s.filtered = filtered{a.FilterRead, a.FilterDropped, a.FilterAdded}
		s.LeftOut, s.LeftOutBy, s.Unread, s.Partly = a.SamplesLeftOut, a.LeftOutBy, a.Unread, a.Partly
	}
	for _, err := range done.Unused {
		s.Unused = append(s.Unused, err.Error())
	}
	return s
}

func (s *planDone) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: plan of %s from %s of sources in %s", text.Name(s.Out), Counted(int64(s.Shards), "shard"), humanize.Bytes(uint64(s.Stored)), Counted(int64(s.Parts), "part"))
	if !s.Whole {
		fmt.Fprintf(&b, ", %s", Counted(s.Samples, "sample"))
	}
	fmt.Fprintf(&b, " (digest %.12s…)", s.Digest)
	if s.Same {
		b.WriteString(", there already")
	}
	if s.Ready {
		b.WriteString(", and the dataset is complete")
	}
	b.WriteString(s.filtered.String())
	for _, text := range leftOut(s.LeftOut, s.LeftOutBy, s.Unread, s.Partly) {
		b.WriteString("; " + text)
	}
	if s.Indexed > 0 {
		fmt.Fprintf(&b, "; %s indexed by tasks", Counted(int64(s.Indexed), "part"))
	}
	if len(s.Unused) > 0 {
		fmt.Fprintf(&b, "; indexed anew in place of %s", s.Unused[0])
		if n := len(s.Unused) - 1; n > 0 {
			fmt.Fprintf(&b, ", and of %s more", Counted(int64(n), "file"))
		}
	}
	if !s.Ready {
		fmt.Fprintf(&b, "; write it with: ffconvert run %s --task K/N, for each K from 0 to N-1", text.ShellWord(s.Out))
	}
	return b.String()
}

// A sliceDone is the closing line of plan --task.
type sliceDone struct {
	Out     string `json:"out"`
	Task    string `json:"task"`
	Parts   int    `json:"parts"`                // indexed by this task
	Before  int    `json:"parts_indexed_before"` // of Parts, by an earlier run of the task
	Of      int    `json:"parts_of_all,omitempty"`
	Samples int64  `json:"samples"`
	Bytes   int64  `json:"part_bytes"`
	Why     string `json:"nothing_to_index,omitempty"`
}

func SliceDone(out string, t plan.Task, done *convert.SliceIndex) *sliceDone {
	return &sliceDone{
		Out: out, Task: t.String(), Parts: done.Parts, Before: done.Before, Of: done.Of,
		Samples: done.Samples, Bytes: done.Bytes, Why: done.Why,
	}
}

func (s *sliceDone) String() string {
	if s.Why != "" {
		return fmt.Sprintf("%s: task %s: nothing to index: %s", text.Name(s.Out), s.Task, s.Why)
	}
	before := ""
	if s.Before > 0 {
		before = fmt.Sprintf(" (%d before)", s.Before)
	}
	return fmt.Sprintf("%s: task %s: indexed %s of %s%s, %s, %s; the same command without --task plans, once all tasks are done",
		text.Name(s.Out), s.Task, Counted(int64(s.Parts), "part"), humanize.Comma(int64(s.Of)), before, humanize.Bytes(uint64(s.Bytes)), Counted(s.Samples, "sample"))
}

// A taskDone is the closing line of run.
type taskDone struct {
	Out    string `json:"out"`
	Task   string `json:"task"`
	Shards int    `json:"shards"`
	earlier
	Samples int64   `json:"samples"`
	Bytes   int64   `json:"bytes"`
	Written int64   `json:"bytes_written"` // by this run
	Seconds float64 `json:"seconds"`
	proof
}

func TaskDone(dir string, r *write.Report) taskDone {
	return taskDone{
		Out: dir, Task: r.Task.String(), Shards: r.Shards, earlier: newEarlier(r),
		Samples: r.Samples, Bytes: r.Bytes, Written: r.Written, Seconds: r.Seconds, proof: newProof(r),
	}
}

func (s taskDone) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: task %s: ", text.Name(s.Out), s.Task)
	if s.Shards == 0 {
		b.WriteString("no shards in this slice")
		return b.String()
	}
	fmt.Fprintf(&b, "%s, %s, %s", Counted(int64(s.Shards), "shard"), Counted(s.Samples, "sample"), humanize.Bytes(uint64(s.Bytes)))
	if s.Kept > 0 {
		fmt.Fprintf(&b, ", %d of them kept", s.Kept)
	}
	fmt.Fprintf(&b, ", %.1f s%s", s.Seconds, s.lost())
	if s.Others > 0 {
		fmt.Fprintf(&b, ", %d there already and equal", s.Others)
	}
	fmt.Fprintf(&b, ", %v", s.proof)
	return b.String()
}
