package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// formatLimits returns the limits of all formats. No plan keeps them, so whoever had to
// raise one for the conversion has to do so for its repair.
func formatLimits() *pflag.FlagSet {
	all := pflag.NewFlagSet("limits", pflag.ContinueOnError)
	all.SortFlags = false
	for _, f := range formats {
		own := pflag.NewFlagSet(f.name, pflag.ContinueOnError)
		own.SortFlags = false
		f.flags(own)
		own.VisitAll(func(flag *pflag.Flag) {
			if isLimit(flag) && all.Lookup(flag.Name) == nil {
				all.AddFlag(flag)
			}
		})
	}
	return all
}

// addPlanned adds the flags of commands that write shards by a plan, and returns those among
// them that are limits of formats.
func (o *convertOptions) addPlanned(flags *pflag.FlagSet) (limits *pflag.FlagSet) {
	o.addRun(flags)
	o.addCache(flags)
	o.addDecompression(flags)
	o.remote.add(flags)
	limits = formatLimits()
	flags.AddFlagSet(limits)
	return limits
}

// A planned conversion is one that a plan describes.
type planned struct {
	opts    convertOptions
	plugin  string         // that the user named; a plan alone runs none
	limits  *pflag.FlagSet // of all formats, as the user set them
	command string         // "repair": for messages
	dir     string         // the output
	sources []string       // named by the user; none: by the plan
	named   []string       // as the user named them for the conversion
	plan    *plan.Plan
}

// conversion returns the one that made the dataset. It comes from a plan, which may be
// hostile: nothing is run for it but what the user has named.
func (r *planned) conversion() (*conversion, error) {
	p := r.plan
	c := &conversion{opts: r.opts, spec: p.Source, names: r.sources, out: r.dir}
	p.Encode.Limits = c.opts.encode.Limits
	c.opts.encode = p.Encode
	if p.Source.Format == specFormat {
		return c, r.mixture(c)
	}
	f, known := formatNamed(p.Source.Format)
	switch {
	case known && r.plugin != "":
		return nil, fmt.Errorf("--plugin %s: the dataset was made by ffconvert %s", r.plugin, p.Source.Format)
	case known:
		c.format = f
	case r.plugin != p.Source.Format || !pluginName.MatchString(r.plugin):
		return nil, fmt.Errorf("%s: it was made by the plugin %q; to run that again, say so and name its arguments: ffconvert %s --plugin NAME %s ARGS", r.dir, p.Source.Format, r.command, r.dir)
	default:
		path, err := exec.LookPath(pluginPrefix + r.plugin)
		if err != nil {
			return nil, err
		}
		c.format = format{name: r.plugin, plugin: true, flags: pluginFlags}
		c.command = &input.Command{Name: commandLine(pluginPrefix+r.plugin, c.names), Args: append([]string{path}, c.names...)}
	}
	if len(c.names) == 0 && c.command == nil {
		if c.names = r.named; len(c.names) == 0 && !c.format.directories {
			for i := range p.Parts {
				c.names = append(c.names, p.Parts[i].Name)
			}
		}
		if len(c.names) == 0 || slices.Contains(c.names, "-") || slices.Contains(c.names, "@-") {
			return nil, fmt.Errorf("%s: its sources must be named: ffconvert %s %s SOURCE (- is standard input)", r.dir, r.command, r.dir)
		}
	}
	own := pflag.NewFlagSet(c.format.name, pflag.ContinueOnError)
	c.data = c.format.flags(own)
	for name, value := range p.Source.Options {
		if flag := own.Lookup(name); flag != nil && isLimit(flag) { // we write none there
			return nil, fmt.Errorf("%s: %w: it sets the limit --%s", r.dir, plan.ErrDamaged, name)
		}
		if err := own.Set(name, value); err != nil {
			return nil, fmt.Errorf("%s: %w: option of its plan: %w", r.dir, plan.ErrDamaged, valueError(err))
		}
	}
	return c, setLimits(r.limits, []*pflag.FlagSet{own}, "ffconvert "+c.format.name+" has")
}

// mixture makes c the conversion of the specification that the plan keeps. A source that the
// user names is another file that names the same collections elsewhere.
func (r *planned) mixture(c *conversion) error {
	kept, err := keptSpecification(c.spec.Options)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w: %w", r.dir, plan.ErrDamaged, err)
	case r.plugin != "":
		return fmt.Errorf("--plugin %s: the dataset was made by ffconvert %s", r.plugin, specFormat)
	case len(r.sources) > 1:
		return fmt.Errorf("%s: it was made by ffconvert %s: name the one file that names its collections", r.dir, specFormat)
	case len(r.sources) == 1:
		if err := kept.moved(r.sources[0]); err != nil {
			return err
		}
	}
	c.format, c.mix, c.names = format{name: specFormat}, &mixture{spec: kept}, r.named
	c.data = c.mix
	return c.mix.setLimits(r.limits)
}

// hint says how sources can be named, where they were not found by the names kept.
func (r *planned) hint(err error) error {
	if len(r.sources) > 0 || !errors.Is(err, input.ErrNotFound) {
		return err
	}
	return fmt.Errorf("%w; run it where the conversion was planned, or name the sources: ffconvert %s %s SOURCE", err, r.command, r.dir)
}
