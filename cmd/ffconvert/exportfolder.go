package main

import (
	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/help"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/progress"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/summary"
	"github.com/ffconvert/ffconvert/export"
)

func newExportFolderCommand() *cobra.Command {
	opts := newExportOptions()
	folder := export.FolderOptions{Tool: tool()}
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
		Args: help.WantArgs,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	opts.addWriting(flags, "groups of files")
	opts.addKey(flags)
	opts.addFields(flags)
	opts.addSource(flags)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return opts.run(cmd.Context(), cmd, args, func(src *export.Source, shown *progress.Reporter) error {
			folder.Key, folder.Choice, folder.Encode, folder.Workers, folder.NoVerify, folder.AIO, folder.Progress = opts.key, opts.choice, opts.Encode, opts.Workers, opts.NoVerify, opts.aio(), shown
			done, err := export.Folder(cmd.Context(), src, args[len(args)-1], folder)
			if err != nil {
				return err
			}
			shown.Stop()
			shown.Say(summary.NewExport(done))
			return nil
		})
	}
	return cmd
}
