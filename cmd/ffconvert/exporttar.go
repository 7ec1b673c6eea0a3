package main

import (
	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/help"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/progress"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/summary"
	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/export"
)

func newExportTarCommand() *cobra.Command {
	opts := newExportOptions()
	tars := export.TarOptions{Tool: tool()}
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
		Args: help.WantArgs,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	opts.addWriting(flags, "tars")
	flags.Var(&opts.ShardSize, "shard-size", "target size of a tar (default: at least 256MiB each, 200 tars at most)")
	flags.Var(&opts.MinSize, "min-shard-size", "least mean size of a tar (default 256MiB, or none with --shard-size or --shards)")
	flags.Var(option.AtLeast(&opts.Sizes.Max, 1), "max-shards", "most tars (default 200, or none with --shard-size or --shards)")
	flags.Var(option.AtLeast(&opts.Sizes.Shards, 1), "shards", "exact number of tars (default by size)")
	flags.Int64Var(&tars.MaxCount, "max-count", 0, "samples of each tar but the last, as webdataset's ShardWriter(maxcount=…) cuts them; a tar that reaches --shard-size ends sooner")
	flags.Int64Var(&tars.ModTime, "mtime", 0, "time of all members, in seconds since 1970")
	opts.addKey(flags)
	opts.addFields(flags)
	opts.addSource(flags)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return opts.run(cmd.Context(), cmd, args, func(src *export.Source, shown *progress.Reporter) error {
			tars.Key, tars.Choice, tars.Sizes, tars.Encode, tars.Workers, tars.NoVerify, tars.AIO, tars.Progress = opts.key, opts.choice, opts.Sizes, opts.Encode, opts.Workers, opts.NoVerify, opts.aio(), shown
			tars.Sizes.ShardSize, tars.Sizes.Min = int64(opts.ShardSize), int64(opts.MinSize)
			done, err := export.Tars(cmd.Context(), src, args[len(args)-1], tars)
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
