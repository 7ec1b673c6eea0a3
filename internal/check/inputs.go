package check

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/findings"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/stage"
)

// Inputs are the names of inputs, and how they are found and read.
type Inputs struct {
	Names  []string
	Format *format.Reader
	Stage  stage.Options

	// Explain adds to the error of a file of another format what reads it.
	Explain func(error) error
	// Warn receives doubts about the way in which directories are laid out.
	Warn func(converters.Doubt)
}

// Named finds the inputs, opens a source of all that can be read, and checks it. An input that cannot be used is a finding. An
// error means that the names or the options are wrong, or that ctx ended.
func Named(ctx context.Context, from Inputs, opts Options) (report *findings.Report, err error) {
	in := from.Stage
	in.Options = from.Format.InputOptions(in.Options)
	if in.CacheDir == "" {
		remove := convert.TemporaryCache(&in)
		defer func() { err = errors.Join(err, remove()) }()
	}
	c := inputs{in: in}
	defer func() { err = errors.Join(err, c.release()) }()
	if err := c.find(ctx, from.Names); err != nil {
		return nil, err
	}
	siblings := convert.NewSiblings(in, c.found)
	defer func() { err = errors.Join(err, siblings.Release()) }()
	for _, d := range input.LaidDoubts(c.found) {
		from.Warn(d)
	}
	c.refuseOthers(from)
	c.in.Progress = convert.Staging(opts.Progress, c.found)
	if err := c.open(ctx, c.found); err != nil {
		return nil, err
	}
	src, err := c.source(ctx, from.Format, format.OpenRequest{Records: opts.Encode, Files: siblings, DecodeKnown: opts.Deep})
	if err != nil {
		return nil, err
	}
	opts.Refused = c.refused
	return Source(ctx, src, opts)
}

// inputs are found and opened together, as in a conversion; if that fails, one by one, so that every input with an error
// gets its own finding.
type inputs struct {
	in      stage.Options
	found   []input.Name
	taken   map[string]bool   // paths and URLs of found, if they were found one by one
	parts   []converters.Part // of the inputs that could be opened
	sets    []*stage.Set
	refused []findings.Finding
}

// find finds the inputs that the arguments name. It returns an error only if the command line is
// wrong; an input that cannot be used becomes a finding.
func (c *inputs) find(ctx context.Context, args []string) error {
	args, err := input.Lists(ctx, args, c.in.Options)
	if err != nil {
		return c.refuse(ctx, err)
	}
	if c.found, err = input.Find(ctx, args, c.in.Options); err == nil {
		return nil
	}
	if err := c.refuse(ctx, err); err != nil {
		return err
	}
	c.found, c.refused, c.taken = nil, nil, make(map[string]bool)
	return c.look(ctx, args)
}

// look finds the inputs of each name. If that fails it looks at each piece of the name by itself.
func (c *inputs) look(ctx context.Context, names []string) error {
	for _, name := range names {
		found, err := input.Find(ctx, []string{name}, c.in.Options)
		if err != nil {
			pieces, perr := c.pieces(name)
			if perr != nil || len(pieces) == 0 {
				err = c.refuse(ctx, cmp.Or(perr, err))
			} else {
				err = c.look(ctx, pieces)
			}
			if err != nil {
				return err
			}
		}
		for _, n := range found {
			at := cmp.Or(n.URL(), n.Path)
			if at == "" || !c.taken[at] {
				c.found = append(c.found, n)
			}
			c.taken[at] = true
		}
	}
	return nil
}

// pieces expands a pattern, a glob or a directory; it returns none for the name of one file.
func (c *inputs) pieces(name string) ([]string, error) {
	entries, err := os.ReadDir(name)
	switch {
	case err == nil && !c.in.Directories && c.in.Arrange == nil:
		var names []string
		for _, e := range entries {
			if !e.IsDir() && e.Name()[0] != '.' && (c.in.Match == nil || c.in.Match(e.Name())) {
				names = append(names, filepath.Join(name, e.Name()))
			}
		}
		return names, nil
	case err == nil:
		return nil, nil
	}
	if there, err := input.Exists(name); err != nil || there {
		return nil, err
	}
	var names []string
	for n, err := range input.Expand(name, c.in.Options) {
		if err != nil {
			return nil, err
		}
		names = append(names, n)
	}
	if !slices.Equal(names, []string{name}) {
		return names, nil
	}
	names, _ = filepath.Glob(name) // a bad pattern gives none, and is refused as a name
	return slices.DeleteFunc(names, func(n string) bool { return n == name }), nil
}

// refuseOthers makes a finding of each file that is certainly of a kind that the format does not read.
func (c *inputs) refuseOthers(from Inputs) {
	c.found = slices.DeleteFunc(c.found, func(n input.Name) bool {
		err := from.Explain(from.Format.CheckKind([]input.Name{n}))
		if err != nil {
			c.refused = append(c.refused, Refusal(err, n.Name))
		}
		return err != nil
	})
}

// open opens inputs that were found, as parts.
func (c *inputs) open(ctx context.Context, found []input.Name) error {
	if len(found) == 0 {
		return nil
	}
	var err error
	// Standard input and the output of a command can be read once: they are never opened twice.
	if len(found) == 1 || !slices.ContainsFunc(found, func(n input.Name) bool { return n.Path == "" && n.URL() == "" }) {
		var set *stage.Set
		if set, err = stage.Open(ctx, found, c.in); err == nil {
			c.sets, c.parts = append(c.sets, set), append(c.parts, set.Parts...)
			return nil
		}
	}
	if len(found) == 1 || err != nil && ctx.Err() != nil {
		return c.refuse(ctx, err)
	}
	for i := range found {
		if err := c.open(ctx, found[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// source opens a source of the parts, as req says. A part that the source refuses becomes a finding and is left
// out.
func (c *inputs) source(ctx context.Context, r *format.Reader, req format.OpenRequest) (converters.Source, error) {
	for len(c.parts) > 0 {
		req.Parts = c.parts
		src, err := r.Open(ctx, req)
		if err == nil {
			return src, nil
		}
		at, placed := errors.AsType[*converters.Error](err)
		if !placed || ctx.Err() != nil {
			return nil, err
		}
		c.refused = append(c.refused, Refusal(err, at.Where))
		// The part of that name, or the directory that has it.
		left := slices.DeleteFunc(slices.Clone(c.parts), func(p converters.Part) bool {
			return p.Name == at.Where || strings.HasPrefix(at.Where, strings.TrimSuffix(p.Name, "/")+"/")
		})
		if len(left) == len(c.parts) {
			left = nil // the error is not of one part
		}
		c.parts = left
	}
	return nil, nil
}

// release removes the staged copies that are not in a cache.
func (c *inputs) release() error {
	var err error
	for _, set := range c.sets {
		err = errors.Join(err, set.Release())
	}
	return err
}

// refuse makes a finding of the error of an input. Other errors are returned: of the command line, of
// the cache, or of ctx.
func (c *inputs) refuse(ctx context.Context, err error) error {
	if _, placed := errors.AsType[*place.Error](err); !placed || ctx.Err() != nil || place.KindOf(err) == place.Usage {
		return err
	}
	c.refused = append(c.refused, Refusal(err, ""))
	return nil
}
