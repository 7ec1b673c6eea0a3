package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/look"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/internal/cache"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/text"
)

type cacheOptions struct {
	dir       string
	olderThan time.Duration
	format    option.Choice
}

func (o *cacheOptions) add(flags *pflag.FlagSet) {
	flags.SortFlags = false
	addCacheDir(flags, &o.dir)
	flags.Var(&o.format, "format", "output: text or json")
}

func newCacheCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Look at the cache of staged copies, and clean it",
		Long: `Look at the copies of decompressed and fetched inputs that conversions with --cache-dir keep,
or with WDS_CACHE in the environment, and remove them. A conversion removes by itself what it needs the
room for, the copies used longest ago first.

` + exitStatus,
		Example: `  ffconvert cache ls
  ffconvert cache clean --older-than 168h`,
		Args: cliflag.WantCommand,
		RunE: cliflag.NeedCommand,
	}
	cmd.AddCommand(newCacheListCommand(), newCacheCleanCommand(), newCacheFillCommand(), newCacheServeCommand())
	return cmd
}

func newCacheListCommand() *cobra.Command {
	opts := cacheOptions{format: formatValue()}
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the staged copies, and the datasets of object stores",
		Long: `List the staged copies in a cache: size, time of last use, whether a process uses it, and the
key, which is made of the source's name and version; and the datasets of object stores whose samples
it keeps, by their URLs, with the size of the shards that it keeps. With --format json an object a
line.

` + exitStatus,
		Example: `  ffconvert cache ls
  ffconvert cache ls --cache-dir /scratch/cache --format json`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runCacheList(opts, cmd.OutOrStdout()) },
	}
	opts.add(cmd.Flags())
	return cmd
}

func newCacheFillCommand() *cobra.Command {
	format := formatValue()
	var data look.Cached
	cmd := newCachedCommand(&data, func(cmd *cobra.Command, url string) error {
		data.JSON = format.Value == "json"
		return data.Fill(cmd.Context(), url, cmd.OutOrStdout())
	}, &cobra.Command{
		Use:   "fill URL",
		Short: "Fetch the shards of a dataset into the cache that loaders read",
		Long: `Fetch the shards of a dataset in an object store into a cache, whole, as many as there is room for:
what Dataset("s3://…", cache="DIR") of Python and loader.Open of Go keep as they read. They find them
there. Each sample is compared with its CRC. Shards that are there already are not fetched.

` + exitStatus,
		Example: `  ffconvert cache fill s3://bucket/data --cache-dir /nvme/cache
  ffconvert cache fill s3://bucket/data --cache-dir /nvme/cache --cache-size 200GB --order interleave:64 --seed 7`,
	})
	cmd.Flags().Var(&format, "format", "output: text or json")
	data.AddFill(cmd.Flags())
	return cmd
}

func newCacheServeCommand() *cobra.Command {
	var data look.Cached
	cmd := newCachedCommand(&data, func(cmd *cobra.Command, url string) error {
		return data.Serve(cmd.Context(), url, cmd.InOrStdin(), cmd.OutOrStdout(), os.Args[1:])
	}, &cobra.Command{
		Use:   "serve URL",
		Short: "Start the process that fetches a dataset for all loaders of this machine",
		Long: `Start the process that fetches the samples of a dataset in an object store for all processes of this
machine that have it open, unless there is one, and print the directory of the dataset in the cache.
It ends two seconds after the last of them. The Python package calls this command by itself. The URL -
is a line of standard input.

` + exitStatus,
		Example: `  ffconvert cache serve s3://bucket/data --cache-dir /nvme/cache`,
	})
	data.AddServe(cmd.Flags())
	return cmd
}

// newCachedCommand makes cmd run with a dataset in an object store and a cache, and adds the flags for both.
func newCachedCommand(data *look.Cached, run func(cmd *cobra.Command, url string) error, cmd *cobra.Command) *cobra.Command {
	cmd.Args = cliflag.WantArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if data.Dir, err = cacheDir(data.Dir); err != nil {
			return err
		}
		return cliflag.Hint(run(cmd, args[0]), "", args[0])
	}
	cmd.Flags().SortFlags = false
	addCacheDir(cmd.Flags(), &data.Dir)
	data.Add(cmd.Flags())
	return cmd
}

