package main

import (
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/help"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/progress"
	"github.com/ffconvert/ffconvert/export"
)

// A stream is a form in which samples are written to standard output.
type stream struct{ name, short, long, example string }

var streams = []stream{
	{"cbor", "Write samples to standard output, as a sequence of CBOR maps", "a sequence of CBOR maps (RFC 8742)", "python3 count.py"},
	{"msgpack", "Write samples to standard output, as a sequence of MessagePack maps", "a sequence of MessagePack maps", "python3 count.py"},
	{"jsonl", "Write samples to standard output, as JSON Lines", `JSON Lines, an object each; bytes are {"$bytes": "…"} in base64`, "jq -r .__key__"},
	{"arrow", "Write samples to standard output, as one Arrow IPC stream", "one Arrow IPC stream, whose columns are the fields of the first samples", "python3 table.py"},
}

func newExportStreamCommand(s stream) *cobra.Command {
	opts := newExportOptions()
	cmd := &cobra.Command{
		Use:   s.name + " OUT... -",
		Short: s.short,
		Long: `Write the samples in order to standard output: ` + s.long + `.
__key__ is the key of a sample. Nothing else is written there; a reader may stop at any time.

` + exportSources + "\n" + exitStatus,
		Example: fmt.Sprintf("  ffconvert export %s out/ - | %s\n  ffconvert export %s --columns cls,txt out/ - > samples", s.name, s.example, s.name),
		Args:    help.WantArgs,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&opts.Encode.Fields, "columns", "", "fields to write, in order; ';' means the first that exists: 'jpg;png,cls' (default all)")
	flags.Var(&opts.Missing, "missing", "what to do with a sample that lacks a field: error, or skip")
	opts.addSource(flags)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if to := args[len(args)-1]; to != "-" {
			return fmt.Errorf("%s: the samples go to standard output: want - as the last argument, and > FILE where a file is to have them", to)
		}
		signal.Ignore(syscall.SIGPIPE) // a write fails instead, and staged copies are removed
		err := opts.run(cmd.Context(), cmd, args, func(src *export.Source, shown *progress.Reporter) error {
			return export.Stream(cmd.Context(), pipeWriter{cmd.OutOrStdout()}, src, export.StreamOptions{Format: s.name, Encode: opts.Encode, Choice: opts.choice, Progress: shown})
		})
		return err
	}
	return cmd
}

// errPipe says that the reader of standard output has closed it, which is not an error.
var errPipe = errors.New("standard output is closed")

// A pipeWriter returns errPipe where its reader has gone.
type pipeWriter struct{ io.Writer }

func (w pipeWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		err = errPipe
	}
	return n, err
}
