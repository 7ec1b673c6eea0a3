package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/shard/plan"
)

type statusOptions struct {
	cliflag.Place
	format  option.Choice
	missing bool
}

func newStatusCommand() *cobra.Command {
	opts := statusOptions{Place: cliflag.NewPlace(), format: formatValue()}
	cmd := &cobra.Command{
		Use:   "status OUT",
		Short: "Show how far the tasks of a plan are",
		Long: `Show how many shards of the plan in OUT are done, which are being written, by which task and
where, and how many are missing. Nothing is locked or changed, and no shard is read: a shard is
done when it has its name, its size and its index. If the dataset was complete and one of them
is gone or cut, the status is 5; if the plan or the journal is damaged, it is 2.

A shard is running when a process has claimed it, which says every 15 seconds that it is
alive; one that has not done so for five minutes is shown as dead, and any task that runs
again writes its shard. The rate is that of the last ten minutes.

` + exitStatus,
		Example: `  ffconvert status out/
  ffconvert status --missing out/
  ffconvert status --format json out/ | jq .shards_done`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := convert.ReadStatus(cmd.Context(), args[0], opts.Options(nil))
			if err != nil {
				return cliflag.Hint(err, "status", args[0])
			}
			if opts.format.Value == "json" {
				err = terminal.WriteJSON(cmd.OutOrStdout(), s)
			} else {
				err = printStatus(cmd.OutOrStdout(), s, args[0], opts.missing)
			}
			return errors.Join(err, incomplete(args[0], s.Err()))
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&opts.format, "format", "text or json, which has all names")
	flags.BoolVar(&opts.missing, "missing", false, "name the shards that are missing, a line each")
	opts.AddPlace(flags, false)
	return cmd
}

// incomplete adds to an error of a dataset how to repair it.
func incomplete(dir string, err error) error {
	switch {
	case errors.Is(err, dataset.ErrMissing):
		return fmt.Errorf("%s: %w (ffconvert repair %s writes them anew)", dir, err, text.ShellWord(dir))
	case errors.Is(err, dataset.ErrManifest):
		return fmt.Errorf("%w (ffconvert repair %s writes it anew)", err, text.ShellWord(dir))
	}
	return err
}

// maxRunning is the most running shards that are listed; the others are counted.
const maxRunning = 20

func printStatus(w io.Writer, s *dataset.Status, dir string, missing bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "plan\t%s, %s of records in %s, from %s\n", s.Format, humanize.Bytes(uint64(s.Bytes)), terminal.Counted(int64(s.Shards), "shard"), terminal.Counted(int64(s.Parts), "part"))
	fmt.Fprintf(t, "done\t%s, %s (%d %%)\n", terminal.Counted(int64(s.Done), "shard"), humanize.Bytes(uint64(s.DoneSize)), int64(100*float64(s.DoneSize)/float64(max(1, s.Bytes))))
	dead := 0
	for _, r := range s.Running {
		if r.Stale {
			dead++
		}
	}
	fmt.Fprintf(t, "running\t%s", terminal.Counted(int64(len(s.Running)-dead), "shard"))
	if dead > 0 {
		fmt.Fprintf(t, ", and %d whose process is dead", dead)
	}
	fmt.Fprintf(t, "\nmissing\t%s\n", terminal.Counted(int64(len(s.Missing)), "shard"))
	if s.Rate > 0 {
		fmt.Fprintf(t, "rate\t%s/s", humanize.Bytes(uint64(s.Rate)))
		if left := s.Bytes - s.DoneSize; left > 0 && len(s.Running) > dead {
			fmt.Fprintf(t, ", %s left", time.Duration(float64(left)/s.Rate*float64(time.Second)).Round(time.Second))
		}
		fmt.Fprintln(t)
	}
	switch {
	case s.Complete:
		fmt.Fprintf(t, "dataset\tcomplete\n")
	case errors.Is(s.Err(), dataset.ErrManifest), errors.Is(s.Err(), dataset.ErrManifestVersion):
		fmt.Fprintf(t, "dataset\tnot known: its manifest cannot be read\n")
	case errors.Is(s.Err(), plan.ErrDamaged):
		fmt.Fprintf(t, "dataset\tnot known: its journal is damaged or missing\n")
	case s.Manifest:
		fmt.Fprintf(t, "dataset\tincomplete: it was complete, and shards or their indexes are gone or have other sizes\n")
	case s.Done == s.Shards:
		fmt.Fprintf(t, "dataset\tto be finished: ffconvert finish %s\n", text.ShellWord(dir))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i, r := range s.Running {
		if i == maxRunning {
			fmt.Fprintf(w, "… and %d more\n", len(s.Running)-i)
			break
		}
		state := "for " + time.Since(r.Since).Round(time.Second).String()
		if r.Stale {
			state = "dead since " + r.Seen.Format(time.RFC3339)
		}
		fmt.Fprintf(w, "%s  task %s, process %d on %s, %s\n", r.Shard, r.Task, r.PID, r.Host, state)
	}
	if missing {
		for _, name := range s.Missing {
			if _, err := fmt.Fprintln(w, name); err != nil {
				return err
			}
		}
	}
	return nil
}
