package convert

import (
	"cmp"
	"runtime"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A request is a conversion before its inputs are found. If Encode.Encoding is "", the source proposes one when it is
// opened.
type request struct {
	Conversion
	collections []collection
	program     *input.Command // its output is the input; nil: none

	command   string     // run or repair, of existing
	existing  *plan.Plan // the plan whose shards are written; nil: make a new one
	renamed   bool       // the caller names sources that replace the names in the plan
	firstPart int        // number in the dataset of existing.Parts[0]

	notes    [][2]string               // for Listed, until they are reported
	reported map[converters.Doubt]bool // doubts that were reported to Doubt
}

// resolve returns the request for a new dataset.
func (c Conversion) resolve() (r *request, err error) {
	r = &request{Conversion: c, collections: []collection{{Reader: c.Reader}}}
	if c.Spec != nil {
		if r.collections, err = newCollections(c.Spec, c.Limits); err != nil {
			return nil, err
		}
	}
	r.Workers = cmp.Or(max(0, r.Workers), runtime.GOMAXPROCS(0))
	if err := r.checkChoice(); err != nil {
		return nil, err
	}
	if load := c.Choice.Fields(); load != nil {
		r.Encode.Load = load
	}
	parsed, err := encode.Parse(r.Encode)
	if err != nil {
		return nil, err
	}
	r.Encode = parsed.Options()
	r.Encode.Encoding = c.Encode.Encoding
	if c.Program != nil || c.Filter != nil {
		r.Encode.Encoding = cmp.Or(c.Encode.Encoding, "msgpack") // CBOR is how a program hands over samples, not a proposal
	}
	if c.Program != nil {
		r.program, err = c.Program(c.Reader.Name)
	}
	return r, err
}

// choice returns the choice for a new plan; nil: all samples.
func (r *request) choice() *choose.Options {
	if r.existing != nil || r.Choice.IsZero() {
		return nil
	}
	return &r.Choice
}

// checkChoice checks the choice before anything is read.
func (r *request) checkChoice() error {
	if r.choice() == nil {
		return nil
	}
	if r.Choice.Sort != "" && r.Shuffle != nil {
		return place.Options("%s", option.Clash("sort", "shuffle"))
	}
	trial := r.Choice
	if trial.SplitBy != "" {
		trial.Value = "x" // not known yet
	}
	_, err := choose.New(trial, nil)
	return err
}

// checkTaskChoice returns an error for a choice that one process must index all parts for.
func checkTaskChoice(o *choose.Options) error {
	const why = "no task can know that, as each indexes some parts"
	switch {
	case o.Ordered():
		return place.Options("option limit and option slice count the samples of all parts; %s", why)
	case o.Sort != "":
		return place.Options("option sort compares the samples of all parts; %s", why)
	case o.Listed():
		return place.Options("option unknown-keys=error looks for each key in all parts; %s: option unknown-keys=skip", why)
	}
	return nil
}

// planOptions returns the plan options before anything is read. The encoding is the caller's, or "".
func (r *request) planOptions() (plan.Options, error) {
	source, err := r.sourceSpec()
	return plan.Options{Recipe: plan.Recipe{Source: source, Encode: r.Encode, Shuffle: r.Shuffle, Choice: r.choice()}, Sizes: r.Sizes}, err
}

// sourceSpec returns the format and its options for the plan.
func (r *request) sourceSpec() (source plan.SourceSpec, err error) {
	switch {
	case r.existing != nil:
		return r.existing.Source, nil
	case r.Spec != nil:
		text, err := r.Spec.Text()
		if err != nil {
			return source, err
		}
		source = plan.SourceSpec{Format: SpecFormat, Options: map[string]string{plan.OptionSpec: text}}
	default:
		source = plan.SourceSpec{Format: r.Reader.Name, Options: r.Reader.Set.Kept()}
	}
	if r.Filter != nil {
		source.Filter = r.Filter.Name
	}
	return source, nil
}

// named returns the sources as the caller named them, without secrets.
func (r *request) named() []string {
	named := slices.Clone(r.Sources)
	for i, name := range named {
		named[i] = input.Shown(name)
	}
	return named
}

// report calls Listed with new notes on listings, and Doubt with each doubt that was not reported before.
func (r *request) report(doubts []converters.Doubt) {
	for _, n := range r.notes {
		if r.Listed != nil {
			r.Listed(n[0], n[1])
		}
	}
	r.notes = nil
	for _, d := range doubts {
		if r.Doubt == nil || r.reported[d] {
			continue
		}
		if r.reported == nil {
			r.reported = make(map[converters.Doubt]bool)
		}
		r.reported[d] = true
		r.Doubt(d)
	}
}
