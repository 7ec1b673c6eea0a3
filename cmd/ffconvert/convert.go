package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/internal/text"
)

// newConvertCommand returns the command of a format. adapt, if not nil, may change each conversion
// before it runs.
func newConvertCommand(f sourceFormat, adapt func(*conversion)) *cobra.Command {
	opts := cliflag.NewConversion()
	cmd := &cobra.Command{
		Use:     f.Name + " " + f.source + " OUT",
		Short:   "Convert " + f.short,
		Long:    f.long + "\n\n" + f.sourceHelp() + outputHelp + "\n\n" + exitStatus,
		Example: f.example,
		Args:    cliflag.WantArgs,
	}
	reader := f.Reader()
	cmd.Flags().SortFlags = false
	cliflag.AddOptions(cmd.Flags(), reader.Set)
	opts.AddTo(cmd)
	if !f.Directories {
		opts.AddDecompression(cmd.Flags())
	} else {
		cmd.Flags().Lookup("whole-parts").Hidden = true // refused: a directory is indexed as one
	}
	if f.plugin {
		opts.Place.AddConnection(cmd.Flags())
	} else {
		opts.Place.AddSources(cmd.Flags(), !f.Directories)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c := conversion{opts: opts, stdout: cmd.OutOrStdout()}
		c.Reader, c.Sources, c.Out = reader, args[:len(args)-1], args[len(args)-1]
		if adapt != nil {
			adapt(&c)
		}
		return c.explain(c.run(cmd.Context()))
	}
	return cmd
}

// A conversion is one run of a command that converts, plans or checks.
type conversion struct {
	convert.Conversion
	opts     cliflag.Conversion
	purpose  cliflag.Purpose
	planning *cliflag.Task // not nil: make a plan only; if it is given, index that slice of the parts only
	signedBy string        // ID of the key that signs the manifest; "": it is not signed
	stdout   io.Writer
}

// run runs the conversion, or one for each side of a split.
func (c *conversion) run(ctx context.Context) error {
	key, err := c.opts.Load(ctx)
	if err != nil {
		return err
	}
	if key != nil {
		c.signedBy = key.ID()
	}
	choice := c.opts.Choice
	if choice.Split == "" && choice.SplitBy == "" && (c.Reader == nil || c.Reader.Splits() == nil) {
		return c.one(ctx, choice)
	}
	sides, err := c.sides(ctx)
	if err != nil {
		return c.hint(err)
	}
	_, err = os.Lstat(c.Out)
	made := errors.Is(err, fs.ErrNotExist)
	for _, s := range sides {
		one := *c
		one.Conversion = s
		if c.opts.DryRun {
			fmt.Fprintf(c.stdout, "%s:\n", text.Name(s.Out))
		}
		if err := one.one(ctx, s.Choice); err != nil {
			if made {
				os.Remove(c.Out) // which fails if a side is in it
			}
			return err
		}
	}
	return nil
}

// sides returns the conversions of a split, which may have to index all samples.
func (c *conversion) sides(ctx context.Context) ([]convert.Conversion, error) {
	progress := terminal.NewReporter(c.opts.Progress, os.Stderr)
	defer progress.Stop()
	c.Options = c.opts.Ready(ctx, tool(), progress)
	return c.Sides(ctx)
}

func (c *conversion) one(ctx context.Context, choice choose.Options) error {
	progress := terminal.NewReporter(c.opts.Progress, os.Stderr)
	defer progress.Stop()
	c.Options = c.opts.Ready(ctx, tool(), progress)
	c.Choice = choice
	if err := cliflag.CheckEncoding(c.Encode); err != nil {
		return err
	}
	done, err := c.convert(ctx)
	if err != nil || done == nil {
		return c.hint(err)
	}
	progress.Say(done)
	return nil
}

// convert previews, indexes, plans or converts. The closing line is nil after a preview, which was
// printed.
func (c *conversion) convert(ctx context.Context) (fmt.Stringer, error) {
	switch {
	case c.opts.DryRun:
		p, err := c.Preview(ctx)
		if err != nil {
			return nil, err
		}
		return nil, terminal.PrintPreview(c.stdout, c.formatName(), p)
	case c.planning != nil && c.planning.Given():
		t := c.planning.Task
		done, err := c.IndexTask(ctx, t)
		if err != nil {
			return nil, err
		}
		return terminal.SliceDone(c.Out, t, done), nil
	case c.planning != nil:
		done, err := c.Plan(ctx)
		if err != nil {
			return nil, err
		}
		return terminal.PlanDone(c.Out, done), nil
	}
	done, err := c.Write(ctx)
	if err != nil {
		return nil, err
	}
	sum := terminal.ConversionDone(c.Out, done.Report)
	sum.Columns, sum.HeaderFound, sum.HeaderMissed = done.Columns, done.HeaderFound, done.HeaderMissed
	if c.Reader != nil && c.Reader.NoEnd && slices.Contains(c.Sources, "-") {
		sum.NoEnd = c.formatName()
	}
	sum.SignedBy = c.signedBy
	return sum, nil
}

// hint adds hints to the errors of a conversion.
func (c *conversion) hint(err error) error {
	if at, ok := errors.AsType[*place.Error](err); ok && at.Hint == convert.MoreRoomForAll {
		at.Hint = c.moreRoom()
	}
	_, empty := errors.AsType[*convert.EmptyError](err)
	if err = cliflag.Hint(err, "convert", c.Out); empty && c.Choice.Side != "" { // of a split
		err = fmt.Errorf("%s: %w", text.Name(c.Out), err)
	}
	return err
}

// moreRoom is the hint if the cache is too small for all parts together.
func (c *conversion) moreRoom() string {
	bySlice, orNot := "ffconvert plan "+c.formatName(), ""
	if c.Cut == convert.CutSamples {
		bySlice, orNot = bySlice+" --exact", " leave --exact out,"
	}
	bySlice += " --task K/N …"
	switch {
	case c.Shuffle != nil:
		return "raise --cache-size: --shuffle wants all parts here at once"
	case c.Choice.Ordered() || c.Choice.Sort != "":
		return "raise --cache-size: --limit, --slice and --sort want all parts here at once"
	case c.planning == nil:
		return "raise --cache-size," + orNot + " or plan a slice at a time: " + bySlice + ", for each K, then plan and run without --task"
	case !c.planning.Given():
		return "raise --cache-size, or index a slice at a time: " + bySlice + ", for each K from 0 to N-1, then this command again"
	}
	return "raise --cache-size, or take a larger N: --task K/N"
}

// formatName returns the name of the format's command.
func (c *conversion) formatName() string {
	if c.Spec != nil {
		return convert.SpecFormat
	}
	return c.Reader.Name
}

// explain adds to an error of an input that the format does not read which kind of input it is.
func (c *conversion) explain(err error) error {
	if c.Spec != nil || c.Program != nil {
		return err
	}
	return cliflag.HintKind(err, c.purpose, c.Reader, c.Sources)
}
