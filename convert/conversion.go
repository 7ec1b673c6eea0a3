package convert

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/internal/samples/filter"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A Cut says where shards may be cut.
type Cut int

const (
	CutAuto    Cut = iota // between parts if one is remote and the sizes of all are known, else at samples
	CutSamples            // at samples: all parts are made local first
	CutParts              // between parts, so that each is fetched once, when its shard is written
)

// Options say how a dataset is converted. The zero value of each field is its default.
type Options struct {
	Encode  encode.Options // of records; Encoding "": what the format proposes
	Sizes   plan.Sizes     // of shards
	Shuffle *plan.Shuffle  // nil: samples keep their order
	Choice  choose.Options // of samples. With a Split or a SplitBy, see [Conversion.Sides]
	Cut     Cut

	// Filter is a program that all samples pass through: see package internal/samples/filter. Encode and Choice are of
	// the samples that it answers. nil: none.
	Filter *input.Command
	// FilterTimeout is how long the program may neither read nor write while it has samples to answer. 0: forever.
	FilterTimeout time.Duration

	// Input says how sources are found and staged. Directories, Match, Arrange and Progress are
	// ignored: the format and this package set them. If CacheDir is "", copies are made in a
	// directory of the output, which is removed at the end.
	Input stage.Options

	// Bucket says how an output in an object store is written. Beside is that of IntoNonempty, and Client is by default
	// Input.Remote.
	Bucket bucket.Options

	Workers      int         // shards written at once; 0: the CPUs that this process may use
	Overwrite    bool        // replace another dataset in the output
	IntoNonempty bool        // write into a directory that has other files, and leave these alone
	NoVerify     bool        // do not re-read the shards
	Verify       bool        // also re-read the shards that an earlier run has finished
	AIO          aio.Options // for re-reading
	Tool         string      // name and version of the program, for the manifest

	// Sign returns the signature of a manifest, as [signature.PrivateKey.Sign] does. nil: the dataset is not signed.
	Sign func(manifest []byte) ([]byte, error)

	// Progress may be nil. It may also have the methods of shard.Mover and shard.Watcher, and
	// Fetched(bytes int64), which counts fetched bytes. Filtered(samples, bytes int64) is told of samples that the filter
	// has answered, and of the bytes of the sources that they are in.
	Progress plan.Progress
	// Doubt is called once with each doubt of the source. It may be nil.
	Doubt func(converters.Doubt)
	// Listed is called once with what the listing of each remote pattern or prefix has led to. It may be nil.
	Listed func(name, found string)
	// Waiting is called with the reason if a run waits before it begins. It may be nil.
	Waiting func(what string)
	// Drain is called before the first shard is written. When its channel is closed, workers finish
	// their shards and begin no other. It may be nil.
	Drain func() <-chan struct{}
}

// A Conversion describes one conversion: sources, options and output. Call one of its methods once.
type Conversion struct {
	Reader  *format.Reader // of the format of all sources; nil if Mixture is set
	Mixture *mixture       // several collections, which name their sources; nil if Reader is set
	Sources []string       // paths, patterns, URLs, @lists, pipes: see package input; the file of a mixture
	Program *input.Command // its output is converted in place of Sources; nil: none
	Out     string         // a local directory, or a URL: s3://bucket/name/, gs://bucket/name/
	Options

	planned *plan.SourceSpec        // recorded in an existing plan; nil for a new conversion
	added   []converters.AddedField // recorded with it
	classes []string                // of the planned dataset, by number
	output  *dataset.Task           // nil: not open
	found   []input.Name            // inputs that find has found
	local   int                     // number of inputs in found that must be local; 0: all. See trim
	tally   bool                    // find the values of Choice.SplitBy, and plan nothing

	through *filter.Filter            // of Filter; nil: none was needed
	was     func(part int) *plan.Part // a part of an existing plan, for Filter; nil: there is none
	beside  *beside                   // files beside remote parts; nil: none was needed
	src     converters.Source         // the dataset; nil: not open
	notes   [][2]string               // for Listed, until they were told
	told    map[converters.Doubt]bool // doubts that were passed to Doubt
	says    converters.Description    // of the source, if it is open
}

// A result is the report of a conversion.
type result struct {
	*shard.Report                         // Seconds is of all that Write did
	Columns       []converters.ColumnType // columns, if the source is a table that was opened; else nil
	HeaderMissed  bool                    // they are words that do not name them, which no option has said
	HeaderFound   bool                    // the first lines of the parts name the columns, which no option has said
}