func newCacheCleanCommand() *cobra.Command {
	opts := cacheOptions{format: formatValue()}
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove staged copies, and datasets of object stores, that nobody uses",
		Long: `Remove the staged copies that no process uses, and what killed processes have left
unfinished; and the samples of datasets in object stores that no process has open. What is in use stays.

` + exitStatus,
		Example: `  ffconvert cache clean
  ffconvert cache clean --older-than 168h`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runCacheClean(opts, cmd.OutOrStdout()) },
	}
	opts.add(cmd.Flags())
	cmd.Flags().Var(cliflag.Period(&opts.olderThan), "older-than", "only those that were not used for so long")
	return cmd
}

func addCacheDir(flags *pflag.FlagSet, dir *string) {
	flags.StringVar(dir, "cache-dir", "", "the cache (default WDS_CACHE, or ffconvert in the user's cache directory)")
}

// cacheDir returns the directory of the cache, for the value of the flag.
func cacheDir(dir string) (string, error) {
	dir, err := cliflag.CacheDir(dir)
	if err == nil && dir == "" {
		dir, err = os.UserCacheDir()
		dir = filepath.Join(dir, "ffconvert")
	}
	return dir, err
}

// open calls use with the cache, or with nil if the directory is missing or is not a cache.
func (o *cacheOptions) open(use func(dir string, c *cache.Cache) error) error {
	dir, err := cacheDir(o.dir)
	if err != nil {
		return err
	}
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return use(dir, nil)
	case err != nil:
		return err
	case !st.IsDir():
		return fmt.Errorf("%s: not a directory", dir)
	}
	switch is, err := cache.IsCache(dir); {
	case err != nil:
		return err
	case !is:
		return use(dir, nil)
	}
	c, err := cache.Open(dir, 0, cache.Options{})
	if err != nil {
		return fmt.Errorf("%s: %w", text.Name(dir), err)
	}
	return errors.Join(use(dir, c), c.Close())
}

func runCacheList(opts cacheOptions, stdout io.Writer) error {
	return opts.open(func(dir string, c *cache.Cache) error {
		if err := look.ListCached(dir, opts.format.Value == "json", stdout); err != nil || c == nil {
			return err
		}
		entries, err := c.Entries()
		if err != nil {
			return err
		}
		enc := terminal.NewJSONEncoder(stdout)
		for _, e := range entries {
			if opts.format.Value == "json" {
				err = enc.Encode(e)
			} else {
				_, err = fmt.Fprintf(stdout, "%12d  %s  %-10s  %s\n", e.Size, e.Used.Format("2006-01-02 15:04"), stateOf(e), cmp.Or(text.Line(e.Label), e.Key))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func stateOf(e cache.Entry) string {
	switch {
	case e.Unfinished:
		return "unfinished"
	case e.InUse:
		return "in use"
	}
	return "unused"
}

// cleaned is the JSON document of cache clean.
type cleaned struct {
	Removed   int   `json:"removed"`
	Bytes     int64 `json:"bytes"`
	Left      int   `json:"left"`
	LeftBytes int64 `json:"left_bytes"`
}

func runCacheClean(opts cacheOptions, stdout io.Writer) error {
	return opts.open(func(dir string, c *cache.Cache) error {
		var done cleaned
		before := time.Now().Add(-opts.olderThan)
		var err error
		if done.Removed, done.Left, done.Bytes, done.LeftBytes, err = look.CleanCached(dir, before); err != nil {
			return err
		}
		if c != nil {
			removed, bytes, err := c.Clean(func(e cache.Entry) bool { return !e.Used.After(before) })
			if err != nil {
				return err
			}
			done.Removed, done.Bytes = done.Removed+removed, done.Bytes+bytes
			left, err := c.Entries()
			if err != nil {
				return err
			}
			for _, e := range left {
				done.Left, done.LeftBytes = done.Left+1, done.LeftBytes+e.Size
			}
		}
		if opts.format.Value == "json" {
			return terminal.NewJSONEncoder(stdout).Encode(done)
		}
		_, err = fmt.Fprintf(stdout, "%s: removed %d (%s), left %d (%s)\n", text.Name(dir),
			done.Removed, humanize.Bytes(uint64(done.Bytes)), done.Left, humanize.Bytes(uint64(done.LeftBytes)))
		return err
	})
}
