package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/dataset/transfer"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/text"
)

type copyOptions struct {
	cliflag.Place
	overwrite bool
	jobs      int
	aio       aio.Options
	progress  terminal.Progress
}

func newCopyCommand() *cobra.Command {
	opts := copyOptions{Place: cliflag.NewPlace(), jobs: 4, aio: aio.Options{Depth: 32}}
	cmd := &cobra.Command{
		Use:   "copy OUT OUT2",
		Short: "Copy a finished dataset to another place, and prove it there",
		Long: `Copy a finished dataset from one place to another, and prove every file there. Each place is a
directory, s3://bucket/name/ or gs://bucket/name/; OUT may be on a web server or in AIStore, too.
The manifest comes last: no reader takes a part of a dataset for whole. The same command goes on
after any interruption.

A file that OUT2 has is kept if it is proven to be the right one, so only what differs is copied.
In a directory all bytes are read again, past the page cache, and compared with their checksums;
of an object the service compares a checksum, and --bucket verify=read reads all its bytes back.

Another dataset in OUT2 is refused, or replaced by --overwrite.

` + exitStatus,
		Example: `  ffconvert copy out/ s3://bucket/data/
  ffconvert copy s3://bucket/data/ /scratch/data/
  ffconvert copy s3://bucket/data/ gs://bucket/data/
  ffconvert copy out/ /mnt/mirror/out/`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return cliflag.Hint(runCopy(cmd.Context(), opts, args[0], args[1]), "copy", args[1])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&opts.overwrite, "overwrite", false, "replace another dataset in OUT2")
	cliflag.Jobs(flags, &opts.jobs, "files copied at once, 1024 at most")
	cliflag.AIO(flags, &opts.aio)
	opts.progress.Add(flags)
	opts.AddPlace(flags, true)
	return cmd
}

func runCopy(ctx context.Context, opts copyOptions, from, to string) error {
	shown := terminal.NewReporter(opts.progress, os.Stderr)
	defer shown.Stop()
	done, err := transfer.Copy(ctx, from, to, transfer.Options{
		Bucket: opts.Options(shown.Note), Overwrite: opts.overwrite, Workers: opts.jobs,
		AIO:      opts.aio,
		Start:    func(bytes int64) { shown.Start("copy", bytes) },
		Progress: func(n int64) { shown.Add(0, n) },
	})
	if err != nil {
		return err
	}
	shown.Say(&copyDone{Out: input.Shown(to), Shards: done.Shards, Samples: done.Samples, Bytes: done.Bytes,
		Copied: done.Copied, CopiedBytes: done.Moved, Small: done.Small, Already: done.Already, Seconds: done.Seconds})
	return nil
}

// A copyDone is the closing line, and the done event.
type copyDone struct {
	Out         string   `json:"out"`
	Shards      int      `json:"shards"`
	Samples     int64    `json:"samples"`
	Bytes       int64    `json:"bytes"` // of shards and indexes
	Copied      int      `json:"copied_shards"`
	CopiedBytes int64    `json:"copied_bytes"`          // of shards and indexes
	Small       []string `json:"small_files,omitempty"` // without samples, written or removed
	Already     bool     `json:"already"`               // nothing differed
	Seconds     float64  `json:"seconds"`
}

func (d *copyDone) String() string {
	what := fmt.Sprintf("%s: %s, %s, %s: ", text.Name(d.Out), terminal.Counted(int64(d.Shards), "shard"), terminal.Counted(d.Samples, "sample"), humanize.Bytes(uint64(d.Bytes)))
	switch {
	case d.Already:
		return what + fmt.Sprintf("nothing differs, in %.1f s", d.Seconds)
	case d.CopiedBytes == 0:
		return what + fmt.Sprintf("all there but %s, in %.1f s", strings.Join(d.Small, ", "), d.Seconds)
	case d.CopiedBytes == d.Bytes:
		return what + fmt.Sprintf("copied and proven, in %.1f s", d.Seconds)
	}
	return what + fmt.Sprintf("%s copied and proven, the others were there, in %.1f s", humanize.Bytes(uint64(d.CopiedBytes)), d.Seconds)
}
