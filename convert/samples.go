package convert

import (
	"context"
	"errors"

	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/stage"
)

// SamplesOptions say how samples are opened.
type SamplesOptions struct {
	Input  stage.Options
	Limits decode.Limits // of lists and maps in records
	Clash  bool          // keys of several datasets may clash

	Listed func(name, found string) // as Options.Listed; it may be nil
}

// WithSamples finds the shards that the sources name, makes them local files, opens them and calls use. r is a
// Reader of the format ffr. Copies that Input.CacheDir does not keep are removed in the end.
func WithSamples(ctx context.Context, r *format.Reader, sources []string, opts SamplesOptions, use func(*format.Samples) error) (err error) {
	in := opts.Input
	in.Options = r.InputOptions(in.Options)
	in.Laid = nil // nothing here says what was taken
	var notes [][2]string
	in.Note = func(name, found string) { notes = append(notes, [2]string{name, found}) }
	found, err := input.Find(ctx, sources, in.Options)
	if err != nil {
		return err
	}
	if err := r.CheckKind(found); err != nil {
		return err
	}
	if in.CacheDir == "" {
		remove := TemporaryCache(&in)
		defer func() { err = errors.Join(err, remove()) }()
	}
	set, err := stage.Open(ctx, found, in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, set.Release()) }()
	b := NewBeside(in)
	defer func() { err = errors.Join(err, b.Release()) }()
	s, err := r.Samples(ctx, format.OpenRequest{Parts: set.Parts, Records: encode.Options{Limits: opts.Limits}, Files: b}, opts.Clash)
	if err != nil {
		return err
	}
	for _, n := range notes {
		if opts.Listed != nil {
			opts.Listed(n[0], n[1])
		}
	}
	return use(s)
}
