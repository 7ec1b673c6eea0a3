package main

import (
	"context"
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
)

type signOptions struct {
	cliflag.Sign
	cliflag.Place
	progress terminal.Progress
}

func newSignCommand() *cobra.Command {
	opts := signOptions{Place: cliflag.NewPlace()}
	cmd := &cobra.Command{
		Use:   "sign OUT",
		Short: "Sign a dataset, so that others can tell whose it is",
		Long: `Sign the manifest of a finished dataset, with the SHA-256 of every file, with a private key of
minisign. The signature is OUT/manifest.json.minisig; one that is there is replaced.
Who has the public key can tell that nothing was changed since:

  ffconvert verify --key minisign.pub OUT
  minisign -Vm OUT/manifest.json -p minisign.pub      (the manifest alone)

minisign -G makes a pair of keys. Where the manifest has no SHA-256 yet, all files are read and
compared first; where it has, no shard is read.
Conversions and finish sign at their end with --sign.

` + exitStatus,
		Example: `  ffconvert sign --key ~/.minisign/minisign.key out/
  ffconvert sign --key minisign.key --password-file /run/secrets/minisign out/`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSign(cmd.Context(), opts, args[0])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(cliflag.Name(&opts.Key), "key", "file of the private key")
	cliflag.MarkProof(flags, "key")
	opts.AddPassword(flags)
	opts.progress.Add(flags)
	opts.AddPlace(flags, false)
	return cmd
}

func runSign(ctx context.Context, opts signOptions, dir string) error {
	if opts.Key == "" {
		return errors.New("sign: --key is missing: want ffconvert sign --key minisign.key OUT")
	}
	key, err := opts.Load(ctx)
	if err != nil {
		return err
	}
	progress := terminal.NewReporter(opts.progress, os.Stderr)
	defer progress.Stop()
	c := convert.Conversion{Out: dir, Options: convert.Options{Sign: key.Sign, Progress: progress, Bucket: opts.Options(progress.Note)}}
	m, summed, err := c.SignManifest(ctx)
	if err != nil {
		return cliflag.Hint(err, "sign", dir)
	}
	progress.Say(terminal.SignedDone{Out: dir, Key: key.ID(), Root: m.Root, Shards: len(m.Shards), Read: summed})
	return nil
}
