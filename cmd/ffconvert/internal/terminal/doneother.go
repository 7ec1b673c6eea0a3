package terminal

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/export"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/packed"
)

// A FolderDone is the closing line of pack and unpack.
type FolderDone struct {
	Out string `json:"out"`
	packed.Totals
	Backend string     `json:"backend,omitempty"` // that read it again
	From    aio.Origin `json:"verified_from,omitempty"`
}

func (s FolderDone) String() string {
	text := fmt.Sprintf("%s: %s, %s", text.Name(s.Out), Counted(s.Files, "file"), humanize.Bytes(uint64(s.Bytes)))
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

// A repairDone is the closing line of repair.
type repairDone struct {
	Out        string   `json:"out"`
	Rewritten  []string `json:"shards_rewritten"`  // damaged or missing before
	Unfinished int      `json:"shards_unfinished"` // written for the first time
	Files      []string `json:"files_rewritten"`   // meta.json, manifest.json, the journal
	conversionDone
}

func RepairDone(dir string, done *convert.Repaired) *repairDone {
	return &repairDone{
		Out: dir, Rewritten: append([]string{}, done.Rewritten...), Unfinished: done.Unfinished, Files: append([]string{}, done.Beside...),
		conversionDone: ConversionDone(dir, done.Report),
	}
}

func (s *repairDone) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", text.Name(s.Out))
	var did []string
	if n := len(s.Rewritten); n > 0 {
		did = append(did, fmt.Sprintf("wrote %s anew", Counted(int64(n), "shard")))
	}
	if s.Unfinished > 0 {
		did = append(did, "finished "+Counted(int64(s.Unfinished), "shard"))
	}
	if len(s.Files) > 0 {
		did = append(did, "wrote "+strings.Join(s.Files, " and "))
	}
	if len(did) == 0 {
		b.WriteString("nothing to write anew")
	} else {
		fmt.Fprintf(&b, "%s in %.1f s", strings.Join(did, ", "), s.Seconds)
	}
	fmt.Fprintf(&b, "; sound: %s, %s in %s, %v", Counted(s.Samples, "sample"), humanize.Bytes(uint64(s.Bytes)), Counted(int64(s.Shards), "shard"), s.proof)
	if s.Unsigned {
		b.WriteString(unsigned)
	}
	return b.String()
}

// An ExportDone is the closing line of export tar and export folder.
type ExportDone struct{ *export.Report }

func (s ExportDone) String() string {
	var b strings.Builder
	unit := "tar"
	if s.Format != unit {
		unit = "file"
	}
	fmt.Fprintf(&b, "%s: %s, %s in %s", text.Name(s.Path), Counted(s.Totals.Samples, "sample"), humanize.Bytes(uint64(s.Totals.Bytes)), Counted(s.Totals.Files, unit))
	if s.Totals.LeftOut > 0 {
		fmt.Fprintf(&b, ", %s left out", Counted(s.Totals.LeftOut, "sample"))
	}
	switch {
	case s.Written == 0 && s.Backend == "":
		fmt.Fprintf(&b, ", complete since %s, not re-read now", Moment(s.Created))
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

// A SignedDone is the closing line of sign.
type SignedDone struct {
	Out    string `json:"out"`
	Key    string `json:"key"`         // ID of the key
	Root   string `json:"root_sha256"` // of the manifest
	Shards int    `json:"shards"`
	Read   bool   `json:"read"` // all files were read for it
}

func (s SignedDone) String() string {
	read := "the sums are those of the manifest"
	if s.Read {
		read = "all files were read for their sums"
	}
	return fmt.Sprintf("%s: signed by the key %s: %s, root %s; %s", text.Name(s.Out), s.Key, Counted(int64(s.Shards), "shard"), s.Root, read)
}
