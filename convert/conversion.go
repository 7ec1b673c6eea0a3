package convert

import (
	"context"
	"time"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/internal/samples/spec"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A Cut determines where shards may be cut.
type Cut int

const (
	CutAuto    Cut = iota // between parts if one is remote and the sizes of all are known, else at samples
	CutSamples            // at samples: all parts are made local first
	CutParts              // between parts, so that each is fetched once, when its shard is written
)

// Options control a conversion. The zero value of each field is its default. If a plan exists already, options that
// decide the bytes of shards are ignored: the plan has them.
type Options struct {
	Encode  encode.Options // of records; if Encoding is "", the format proposes one
	Sizes   plan.Sizes     // of shards
	Shuffle *plan.Shuffle  // nil: samples keep their order
	Choice  choose.Options // which samples; for Split and SplitBy see [Conversion.Sides]
	Cut     Cut

	// Filter is a program that reads all samples from its standard input as CBOR, and writes those of the dataset to its
	// standard output. Encode and Choice apply to its output. nil: none.
	Filter *Command
	// FilterTimeout limits how long the program may neither read nor write while samples are pending. 0: no limit.
	FilterTimeout time.Duration

	// Input controls how sources are found and staged. Directories, Match, Arrange and Progress are
	// ignored: the format and this package set them. If CacheDir is "", copies are made in a
	// directory of the output, which is removed at the end.
	Input stage.Options

	// Bucket controls how an output in an object store is written. Its Beside is set from IntoNonempty. Its Client is
	// Input.Remote by default.
	Bucket bucket.Options

	Workers      int         // shards written at once; 0: the CPUs that this process may use
	Overwrite    bool        // replace another dataset in the output
	IntoNonempty bool        // write into a directory that has other files, and leave these alone
	NoVerify     bool        // do not re-read the shards
	Verify       bool        // also re-read the shards that an earlier run has finished; Finish re-reads all
	AIO          aio.Options // for re-reading
	SHA256       bool        // compute the SHA-256 of all files for the manifest; a dataset that was begun so goes on so
	Tool         string      // name and version of the program, for the manifest

	// Sign returns the signature of a manifest, as [signature.PrivateKey.Sign] does. nil: the dataset is not signed.
	// It implies SHA256.
	Sign func(manifest []byte) ([]byte, error)

	// Progress may be nil. It may also follow shards, see [write.Options]; have Fetched(bytes int64), which counts
	// fetched bytes; and Filtered(samples, bytes int64), which counts samples that the filter has answered and their bytes
	// in the sources.
	Progress plan.Progress
	// Doubt is called once for each doubt about the source. It may be nil.
	Doubt func(converters.Doubt)
	// Listed is called once for each remote pattern or prefix, with a description of the found objects. It may be nil.
	Listed func(name, found string)
	// Waiting is called with the reason when a run waits before it begins, and every minute while Finish waits. It may be
	// nil.
	Waiting func(what string)
	// Drain is called before the first shard is written. When its channel is closed, workers finish
	// their shards and begin no other. It may be nil.
	Drain func() <-chan struct{}
}

// A Conversion describes a dataset to make. For Run, Repair, Finish and SignManifest it describes a dataset that has a plan.
type Conversion struct {
	// Reader is a reader of the format of all sources. nil: the formats are those of Spec, or of the plan.
	Reader *format.Reader
	// Spec has several collections, each with a format and sources: see [ReadSpec]. nil: see Reader.
	Spec *spec.Spec
	// Sources are paths, patterns, URLs, @lists and pipes, see package input, or the file of Spec. If there is a plan, nil
	// means the names in it.
	Sources []string
	// Program returns the program whose output replaces Sources; format is the name of that format in
	// plans. nil: none. The plan never decides that a program runs, since it may be hostile.
	Program func(format string) (*Command, error)
	// Limits are limits of formats by option name, for the collections of Spec and for plans. They take precedence
	// over those of Reader.
	Limits map[string]string

	// Columns: WithSamples gives records that are rows of numbers the fields of their columns.
	Columns bool

	Out string // a local directory, or a URL: s3://bucket/name/, gs://bucket/name/
	Options
}

// A Result is the report of a conversion.
type Result struct {
	*write.Report                         // Seconds covers all of Write
	Columns       []converters.ColumnType // columns, if the source is an opened table; else nil
	HeaderMissed  bool                    // the first lines are words but do not name the columns, and no option says so
	HeaderFound   bool                    // the first lines of the parts name the columns, and no option says so
}

// Write converts the sources: it finds and stages them, plans, writes shards, and commits them
// with a manifest. The same call resumes a Write that was interrupted.
func (c Conversion) Write(ctx context.Context) (*Result, error) {
	began := time.Now()
	in, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	var done Result
	err = in.inOutput(ctx, func(w *work, out *dataset.Writing) error {
		err := w.plan(ctx, out, nil, func(parts write.PartProvider, p *plan.Plan) (err error) {
			done.Report, err = write.All(ctx, parts, p, out, w.writeOptions())
			return err
		})
		done.Columns, done.HeaderMissed, done.HeaderFound = w.desc.Columns, w.desc.HeaderMissed, w.desc.HeaderFound
		return err
	})
	if err != nil {
		return nil, err
	}
	done.Seconds = time.Since(began).Seconds() // with the index and the plan
	return &done, nil
}

// A Command is a program that is run, for Options.Filter and Conversion.Program.
type Command = input.Command

// ReadSpec reads a YAML file that lists the collections of a dataset, for Conversion.Spec.
func ReadSpec(file string) (*spec.Spec, error) { return spec.Read(file) }

// NewRemote returns the client of object stores and web servers for Options.Input.Remote, with the settings of the
// environment: AWS_*, AIS_ENDPOINT, GOOGLE_APPLICATION_CREDENTIALS. It may be used concurrently.
func NewRemote() *store.Client { return store.New(store.Options{}) }
