package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/look"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/internal/browse"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/verify"
)

type browseOptions struct {
	look.Datasets
	listen string
	open   bool
}

func newBrowseCommand() *cobra.Command {
	var opts browseOptions
	cmd := &cobra.Command{
		Use:   "browse OUT|URL|FILE...",
		Short: "Show datasets as pages in a browser",
		Long: `Serve pages that show datasets, on this machine, until Ctrl-C, with status 0: what the conversion
read, wrote and skipped; the samples as a grid, with filters; classes and sizes; each field of a
sample, compared with its checksum when it is shown; a verification to start; and what differs
between two datasets. Of a dataset in an object store, named by its URL, indexes and ranges of
the shards are fetched when a page needs them.

The line that is printed is the link to open. It has a secret: whoever has it sees the data. On a
machine that is reached by ssh, --listen 127.0.0.1:8000 there and ssh -L 8000:127.0.0.1:8000 HOST here.

Nothing is written.

` + servedStatus,
		Example: `  ffconvert browse out/
  ffconvert browse --open out/
  ffconvert browse old/ new/ --listen 127.0.0.1:8000
  ffconvert browse s3://bucket/data/`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return opts.End(runBrowse(cmd.Context(), &opts, args, cmd.OutOrStdout(), os.Stderr))
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&opts.listen, "listen", "127.0.0.1:0", "address and port to serve at; port 0: any that is free")
	flags.BoolVar(&opts.open, "open", false, "open the link in the browser of this machine")
	opts.AddRecords(flags)
	return cmd
}

// servedStatus lists the exit statuses of browse: without 6, which only diff has, and 130, because Ctrl-C ends browse with status 0.
var servedStatus, _, _ = strings.Cut(exitStatus, "\n  6 ")

// browseMemory is the memory limit of the process, in bytes. Concurrent requests together hold less.
const browseMemory = 448 << 20

func runBrowse(ctx context.Context, opts *browseOptions, paths []string, stdout, stderr io.Writer) error {
	if debug.SetMemoryLimit(-1) == math.MaxInt64 { // no limit by GOMEMLIMIT
		debug.SetMemoryLimit(browseMemory)
	}
	if !signal.Ignored(syscall.SIGHUP) { // a terminal that closes ends it as Ctrl-C does
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	opts.Lookup.Record.MaxSample = browse.MaxRecord
	var all []browse.Dataset
	for _, path := range paths {
		d, err := opts.Open(ctx, path)
		if err != nil {
			return err
		}
		all = append(all, browse.Dataset{Dataset: d, View: opts.View(path)})
	}
	s, err := browse.New(all, browse.Options{Tool: tool(), Log: stderr, Verify: verify.Options{Record: record.Options{AllowLegacy: opts.Lookup.Record.AllowLegacy, MaxSamples: opts.Lookup.Record.MaxSamples}}})
	if err != nil {
		return err
	}
	l, err := browse.Listen(opts.listen)
	if err != nil {
		return err
	}
	launched := ""
	defer func() {
		if launched != "" {
			os.RemoveAll(launched)
		}
	}()
	return s.Serve(ctx, l, func(link browse.Link) error {
		if link.Public {
			fmt.Fprintf(stderr, "ffconvert: WARNING: other machines reach %s: the link and the data pass the network without encryption\n", l.Addr())
		}
		if _, err := fmt.Fprintln(stdout, link.URL); err != nil {
			return err
		}
		if terminal.IsTerminal(stderr) {
			fmt.Fprintln(stderr, "the link opens in a browser on this machine; Ctrl-C ends")
		}
		if !opts.open {
			return nil
		}
		var err error
		if launched, err = link.Launch(); err != nil {
			fmt.Fprintf(stderr, "ffconvert: --open: %s; open the link above\n", text.Line(err.Error()))
		}
		return nil
	})
}
