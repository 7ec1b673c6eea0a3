package main

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/shard"
)

// A taskSummary is the closing line of a task.
type taskSummary struct {
	Done    bool     `json:"done"`
	Out     string   `json:"out"`
	Task    string   `json:"task"`
	Shards  int      `json:"shards"`
	Kept    int      `json:"shards_kept"`           // of a run before
	Lost    []string `json:"shards_lost,omitempty"` // of a run before, damaged or missing since, written anew
	Others  int      `json:"shards_there"`          // had their names already, from another process or run, and are equal
	Samples int64    `json:"samples"`
	Bytes   int64    `json:"bytes"`
	Written int64    `json:"bytes_written"` // by this run
	Seconds float64  `json:"seconds"`
	proof
}

func newTaskSummary(dir string, r *shard.Report) taskSummary {
	return taskSummary{
		Done: true, Out: dir, Task: r.Task.String(), Shards: r.Shards, Kept: r.Kept, Lost: r.Lost, Others: r.Others,
		Samples: r.Samples, Bytes: r.Bytes, Written: r.Written, Seconds: r.Seconds, proof: newProof(r),
	}
}

func (s taskSummary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: task %s: ", text.Name(s.Out), s.Task)
	if s.Shards == 0 {
		b.WriteString("no shards in this slice")
		return b.String()
	}
	fmt.Fprintf(&b, "%s, %s, %s", counted(int64(s.Shards), "shard"), counted(s.Samples, "sample"), humanize.Bytes(uint64(s.Bytes)))
	if s.Kept > 0 {
		fmt.Fprintf(&b, ", %d of them kept", s.Kept)
	}
	fmt.Fprintf(&b, ", %.1f s%s", s.Seconds, lostText(s.Lost))
	if s.Others > 0 {
		fmt.Fprintf(&b, ", %d there already and equal", s.Others)
	}
	fmt.Fprintf(&b, ", %v", s.proof)
	return b.String()
}
