package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/check"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/findings"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/input/remote"
	"github.com/ffconvert/ffconvert/input/stage"
)

// checkedInputs are the inputs of a check. They are found and opened together, as in a conversion;
// if that fails, one by one, so that every input with an error gets its own finding.
type checkedInputs struct {
	in      stage.Options
	found   []input.Name
	taken   map[string]bool   // paths and URLs of found, if they were found one by one
	parts   []converters.Part // of the inputs that could be opened
	sets    []*stage.Set
	refused []findings.Finding
}

// find finds the inputs that the arguments name. It returns an error only if the command line is
// wrong; an input that cannot be used becomes a finding.
func (c *checkedInputs) find(ctx context.Context, args []string) error {
	args, err := input.Lists(ctx, args, c.in.Options)
	if err != nil {
		return c.refuse(ctx, err)
	}
	found, err := input.Find(ctx, args, c.in.Options)
	if err == nil {
		c.found = found
		return nil
	}
	if err := c.refuse(ctx, err); err != nil {
		return err
	}
	c.refused, c.taken = nil, make(map[string]bool)
	for _, arg := range args {
		if err := c.look(ctx, arg); err != nil {
			return err
		}
	}
	return nil
}

// look finds the inputs of one name. If that fails it looks at each piece of the name by itself.
func (c *checkedInputs) look(ctx context.Context, name string) error {
	found, err := input.Find(ctx, []string{name}, c.in.Options)
	if err == nil {
		for _, n := range found {
			at := cmp.Or(n.URL(), n.Path)
			if at == "" || !c.taken[at] {
				c.found = append(c.found, n)
			}
			c.taken[at] = true
		}
		return nil
	}
	pieces, perr := c.pieces(name)
	if perr != nil || len(pieces) == 0 {
		return c.refuse(ctx, cmp.Or(perr, err))
	}
	for _, piece := range pieces {
		if err := c.look(ctx, piece); err != nil {
			return err
		}
	}
	return nil
}

// pieces expands a pattern, a glob or a directory; it returns none for the name of one file.
func (c *checkedInputs) pieces(name string) ([]string, error) {
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
func (c *checkedInputs) refuseOthers(conv *conversion) {
	c.found = slices.DeleteFunc(c.found, func(n input.Name) bool {
		err := conv.explain(conv.Reader.CheckKind([]input.Name{n}))
		if err != nil {
			c.refused = append(c.refused, check.Refusal(err, n.Name))
		}
		return err != nil
	})
}

// open opens the inputs that were found, as parts.
func (c *checkedInputs) open(ctx context.Context) error {
	if len(c.found) == 0 {
		return nil
	}
	// Standard input and the output of a command can be read once: they are never opened twice.
	if !slices.ContainsFunc(c.found, func(n input.Name) bool { return n.Path == "" && n.URL() == "" }) {
		set, err := stage.Open(ctx, c.found, c.in)
		if err == nil {
			c.take(set)
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
	}
	for i := range c.found {
		set, err := stage.Open(ctx, c.found[i:i+1], c.in)
		if err == nil {
			c.take(set)
		} else if err := c.refuse(ctx, err); err != nil {
			return err
		}
	}
	return nil
}

func (c *checkedInputs) take(set *stage.Set) {
	c.sets = append(c.sets, set)
	c.parts = append(c.parts, set.Parts()...)
}

// source opens a source of the parts. A part that the source refuses becomes a finding and is left
// out.
func (c *checkedInputs) source(ctx context.Context, conv *conversion) (converters.Source, error) {
	for len(c.parts) > 0 {
		src, err := conv.Reader.Open(ctx, c.parts, conv.Encode)
		if err == nil {
			return src, nil
		}
		at, placed := errors.AsType[*converters.Error](err)
		if !placed || ctx.Err() != nil {
			return nil, err
		}
		left := withoutPart(c.parts, at.Where)
		if len(left) == len(c.parts) {
			left = nil // the error is not of one part
		}
		c.refused = append(c.refused, check.Refusal(err, at.Where))
		c.parts = left
	}
	return nil, nil
}

// cleanup removes the staged copies that are not in a cache.
func (c *checkedInputs) cleanup() error {
	var err error
	for _, set := range c.sets {
		err = errors.Join(err, set.Release())
	}
	return err
}

// refuse makes a finding of the error of an input. Other errors are returned: of the command line, of
// the cache, or of ctx.
func (c *checkedInputs) refuse(ctx context.Context, err error) error {
	at, placed := errors.AsType[*input.Error](err)
	switch {
	case err == nil:
		return nil
	case !placed, ctx.Err() != nil, errors.Is(err, input.ErrPattern), errors.Is(err, input.ErrRepeated), errors.Is(err, input.ErrScheme), errors.Is(err, input.ErrList), errors.Is(err, remote.ErrSetting):
		return err
	}
	f := findings.Finding{Place: findings.Place{File: at.Where, Offset: at.Off}, Text: at.Err.Error(), Hint: at.Hint, Rule: inputRule(at)}
	if hint := remoteHint(at); hint != "" {
		f.Hint = strings.TrimPrefix(f.Hint+"; "+hint, "; ")
	}
	if inner, ok := errors.AsType[*converters.Error](at.Err); ok { // an error about names in a directory
		f.Text = terminal.ErrorText(inner)
	}
	c.refused = append(c.refused, f)
	return nil
}

// inputRule returns the check rule for the error of an input.
func inputRule(err error) string {
	for _, row := range []struct {
		err  error
		rule string
	}{
		{input.ErrNotFound, check.Missing},
		{input.ErrNoMatch, check.Missing},
		{input.ErrNotRegular, check.Unsupported},
		{input.ErrNotDirectory, check.Unsupported},
		{input.ErrKey, check.Unsupported},
		{stage.ErrTruncated, check.Truncated},
		{input.ErrMalformed, check.Malformed},
		{stage.ErrCompression, check.Unsupported},
		{input.ErrChanged, check.Changed},
		{stage.ErrRatio, check.Limit},
		{stage.ErrQuota, check.Limit},
		{input.ErrCommand, check.Truncated},
		{remote.ErrLength, check.Truncated},
		{remote.ErrSum, check.Malformed},
		{remote.ErrPage, check.Malformed},
		{remote.ErrDenied, check.Missing},
		{remote.ErrTLS, check.Missing},
		{remote.ErrRedirect, check.Missing},
	} {
		if errors.Is(err, row.err) {
			return row.rule
		}
	}
	return check.RuleOf(err)
}

// withoutPart returns parts without the part called name, or the directory that contains name.
func withoutPart(parts []converters.Part, name string) []converters.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p converters.Part) bool {
		return p.Name == name || strings.HasPrefix(name, strings.TrimSuffix(p.Name, "/")+"/")
	})
}
