package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/dataset/cached"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A cachedData is a dataset in an object store, and the cache that its samples are kept in.
type cachedData struct {
	cliflag.Place
	cacheOptions
	size int64
}

func (o *cachedData) register(cmd *cobra.Command) *cachedData {
	o.Place = cliflag.NewPlace()
	flags := cmd.Flags()
	o.add(flags)
	flags.Var(option.MaxSize(&o.size, 0), "cache-size", "most bytes of shards that the cache keeps, of all datasets; nothing is removed for others")
	o.AddConnection(flags)
	_ = flags.Set("connections", fmt.Sprint(cachedConnections))
	return o
}

// cachedConnections are enough for ranges of 100 KB that take 20 ms each.
const cachedConnections = 64

func (o *cachedData) options(warn func(string)) (cached.Options, error) {
	dir, err := o.cacheDir()
	return cached.Options{Dir: dir, Size: o.size, Store: o.Options(nil).Client, Warn: warn}, err
}

func newCacheFillCommand() *cobra.Command {
	var opts cachedData
	cmd := &cobra.Command{
		Use:   "fill URL",
		Short: "Fetch the shards of a dataset into the cache that loaders read",
		Long: `Fetch the shards of a dataset in an object store into a cache, whole, as many as there is room for: what
Dataset("s3://…", cache="DIR") of Python and loader.Open of Go keep as they read. They find them there.
Each sample is compared with its CRC. Shards that are there already are not fetched.

` + exitStatus,
		Example: `  ffconvert cache fill s3://bucket/data --cache-dir /nvme/cache
  ffconvert cache fill s3://bucket/data --cache-dir /nvme/cache --cache-size 200GB`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return cliflag.Hint(runCacheFill(cmd.Context(), &opts, args[0], cmd.OutOrStdout()), "", args[0])
		},
	}
	opts.register(cmd)
	return cmd
}

// filled is the JSON document of cache fill.
type filled struct {
	Path    string `json:"path"`
	Shards  int    `json:"shards"`
	Kept    int    `json:"kept"`
	Bytes   int64  `json:"bytes"`
	Fetched int64  `json:"fetched"`
}

func runCacheFill(ctx context.Context, o *cachedData, url string, stdout io.Writer) error {
	opts, err := o.options(func(text string) { fmt.Fprintln(os.Stderr, "ffconvert:", text) })
	if err != nil {
		return err
	}
	x, err := cached.Open(ctx, url, opts)
	if err != nil {
		return err
	}
	defer x.Close()
	before, err := x.Fetched(ctx)
	if err != nil {
		return err
	}
	done := filled{Path: x.Path()}
	for k, s := range x.Manifest().Shards {
		kept, err := x.Shards(ctx, int64(k))
		if err != nil {
			return err
		}
		if done.Shards++; kept[0] {
			done.Kept, done.Bytes = done.Kept+1, done.Bytes+s.Bytes
		}
	}
	if err := x.Filled(ctx); err != nil {
		return err
	}
	if done.Fetched, err = x.Fetched(ctx); err != nil {
		return err
	}
	done.Fetched -= before
	if o.format.Value == "json" {
		return terminal.NewJSONEncoder(stdout).Encode(done)
	}
	_, err = fmt.Fprintf(stdout, "%s: %d of %d shards are here (%s), %s were fetched\n", done.Path, done.Kept, done.Shards,
		humanize.Bytes(uint64(done.Bytes)), humanize.Bytes(uint64(done.Fetched)))
	return err
}

// listCached lists the datasets of a cache.
func listCached(dir string, asJSON bool, stdout io.Writer) error {
	all, err := cached.List(dir)
	if err != nil {
		return err
	}
	enc := terminal.NewJSONEncoder(stdout)
	for _, e := range all {
		state := "unused"
		if e.InUse {
			state = "in use"
		}
		if asJSON {
			err = enc.Encode(e)
		} else {
			_, err = fmt.Fprintf(stdout, "%12d  %s  %-10s  %s\n", e.Bytes, e.Used.Format("2006-01-02 15:04"), state, text.Line(e.URL))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cleanCached removes the datasets of a cache that nobody uses, and counts them.
func (c *cleaned) cleanCached(dir string, before time.Time) error {
	all, err := cached.List(dir)
	if err != nil {
		return err
	}
	for _, e := range all {
		removed := false
		if !e.Used.After(before) {
			if removed, err = e.Remove(); err != nil {
				return err
			}
		}
		if removed {
			c.Removed, c.Bytes = c.Removed+1, c.Bytes+e.Bytes
		} else {
			c.Left, c.LeftBytes = c.Left+1, c.LeftBytes+e.Bytes
		}
	}
	return nil
}

// serveVariable makes `cache serve` be the process that fetches, for the directory that it names.
const serveVariable = "FFCONVERT_CACHE_SERVE"

func newCacheServeCommand() *cobra.Command {
	var opts cachedData
	cmd := &cobra.Command{
		Use:    "serve URL",
		Short:  "Start the process that fetches the samples of a dataset for all others of this machine",
		Hidden: true, // the Python package calls it
		Long: `Start the process that fetches the samples of a dataset in an object store for all processes of this
machine that have it open, unless there is one. It ends two seconds after the last of them. Print the directory of
the dataset in the cache when that process answers.

` + exitStatus,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if path := os.Getenv(serveVariable); path != "" {
				return serveCached(cmd.Context(), &opts, path, args[0], cmd.OutOrStdout())
			}
			return cliflag.Hint(startCached(cmd.Context(), &opts, args[0], cmd.OutOrStdout()), "", args[0])
		},
	}
	opts.register(cmd)
	return cmd
}

// startCached starts the process, which is in a session of its own: Ctrl-C is for those that read.
func startCached(ctx context.Context, o *cachedData, url string, stdout io.Writer) error {
	opts, err := o.options(nil)
	if err != nil {
		return err
	}
	path, served, err := cached.Find(ctx, url, opts)
	if err != nil {
		return err
	}
	if !served {
		if err := startServer(path); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(stdout, path)
	return err
}

// ready is what a process prints that serves.
const ready = "ready"

func startServer(path string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(path, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	server := exec.Command(program, os.Args[1:]...)
	server.Env = append(os.Environ(), serveVariable+"="+path)
	server.Stderr = log
	server.SysProcAttr = ownSession()
	said, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	if line, _ := bufio.NewReader(said).ReadString('\n'); strings.TrimSpace(line) == ready {
		return nil
	}
	_ = server.Wait()
	why, _ := os.ReadFile(log.Name())
	return fmt.Errorf("%s: the process that fetches did not start: %s", path, strings.TrimSpace(strings.TrimPrefix(string(why), "ffconvert: ")))
}

func serveCached(ctx context.Context, o *cachedData, path, url string, stdout io.Writer) error {
	opts, err := o.options(func(text string) { fmt.Fprintln(os.Stderr, text) })
	if err != nil {
		return err
	}
	return cached.Serve(ctx, path, url, opts, func() {
		fmt.Fprintln(stdout, ready)
		os.Stdout.Close() // whoever waits for its end goes on
	})
}
