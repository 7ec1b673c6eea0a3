package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/check"
	"github.com/ffconvert/ffconvert/internal/findings"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/internal/store"
)

// checkInputs are the inputs of a check. They are found and opened together, as in a conversion;
// if that fails, one by one, so that every input with an error gets its own finding.
type checkInputs struct {
	in      stage.Options
	found   []input.Name
	taken   map[string]bool   // paths and URLs of found, if they were found one by one
	parts   []converters.Part // of the inputs that could be opened
	sets    []*stage.Set
	refused []findings.Finding
}

// find finds the inputs that the arguments name. It returns an error only if the command line is
// wrong; an input that cannot be used becomes a finding.
func (c *checkInputs) find(ctx context.Context, args []string) error {
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
func (c *checkInputs) look(ctx context.Context, names []string) error {
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
func (c *checkInputs) pieces(name string) ([]string, error) {
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

// refuseOthers makes a finding of each file that is certainly of a kind that the format does not read. explain
// adds the hints to its error.
func (c *checkInputs) refuseOthers(r *format.Reader, explain func(error) error) {
	c.found = slices.DeleteFunc(c.found, func(n input.Name) bool {
		err := explain(r.CheckKind([]input.Name{n}))
		if err != nil {
			c.refused = append(c.refused, check.Refusal(err, n.Name))
		}
		return err != nil
	})
}

// open opens inputs that were found, as parts.
func (c *checkInputs) open(ctx context.Context, found []input.Name) error {
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
func (c *checkInputs) source(ctx context.Context, r *format.Reader, req format.OpenRequest) (converters.Source, error) {
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
		c.refused = append(c.refused, check.Refusal(err, at.Where))
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
func (c *checkInputs) release() error {
	var err error
	for _, set := range c.sets {
		err = errors.Join(err, set.Release())
	}
	return err
}

// refuse makes a finding of the error of an input. Other errors are returned: of the command line, of
// the cache, or of ctx.
func (c *checkInputs) refuse(ctx context.Context, err error) error {
	at, placed := errors.AsType[*place.Error](err)
	if !placed || ctx.Err() != nil || place.KindOf(err) == place.Usage {
		return err
	}
	f := findings.Finding{Place: findings.Place{File: at.Where, Offset: at.Off}, Text: at.Err.Error(), Hint: at.Hint, Rule: inputRule(at)}
	if inner, ok := errors.AsType[*converters.Error](at.Err); ok { // an error about names in a directory
		f.Text = terminal.ErrorText(inner)
	}
	c.refused = append(c.refused, f)
	return nil
}

// inputRule returns the rule of check for the error of an input.
func inputRule(err error) string {
	for _, row := range []struct {
		rule string
		errs []error
	}{
		{check.Missing, []error{input.ErrNotFound, input.ErrNoMatch}},
		{check.Unsupported, []error{input.ErrNotRegular, input.ErrNotDirectory, input.ErrKey}},
		{check.Truncated, []error{stage.ErrTruncated}},
		{check.Malformed, []error{input.ErrMalformed}},
		{check.Unsupported, []error{stage.ErrCompression}},
		{check.Changed, []error{input.ErrChanged}},
		{check.Limit, []error{stage.ErrRatio, stage.ErrQuota}},
		{check.Truncated, []error{input.ErrCommand, store.ErrLength}},
		{check.Malformed, []error{store.ErrSum, store.ErrPage}},
		{check.Missing, []error{store.ErrDenied, store.ErrTLS, store.ErrRedirect}},
	} {
		if slices.ContainsFunc(row.errs, func(kind error) bool { return errors.Is(err, kind) }) {
			return row.rule
		}
	}
	return check.RuleOf(err)
}
