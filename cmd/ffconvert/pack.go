package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/packed"
	"github.com/ffconvert/ffconvert/record"
)

type packOptions struct {
	packed.WriteOptions
	limits   folderLimits
	progress terminal.Progress
}

func newPackCommand() *cobra.Command {
	var opts packOptions
	cmd := &cobra.Command{
		Use:   "pack DIR FILE.ffr",
		Short: "Put a folder into one FFRecord file",
		Long: `Put a folder into one FFRecord file, which ffrecord's PackedFolder opens: every file is a
sample, and the last sample holds the names. Hidden files and empty directories are kept;
times, modes and links are not. FILE.ffr has its name only once it is complete, synced,
re-read past the page cache and checked.

` + exitStatus,
		Example: `  ffconvert pack images/ images.ffr
  ffconvert ls -R images.ffr
  ffconvert unpack images.ffr copy/`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runPack(cmd.Context(), opts, args[0], args[1])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&opts.Overwrite, "overwrite", false, "replace FILE.ffr where there is one")
	flags.BoolVar(&opts.FollowOutside, "follow-outside", false, "follow symbolic links that lead out of the folder")
	opts.limits.add(flags)
	cliflag.AIO(flags, &opts.AIO)
	opts.progress.Add(flags)
	return cmd
}

func runPack(ctx context.Context, opts packOptions, dir, file string) error {
	if err := errors.Join(convert.LocalPath(dir), convert.LocalPath(file)); err != nil {
		return err
	}
	if !strings.HasSuffix(file, record.Ext) {
		return fmt.Errorf("%s: the name of the file must end in %s", file, record.Ext)
	}
	switch st, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", dir, input.ErrNotFound)
	case err == nil && !st.IsDir():
		return fmt.Errorf("%s: %w", dir, input.ErrNotDirectory)
	}
	if _, err := os.Stat(filepath.Dir(file)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: no such directory; make it first", filepath.Dir(file))
	}
	progress := terminal.NewReporter(opts.progress, os.Stderr)
	defer progress.Stop()
	opts.MaxFile, opts.MaxFiles, opts.Progress = opts.limits.size, opts.limits.files, progress
	report, err := packed.Write(ctx, dir, file, opts.WriteOptions)
	if err != nil {
		return err
	}
	progress.Say(terminal.FolderDone{Out: file, Totals: report.Totals, Backend: report.Verify.Backend, From: report.Verify.From})
	return nil
}

func newUnpackCommand() *cobra.Command {
	var shown terminal.Progress
	var limits folderLimits
	cmd := &cobra.Command{
		Use:   "unpack FILE.ffr DIR",
		Short: "Take a folder out of an FFRecord file",
		Long: `Take the folder out of a file that pack, or ffrecord's pack_folder, has made. DIR must not
exist, or be empty. It receives all of the files, each checked against its checksum, synced
and re-read, or nothing. No name in the file can lead out of DIR.

` + exitStatus,
		Example: "  ffconvert unpack images.ffr copy/",
		Args:    cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runUnpack(cmd.Context(), shown, limits, args[0], args[1])
		},
	}
	limits.add(cmd.Flags())
	shown.Add(cmd.Flags())
	return cmd
}

func runUnpack(ctx context.Context, how terminal.Progress, limits folderLimits, file, dir string) error {
	if err := errors.Join(convert.LocalPath(file), convert.LocalPath(dir)); err != nil {
		return err
	}
	f, err := limits.open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	progress := terminal.NewReporter(how, os.Stderr)
	defer progress.Stop()
	from, err := f.Extract(ctx, dir, packed.ExtractOptions{Progress: progress})
	if err != nil {
		return err
	}
	progress.Say(terminal.FolderDone{Out: dir, Totals: f.Totals(), From: from})
	return nil
}

// folderLimits are the limits of a packed folder.
type folderLimits struct{ size, files int64 }

func (l *folderLimits) add(flags *pflag.FlagSet) {
	flags.Var(option.MaxSize(&l.size, packed.DefaultMaxFile), "max-file-size", "largest file accepted; it is held in memory whole")
	flags.Var(option.Count(&l.files, int64(record.MaxSamples-1)), "max-files", "most files accepted; their names are held in memory")
}

// open opens a packed folder within the limits. The names are one sample more than the files.
func (l *folderLimits) open(file string) (*packed.Folder, error) {
	f, err := packed.Open(file, record.Options{MaxSample: l.size, MaxSamples: min(l.files, math.MaxInt64-1) + 1})
	if err != nil {
		err = cliflag.NotShards(file, err)
	}
	return f, cliflag.OverLimit(err, "--max file-size, --max files")
}
