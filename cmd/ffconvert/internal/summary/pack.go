package summary

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/packed"
)

// A Folder is the closing line of pack and unpack.
type Folder struct {
	Done bool   `json:"done"`
	Out  string `json:"out"`
	packed.Totals
	Backend string     `json:"backend,omitempty"` // that verified it
	From    aio.Origin `json:"verified_from,omitempty"`
}

func (s Folder) String() string {
	text := fmt.Sprintf("%s: %s, %s", text.Name(s.Out), terminal.Counted(s.Files, "file"), humanize.Bytes(uint64(s.Bytes)))
	if s.Files > 0 || s.Backend != "" {
		text += ", verified"
	}
	if s.Backend != "" {
		text += " by " + s.Backend
	}
	if s.From != "" {
		text += " " + s.From.String()
	}
	return text
}

// A repair is the closing line of repair.
type repair struct {
	Done       bool     `json:"done"`
	Out        string   `json:"out"`
	Rewritten  []string `json:"shards_rewritten"`  // damaged or missing before
	Unfinished int      `json:"shards_unfinished"` // written for the first time
	Beside     []string `json:"files_rewritten"`   // meta.json, manifest.json, the journal
	Conversion
}

func NewRepair(dir string, done *convert.Repaired) *repair {
	return &repair{
		Done: true, Out: dir, Rewritten: append([]string{}, done.Rewritten...), Unfinished: done.Unfinished, Beside: append([]string{}, done.Beside...),
		Conversion: NewConversion(dir, done.Report),
	}
}

func (s *repair) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", text.Name(s.Out))
	var did []string
	if n := len(s.Rewritten); n > 0 {
		did = append(did, fmt.Sprintf("wrote %s anew", terminal.Counted(int64(n), "shard")))
	}
	if s.Unfinished > 0 {
		did = append(did, "finished "+terminal.Counted(int64(s.Unfinished), "shard"))
	}
	if len(s.Beside) > 0 {
		did = append(did, "wrote "+strings.Join(s.Beside, " and "))
	}
	if len(did) == 0 {
		b.WriteString("nothing to write anew")
	} else {
		fmt.Fprintf(&b, "%s in %.1f s", strings.Join(did, ", "), s.Seconds)
	}
	fmt.Fprintf(&b, "; sound: %s, %s in %s, %v", terminal.Counted(s.Samples, "sample"), humanize.Bytes(uint64(s.Bytes)), terminal.Counted(int64(s.Shards), "shard"), s.proof)
	return b.String()
}
