package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/internal/text"
)

// ErrNotAligned reports a conversion whose shards cannot be part-aligned.
var ErrNotAligned = errors.New("shards cannot be part-aligned")

// An inputs is a request with the files, objects and directories that its sources match.
type inputs struct {
	*request
	names   []input.Name
	counts  []int // number of inputs of each collection, in order
	aligned bool  // shards will be part-aligned
}

// begin resolves a conversion into a new dataset and finds its inputs.
func (c Conversion) begin(ctx context.Context) (*inputs, error) {
	if err := c.checkOut(); err != nil {
		return nil, err
	}
	if c.NoVerify && (c.SHA256 || c.Sign != nil) { // else an output to be replaced would be gone when the writer says so
		return nil, place.Options("%s", option.Clash("sha256", "no-verify"))
	}
	if c.Choice.Split != "" && c.Choice.Side == "" || c.Choice.SplitBy != "" && c.Choice.Value == "" {
		return nil, place.Options("a split makes a dataset of each side: see Conversion.Sides")
	}
	return c.findAll(ctx)
}

// findAll resolves a new conversion and finds its inputs. It makes all checks that do not need the output.
func (c Conversion) findAll(ctx context.Context) (*inputs, error) {
	r, err := c.resolve()
	if err != nil {
		return nil, err
	}
	in, err := r.find(ctx)
	if err != nil {
		return nil, err
	}
	if err := in.checkInside(); err != nil {
		return nil, err
	}
	if c.Reader != nil && c.Program == nil {
		if err := c.Reader.CheckKind(in.names); err != nil {
			return nil, err
		}
	}
	return in, in.align()
}

// inputOptions returns Input with the defaults of the conversion. CacheDir may be "": work sets it.
func (r *request) inputOptions() stage.Options {
	in := r.Input
	if r.Reader != nil {
		in.Options = r.Reader.InputOptions(in.Options)
	}
	in.Workers = cmp.Or(in.Workers, r.Workers)
	in.Note = func(name, found string) { r.notes = append(r.notes, [2]string{name, found}) }
	return in
}

// find finds the inputs: the files that match the sources, or the output of the program.
func (r *request) find(ctx context.Context) (in *inputs, err error) {
	in = &inputs{request: r}
	switch {
	case r.Spec != nil:
		return in, in.findEach(ctx)
	case r.program != nil:
		in.names = []input.Name{input.FromCommand(*r.program)}
	default:
		in.names, err = input.Find(ctx, r.Sources, r.inputOptions().Options)
	}
	in.counts = []int{len(in.names)}
	return in, err
}

// findEach finds the inputs of all collections of a specification, in order.
func (in *inputs) findEach(ctx context.Context) error {
	opts := in.inputOptions().Options
	opts.Stdin = noInput{} // a file or a plan must not make the program read standard input
	total := int64(0)
	for _, c := range in.collections {
		found, err := input.Find(ctx, c.entry.Shards, c.InputOptions(opts))
		if err != nil {
			return c.entry.Error("", err)
		}
		if slices.ContainsFunc(found, isStdin) {
			return c.entry.Error("", &converters.Error{Where: "-", Off: -1, Err: fmt.Errorf("%w: standard input cannot be mixed", converters.ErrUnsupported), Hint: "write it to a file first"})
		}
		in.counts = append(in.counts, len(found))
		in.names = append(in.names, found...)
		total += int64(len(found)) * int64(c.passes())
		if most := cmp.Or(opts.MaxNames, input.MaxNames); total > most {
			return advise(c.entry.Error("", fmt.Errorf("with all repetitions there are more than %s", text.Count(most, "input"))), "option max-names")
		}
	}
	return nil
}

func isStdin(n input.Name) bool { return n.Name == "-" && n.Path == "" }

// A noInput replaces standard input, and returns an error on reading.
type noInput struct{}

func (noInput) Read([]byte) (int, error) {
	return 0, fmt.Errorf("%w: a specification takes nothing from standard input", converters.ErrUnsupported)
}

// align decides whether shards are part-aligned: by default if a part is remote.
func (in *inputs) align() error {
	unknown, remote := "", false
	for _, n := range in.names {
		if n.Size < 0 {
			unknown = n.Name
		}
		remote = remote || n.Object != nil
	}
	why := ""
	switch {
	case in.joins():
		why = "keys are compared or looked up, classes numbered, or the parts one stream, so all must be indexed first"
	case in.directories() != nil:
		why = "a directory is indexed as one"
	case in.Shuffle != nil:
		why = "a shuffle draws from all samples, so all parts must be here first"
	case in.choice() != nil:
		why = "samples are chosen by an index of all parts, so these must be here first"
	case unknown != "":
		why = fmt.Sprintf("the size of %s is not known beforehand", unknown)
	}
	if in.Cut == CutParts && why != "" {
		return advise(fmt.Errorf("%w: %s", ErrNotAligned, why), notAligned)
	}
	in.aligned = why == "" && (in.Cut == CutParts || in.Cut == CutAuto && remote)
	return nil
}

// joins reports whether a collection compares the keys of all samples, or looks them up.
func (in *inputs) joins() bool {
	parts := make([]converters.Part, len(in.names))
	for i, n := range in.names {
		parts[i] = n.Part()
	}
	for i, some := range split(in, parts) {
		if len(some) > 0 && in.collections[i].Joins(some) {
			return true
		}
	}
	return false
}

// directories returns the inputs that are directories.
func (in *inputs) directories() []input.Name {
	var dirs []input.Name
	for _, n := range in.names {
		if n.Directory || n.Tree != nil {
			dirs = append(dirs, n)
		}
	}
	return dirs
}

// trimmable reports whether some of the first inputs may contain all wanted samples.
func (in *inputs) trimmable() bool {
	return in.choice() != nil && in.Choice.Ordered() && in.Spec == nil && in.program == nil && in.directories() == nil && !in.joins() && len(in.names) > 1
}

// parts returns the parts before staging.
func (in *inputs) parts() []converters.Part {
	all := passes(in, in.names)
	parts := make([]converters.Part, len(all))
	for i, n := range all {
		parts[i] = n.Part()
	}
	return parts
}

// places returns the index of the input of each part: a collection may be read in several passes. It is not for
// directories, whose parts are not known yet.
func (in *inputs) places() []int {
	return passes(in, indices(len(in.names)))
}

// passes returns the elements of each, one for each input, in part order: repeated for each pass over a collection.
func passes[T any](in *inputs, each []T) (all []T) {
	for i, some := range split(in, each) {
		for range in.collections[i].passes() {
			all = append(all, some...)
		}
	}
	return all
}

// split divides all, which has one element for each input, among the collections.
func split[T any](in *inputs, all []T) [][]T {
	each := make([][]T, len(in.counts))
	for i, n := range in.counts {
		each[i], all = all[:n:n], all[n:]
	}
	return each
}

func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// listed returns the inputs that come from directories, patterns and lists.
func (in *inputs) listed() []string {
	named := make(map[string]bool, len(in.Sources))
	for _, name := range in.Sources {
		named[name] = true
	}
	var names []string
	for i := range in.names {
		if !named[in.names[i].Name] {
			names = append(names, in.names[i].Name)
		}
	}
	return names
}
