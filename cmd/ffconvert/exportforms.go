package main

import (
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/export"
)

func newExportFolderCommand() *cobra.Command {
	opts := newExportOptions()
	cmd := &cobra.Command{
		Use:   "folder OUT... DIR",
		Short: "Write a folder of files",
		Long: `Write each field of the samples as a file KEY.FIELD below DIR, in the directory of its class
where the dataset has classes. DIR must be empty or not exist. Before anything is written all
paths are checked: one that is absolute, leads out of DIR, is too long, or is the same as
another where letters are not told apart by their case, is refused.

A file has its name only once it is complete. In the end all are synced, read again and
compared, and nothing but the files is left. An interrupted export goes on when the same command
is run again.

` + exportSources + "\n" + exitStatus,
		Example: `  ffconvert export folder out/ images/
  ffconvert export folder --fields jpg,cls --key ordinal out/ images/`,
		Args: cliflag.WantArgs,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	opts.addWriting(flags, "groups of files")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return opts.run(cmd.Context(), cmd, args, func(src *export.Source, shown *terminal.Reporter) error {
			done, err := export.Folder(cmd.Context(), src, args[len(args)-1], opts.options(shown))
			if err != nil {
				return err
			}
			shown.Say(terminal.ExportDone{Report: done})
			return nil
		})
	}
	return cmd
}

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
	opts.columns = true
	cmd := &cobra.Command{
		Use:   s.name + " OUT... -",
		Short: s.short,
		Long: `Write the samples in order to standard output: ` + s.long + `.
__key__ is the key of a sample. Nothing else is written there; a reader may stop at any time.

` + exportSources + "\n" + exitStatus,
		Example: fmt.Sprintf("  ffconvert export %s out/ - | %s\n  ffconvert export %s --columns cls,txt out/ - > samples", s.name, s.example, s.name),
		Args:    cliflag.WantArgs,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&opts.Encode.Fields, "columns", "", "fields to write, in order; ';' means the first that exists: 'jpg;png,cls' (default all)")
	opts.addSource(flags)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if to := args[len(args)-1]; to != "-" {
			return fmt.Errorf("%s: the samples go to standard output: want - as the last argument, and > FILE where a file is to have them", to)
		}
		signal.Ignore(syscall.SIGPIPE) // a write fails instead, and staged copies are removed
		err := opts.run(cmd.Context(), cmd, args, func(src *export.Source, shown *terminal.Reporter) error {
			return export.Stream(cmd.Context(), pipeWriter{cmd.OutOrStdout()}, src, s.name, opts.options(shown))
		})
		return err
	}
	return cmd
}

// errPipe reports that the reader of standard output closed it. The program ends with exitPipe and prints nothing.
var errPipe = errors.New("standard output is closed")

// A pipeWriter returns errPipe if its reader closed the pipe.
type pipeWriter struct{ io.Writer }

func (w pipeWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		err = errPipe
	}
	return n, err
}

func newExportTarCommand() *cobra.Command {
	opts := newExportOptions()
	modified := int64(0)
	cmd := &cobra.Command{
		Use:   "tar OUT... TAR",
		Short: "Write WebDataset tars",
		Long: `Write the samples as WebDataset tars, of even size. TAR is the name of a tar with a place for
its number: train-%06d.tar. A field is a member KEY.FIELD: text in UTF-8, numbers in ASCII,
lists and maps in JSON. The same samples and options make the same bytes.

A tar has its name only once it is complete, synced, read again and compared; a manifest
beside the tars, train.export.json, is written last. An interrupted export goes on when the
same command is run again. A key or a field that webdataset would split otherwise is refused.

` + exportSources + "\n" + exitStatus,
		Example: `  ffconvert export tar out/ 'train-%06d.tar'
  ffconvert export tar --shard-size 1GiB out/ 'tars/train-%06d.tar'
  ffconvert export tar --max-count 10000 out/ 'tars/train-%06d.tar'
  ffconvert export tar --key ordinal --fields jpg,cls out/ 'tars/train-%06d.tar'`,
		Args: cliflag.WantArgs,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	opts.AddSizes(flags, "tar")
	flags.Int64Var(&opts.Sizes.MaxSamples, "max-count", 0, "samples of each tar but the last, as webdataset's ShardWriter(maxcount=…) cuts them; a tar that reaches --shard-size ends sooner")
	flags.Int64Var(&modified, "mtime", 0, "time of all members, in seconds since 1970")
	opts.addWriting(flags, "tars")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return opts.run(cmd.Context(), cmd, args, func(src *export.Source, shown *terminal.Reporter) error {
			tars := opts.options(shown)
			tars.ModTime = modified
			done, err := export.Tars(cmd.Context(), src, args[len(args)-1], tars)
			if err != nil {
				return err
			}
			shown.Say(terminal.ExportDone{Report: done})
			return nil
		})
	}
	return cmd
}