// Write converts the sources: it finds and stages them, plans, writes shards, and commits them
// with a manifest. The same call resumes a Write that was interrupted.
func (c *Conversion) Write(ctx context.Context) (*result, error) {
	began := time.Now()
	aligned, err := c.prepare(ctx)
	if err != nil {
		return nil, err
	}
	var report *shard.Report
	err = c.inOutput(ctx, func(out *dataset.Writing) error {
		if err := c.check(); err != nil {
			return err
		}
		if err := c.trim(ctx, c.inputOptions()); err != nil {
			return errors.Join(err, c.removeCache(ctx, err))
		}
		if aligned {
			report, err = c.writeAligned(ctx, out)
		} else {
			report, err = c.writeSamples(ctx, out)
		}
		if err == nil {
			err = out.DropIndexed()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	c.tellDoubts()
	report.Seconds = time.Since(began).Seconds() // the index and the plan, too
	return &result{report, c.says.Columns, c.says.HeaderMissed, c.says.HeaderFound}, nil
}

// prepare finds the inputs and makes all checks that need no output directory. It reports whether
// shards are part-aligned.
func (c *Conversion) prepare(ctx context.Context) (aligned bool, err error) {
	if c.Workers <= 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	if err := c.checkOut(); err != nil && !c.tally {
		return false, err
	}
	if err := c.checkChoice(); err != nil {
		return false, err
	}
	if load := c.Choice.Fields(); load != nil {
		c.Encode.Load = load
	}
	spec, err := encode.Parse(c.Encode)
	if err != nil {
		return false, err
	}
	named := c.Encode.Encoding
	if c.Program != nil || c.Filter != nil {
		named = cmp.Or(named, "msgpack") // CBOR is how a program hands over samples, not a proposal
	}
	c.Encode = spec.Options()
	c.Encode.Encoding = named // "": see open
	if err := c.find(ctx); err != nil {
		return false, err
	}
	if err := c.checkInside(); err != nil {
		return false, err
	}
	if c.Reader != nil && c.Program == nil {
		if err := c.Reader.CheckKind(c.found); err != nil {
			return false, err
		}
	}
	return c.aligned()
}

// inOutput opens the output, calls use and closes the output.
func (c *Conversion) inOutput(ctx context.Context, use func(*dataset.Writing) error) error {
	out, err := c.openOut(ctx, c.Out)
	if err != nil {
		return err
	}
	c.output, out.Sign = out.Task, c.Sign
	return closeOutput(out.Task, use(out))
}

// closeOutput closes an output and adds the error to err, the result of the work on it.
func closeOutput(out *dataset.Task, err error) error {
	return errors.Join(out.Here(err), out.Close())
}

// writeSamples plans shards that are cut at samples, and writes them.
func (c *Conversion) writeSamples(ctx context.Context, out *dataset.Writing) (*shard.Report, error) {
	var report *shard.Report
	err := c.staged(ctx, func(set *stage.Set) error {
		p, src, err := c.plan(ctx, set)
		if err != nil {
			return err
		}
		report, err = shard.Write(ctx, shard.Local(src), p, out, c.writeOptions())
		return err
	})
	return report, c.allAtOnce(err)
}

// writeOptions returns the options of shard.Write. It calls Drain.
func (c *Conversion) writeOptions() shard.WriteOptions {
	opts := shard.WriteOptions{
		Workers: c.Workers, Overwrite: c.Overwrite, NoVerify: c.NoVerify, Verify: c.Verify,
		OpenFiles: openFiles(), AIO: c.AIO, Progress: c.Progress, Tool: c.Tool, Named: c.named(),
	}
	if c.Drain != nil {
		opts.Drain = c.Drain()
	}
	if c.through != nil {
		opts.Filled = c.through.Finish
	}
	return opts
}

// named returns the sources as the caller named them, without secrets.
func (c *Conversion) named() []string {
	named := slices.Clone(c.Sources)
	for i, name := range named {
		named[i] = input.Shown(name)
	}
	return named
}

// listed returns the names of the inputs that no source names by itself: those of directories, patterns and lists.
func (c *Conversion) listed() []string {
	named := make(map[string]bool, len(c.Sources))
	for _, name := range c.Sources {
		named[name] = true
	}
	var names []string
	for i := range c.found {
		if !named[c.found[i].Name] {
			names = append(names, c.found[i].Name)
		}
	}
	return names
}

// tellListed reports what was found of remote patterns and prefixes.
func (c *Conversion) tellListed() {
	for _, n := range c.notes {
		if c.Listed != nil {
			c.Listed(n[0], n[1])
		}
	}
	c.notes = nil
}

// tellDoubts reports the doubts of the source, and of the file of a mixture, that were not reported before.
func (c *Conversion) tellDoubts() {
	c.tellListed()
	if c.Doubt == nil {
		return
	}
	var doubts []converters.Doubt
	if c.Mixture != nil {
		doubts = slices.Clone(c.Mixture.spec.Doubts)
	}
	if from, ok := c.src.(converters.Doubter); ok {
		doubts = append(doubts, from.Doubts()...)
	}
	doubts = append(doubts, converters.SeriesDoubts(c.listed())...)
	doubts = append(doubts, input.LaidDoubts(c.found)...)
	for _, d := range doubts {
		if c.told[d] {
			continue
		}
		if c.told == nil {
			c.told = make(map[converters.Doubt]bool)
		}
		c.told[d] = true
		c.Doubt(d)
	}
}
