package audit

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
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/internal/store"
)

// Inputs are the inputs of a check. They are found and opened together, as in a conversion;
// if that fails, one by one, so that every input with an error gets its own finding.
type Inputs struct {
	In      stage.Options
	Found   []input.Name
	taken   map[string]bool   // paths and URLs of Found, if they were found one by one
	parts   []converters.Part // of the inputs that could be opened
	sets    []*stage.Set
	Refused []findings.Finding
}

// Find finds the inputs that the arguments name. It returns an error only if the command line is
// wrong; an input that cannot be used becomes a finding.
func (c *Inputs) Find(ctx context.Context, args []string) error {
	args, err := input.Lists(ctx, args, c.In.Options)
	if err != nil {
		return c.Refuse(ctx, err)
	}
	found, err := input.Find(ctx, args, c.In.Options)
	if err == nil {
		c.Found = found
		return nil
	}
	if err := c.Refuse(ctx, err); err != nil {
		return err
	}
	c.Refused, c.taken = nil, make(map[string]bool)
	for _, arg := range args {
		if err := c.look(ctx, arg); err != nil {
			return err
		}
	}
	return nil
}

// look finds the inputs of one name. If that fails it looks at each piece of the name by itself.
func (c *Inputs) look(ctx context.Context, name string) error {
	found, err := input.Find(ctx, []string{name}, c.In.Options)
	if err == nil {
		for _, n := range found {
			at := cmp.Or(n.URL(), n.Path)
			if at == "" || !c.taken[at] {
				c.Found = append(c.Found, n)
			}
			c.taken[at] = true
		}
		return nil
	}
	pieces, perr := c.pieces(name)
	if perr != nil || len(pieces) == 0 {
		return c.Refuse(ctx, cmp.Or(perr, err))
	}
	for _, piece := range pieces {
		if err := c.look(ctx, piece); err != nil {
			return err
		}
	}
	return nil
}

// pieces expands a pattern, a glob or a directory; it returns none for the name of one file.
func (c *Inputs) pieces(name string) ([]string, error) {
	entries, err := os.ReadDir(name)
	switch {
	case err == nil && !c.In.Directories && c.In.Arrange == nil:
		var names []string
		for _, e := range entries {
			if !e.IsDir() && e.Name()[0] != '.' && (c.In.Match == nil || c.In.Match(e.Name())) {
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
	for n, err := range input.Expand(name, c.In.Options) {
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

// RefuseOthers makes a finding of each file that is certainly of a kind that the format does not read. explain
// adds the hints to its error.
func (c *Inputs) RefuseOthers(r *format.Reader, explain func(error) error) {
	c.Found = slices.DeleteFunc(c.Found, func(n input.Name) bool {
		err := explain(r.CheckKind([]input.Name{n}))
		if err != nil {
			c.Refused = append(c.Refused, check.Refusal(err, n.Name))
		}
		return err != nil
	})
}

// Open opens the inputs that were found, as parts.
func (c *Inputs) Open(ctx context.Context) error {
	if len(c.Found) == 0 {
		return nil
	}
	// Standard input and the output of a command can be read once: they are never opened twice.
	if !slices.ContainsFunc(c.Found, func(n input.Name) bool { return n.Path == "" && n.URL() == "" }) {
		set, err := stage.Open(ctx, c.Found, c.In)
		if err == nil {
			c.take(set)
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
	}
	for i := range c.Found {
		set, err := stage.Open(ctx, c.Found[i:i+1], c.In)
		if err == nil {
			c.take(set)
		} else if err := c.Refuse(ctx, err); err != nil {
			return err
		}
	}
	return nil
}

func (c *Inputs) take(set *stage.Set) {
	c.sets = append(c.sets, set)
	c.parts = append(c.parts, set.Parts()...)
}

// Source opens a source of the parts, as req says. A part that the source refuses becomes a finding and is left
// out.
func (c *Inputs) Source(ctx context.Context, r *format.Reader, req format.OpenRequest) (converters.Source, error) {
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
		left := withoutPart(c.parts, at.Where)
		if len(left) == len(c.parts) {
			left = nil // the error is not of one part
		}
		c.Refused = append(c.Refused, check.Refusal(err, at.Where))
		c.parts = left
	}
	return nil, nil
}

// Cleanup removes the staged copies that are not in a cache.
func (c *Inputs) Cleanup() error {
	var err error
	for _, set := range c.sets {
		err = errors.Join(err, set.Release())
	}
	return err
}

// Refuse makes a finding of the error of an input. Other errors are returned: of the command line, of
// the cache, or of ctx.
func (c *Inputs) Refuse(ctx context.Context, err error) error {
	at, placed := errors.AsType[*input.Error](err)
	switch {
	case err == nil:
		return nil
	case !placed, ctx.Err() != nil, errors.Is(err, input.ErrPattern), errors.Is(err, input.ErrRepeated), errors.Is(err, input.ErrScheme), errors.Is(err, input.ErrList), errors.Is(err, store.ErrSetting):
		return err
	}
	f := findings.Finding{Place: findings.Place{File: at.Where, Offset: at.Off}, Text: at.Err.Error(), Hint: at.Hint, Rule: inputRule(at)}
	if inner, ok := errors.AsType[*converters.Error](at.Err); ok { // an error about names in a directory
		f.Text = terminal.ErrorText(inner)
	}
	c.Refused = append(c.Refused, f)
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
		{store.ErrLength, check.Truncated},
		{store.ErrSum, check.Malformed},
		{store.ErrPage, check.Malformed},
		{store.ErrDenied, check.Missing},
		{store.ErrTLS, check.Missing},
		{store.ErrRedirect, check.Missing},
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
