package look

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/cached"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/loader"
)

// A Cached is a dataset in an object store, and the cache where its samples are kept.
type Cached struct {
	cliflag.Place
	Dir  string // the cache
	JSON bool   // what is said is an object
	size int64

	mode string // of Fill: the order in which shards are fetched
	seed uint64

	in string // the directory of the process that fetches, which this one is to be
}

// Add registers the flags for the cache and the object store.
func (c *Cached) Add(flags *pflag.FlagSet) {
	c.Place = cliflag.NewPlace()
	c.Connections(cachedConnections)
	flags.Var(option.MaxSize(&c.size, 0), "cache-size", "most bytes of shards that the cache keeps, of all datasets; nothing is removed for others")
	c.AddConnection(flags)
}

// AddFill registers the flags of Fill alone.
func (c *Cached) AddFill(flags *pflag.FlagSet) {
	flags.StringVar(&c.mode, "order", string(loader.Sequential), "fetch shards in the order in which an epoch of this mode comes to them: sequential, global, window:N, interleave:K")
	flags.Uint64Var(&c.seed, "seed", 0, "of the order")
}

// AddServe registers the hidden flag of the process that fetches.
func (c *Cached) AddServe(flags *pflag.FlagSet) {
	flags.StringVar(&c.in, inFlag, "", "be the process that fetches, of this directory")
	_ = flags.MarkHidden(inFlag)
}

const inFlag = "in"

// cachedConnections are enough for ranges of 100 KB that take 20 ms each.
const cachedConnections = 64

func (c *Cached) options(warn func(string)) cached.Options {
	return cached.Options{Dir: c.Dir, Size: c.size, Store: c.Options(nil).Client, Warn: warn}
}

// filled is the JSON document of cache fill.
type filled struct {
	Path    string `json:"path"`
	Shards  int    `json:"shards"`
	Kept    int    `json:"kept"`    // shards that are in the cache, whole
	Bytes   int64  `json:"bytes"`   // of these
	Fetched int64  `json:"fetched"` // bytes
}

// Fill fetches the shards of the dataset at url, as many as there is room for.
func (c *Cached) Fill(ctx context.Context, url string, stdout io.Writer) error {
	if _, err := c.order([]int64{1}); err != nil {
		return err
	}
	x, err := cached.Open(ctx, url, c.options(func(text string) { fmt.Fprintln(os.Stderr, "ffconvert:", text) }))
	if err != nil {
		return err
	}
	defer x.Close()
	before, err := x.Fetched(ctx)
	if err != nil {
		return err
	}
	order, err := c.shards(x.Manifest())
	if err != nil {
		return err
	}
	done := filled{Path: x.Path()}
	for _, k := range order {
		kept, err := x.Shards(ctx, k)
		if err != nil {
			return err
		}
		if done.Shards++; kept[0] {
			done.Kept, done.Bytes = done.Kept+1, done.Bytes+x.Manifest().Shards[k].Bytes
		}
	}
	if err := x.Filled(ctx, order...); err != nil {
		return err
	}
	if done.Fetched, err = x.Fetched(ctx); err != nil {
		return err
	}
	if done.Fetched >= before { // else another process has begun to serve
		done.Fetched -= before
	}
	if c.JSON {
		return terminal.NewJSONEncoder(stdout).Encode(done)
	}
	_, err = fmt.Fprintf(stdout, "%s: %d of %d shards are here (%s), %s were fetched\n", text.Name(done.Path), done.Kept, done.Shards,
		humanize.Bytes(uint64(done.Bytes)), humanize.Bytes(uint64(done.Fetched)))
	return err
}

// shards returns the shards in the order of their first samples in the first epoch.
func (c *Cached) shards(m *dataset.Manifest) (order []int64, err error) {
	var sizes, starts []int64
	total := int64(0)
	for i := range m.Shards {
		sizes, starts = append(sizes, m.Shards[i].Samples), append(starts, total)
		total += m.Shards[i].Samples
	}
	samples, err := c.order(sizes)
	if err != nil {
		return nil, err
	}
	seen := make([]bool, len(sizes))
	var some []int64
	for at := int64(0); at < total && len(order) < len(sizes); at += samplesAtOnce {
		some = samples(some[:0], at, min(at+samplesAtOnce, total))
		for _, i := range some {
			if k := sort.Search(len(starts), func(k int) bool { return starts[k] > i }) - 1; !seen[k] {
				seen[k], order = true, append(order, int64(k))
			}
		}
	}
	for k, is := range seen { // those without samples
		if !is {
			order = append(order, int64(k))
		}
	}
	return order, nil
}

// order returns the order of the first epoch of shards of these sizes.
func (c *Cached) order(sizes []int64) (samples func(dst []int64, lo, hi int64) []int64, err error) {
	if samples, err = (loader.Order{Mode: loader.Mode(c.mode), Seed: c.seed, Batch: 1}).Samples(sizes, 0); err != nil {
		err = fmt.Errorf("--order: %w", err)
	}
	return samples, err
}

// samplesAtOnce is how many samples of an order are looked at at once.
const samplesAtOnce = 4096

// Serve starts the process that fetches, unless there is one, and prints the directory of the dataset. With the flag of
// AddServe it is that process. arguments are those of this one. The URL "-" is the line on stdin.
func (c *Cached) Serve(ctx context.Context, url string, stdin io.Reader, stdout io.Writer, arguments []string) error {
	input := ""
	if url == "-" {
		var err error
		if input, err = bufio.NewReader(stdin).ReadString('\n'); err != nil {
			return fmt.Errorf("standard input: %w: want the URL of a dataset, and the end of a line", err)
		}
		url = strings.TrimSuffix(input, "\n")
	}
	if c.in != "" {
		opts := c.options(func(text string) { fmt.Fprintln(os.Stderr, text) })
		return cached.Serve(ctx, c.in, url, opts, func() {
			fmt.Fprintln(stdout, cached.Ready)
			os.Stdout.Close() // whoever waits for its end goes on
		})
	}
	path, served, err := cached.Find(ctx, url, c.options(nil))
	if err != nil {
		return err
	}
	if !served {
		after := slices.Index(arguments, "serve") + 1 // a -- may follow
		if err := cached.Start(path, input, slices.Insert(slices.Clone(arguments), after, "--"+inFlag+"="+path)...); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(stdout, path)
	return err
}

// ListCached lists the datasets of a cache.
func ListCached(dir string, asJSON bool, stdout io.Writer) error {
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

// CleanCached removes the datasets of a cache that nobody uses and that were last used before a time. It counts those that
// it removed and those that are left, and their bytes.
func CleanCached(dir string, before time.Time) (removed, left int, bytes, leftBytes int64, err error) {
	all, err := cached.List(dir)
	for _, e := range all {
		gone := false
		if !e.Used.After(before) {
			if gone, err = e.Remove(); err != nil {
				break
			}
		}
		if gone {
			removed, bytes = removed+1, bytes+e.Bytes
		} else {
			left, leftBytes = left+1, leftBytes+e.Bytes
		}
	}
	return removed, left, bytes, leftBytes, err
}
