package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/verify"
)

type finishOptions struct {
	cliflag.Place
	wait     time.Duration
	verify   bool
	aio      aio.Options
	sign     cliflag.Sign
	progress terminal.Progress
}

func newFinishCommand() *cobra.Command {
	opts := finishOptions{Place: cliflag.NewPlace(), aio: aio.Options{Depth: verify.DefaultDepth}}
	cmd := &cobra.Command{
		Use:   "finish OUT",
		Short: "Complete a dataset whose shards tasks have written",
		Long: `Check that every shard of the plan in OUT is there with a sound header and its index, close
the balance of entries, samples and fields, and write the manifest, which completes the
dataset. Each shard was re-read when it was written; --verify does so again. --sha256 and
--sign read what has no SHA-256 yet.

Where shards are missing they are named, and the status is 5: run their tasks again. With
--wait, finish waits for them, and for the plan if that is not there yet.

` + exitStatus,
		Example: `  ffconvert finish out/
  ffconvert finish --wait 24h out/
  ffconvert finish --verify out/`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runFinish(cmd.Context(), opts, args[0])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(cliflag.Period(&opts.wait), "wait", "wait so long for missing shards (default: do not)")
	flags.BoolVar(&opts.verify, "verify", false, "re-read all shards")
	cliflag.AIO(flags, &opts.aio)
	opts.sign.Add(flags)
	opts.progress.Add(flags)
	opts.AddPlace(flags, false)
	return cmd
}

func runFinish(ctx context.Context, opts finishOptions, dir string) error {
	key, err := opts.sign.Load(ctx)
	if err != nil {
		return err
	}
	progress := terminal.NewReporter(opts.progress, os.Stderr)
	defer progress.Stop()
	how := convert.Options{
		Verify: opts.verify, SHA256: opts.sign.SHA256, AIO: opts.aio,
		Tool: "ffconvert " + version, Progress: progress, Waiting: progress.Waiting, Bucket: opts.Options(progress.Note),
	}
	if key != nil {
		how.Sign = key.Sign
	}
	report, err := convert.Conversion{Out: dir, Options: how}.Finish(ctx, opts.wait)
	if errors.Is(err, verify.ErrCorrupt) {
		err = fmt.Errorf("%w (ffconvert repair %s writes it anew)", err, text.ShellWord(dir))
	}
	if err != nil {
		return cliflag.Hint(err, "finish", dir)
	}
	sum := terminal.ConversionDone(dir, report)
	sum.NoSums = !report.Already && report.Manifest.Root == ""
	if key != nil {
		sum.SignedBy = key.ID()
	}
	progress.Say(sum)
	return nil
}
