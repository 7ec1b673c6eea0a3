package dataset

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Check returns [ErrOccupied] if the directory holds a dataset of other sources or options, unless
// overwrite is set. It needs nothing that must be read from the sources, and does not compare sources
// (nil) or an encoding ("") that are not known yet. [Writing.Begin] compares the whole plan.
func (t *Task) Check(opts plan.Options, sources []string, overwrite bool) error {
	c, err := t.existing(overwrite)
	if err != nil || c.plan == nil || overwrite {
		return err
	}
	want := &plan.Plan{Recipe: plan.Recipe{Source: opts.Source, Encode: opts.Encode, Shuffle: opts.Shuffle, Choice: opts.Choice}}
	if want.Encode.Encoding == "" {
		want.Encode.Encoding, want.Encode.Encoded = c.plan.Encode.Encoding, c.plan.Encode.Encoded
	}
	if why := otherOptions(c.plan, want); why != "" {
		return c.occupied(why)
	}
	if sources == nil {
		return nil
	}
	for _, name := range sources {
		want.Parts = append(want.Parts, plan.Part{Name: plan.KeptName(name)})
	}
	if why := otherSources(c.plan, want); why != "" {
		return c.occupied(why)
	}
	return nil
}

// clash returns the error that tells how the dataset that was begun here differs from the plan want: other options,
// other sources, or a source that has changed.
func (c *existing) clash(want *plan.Plan) error {
	begun := c.plan
	for i := range min(len(begun.Parts), len(want.Parts)) {
		// Differences in columns or encoding may follow from this one, so it is reported first.
		was, is := &begun.Parts[i], &want.Parts[i]
		if was.Name == is.Name && was.Content != "" && is.Content != "" && was.Content != is.Content {
			return plan.ErrorOtherInput(is.Name)
		}
		if was.Name == is.Name && was.Size == is.Size && begun.Source.Filter == want.Source.Filter && was.Filtered != nil && is.Filtered != nil && *was.Filtered != *is.Filtered {
			return plan.ErrorFiltered(is.Name)
		}
	}
	if why := otherOptions(begun, want); why != "" {
		return c.occupied(why)
	}
	if why := otherSources(begun, want); why != "" {
		return c.occupied(why)
	}
	if begun.Whole != want.Whole {
		if begun.Whole {
			return c.occupied("it was cut between parts (option whole-parts, the default for remote sources)")
		}
		return c.occupied("it was cut at samples (option exact, the default for local sources)")
	}
	if !reflect.DeepEqual(begun.Encodes, want.Encodes) {
		return c.occupied("some of its sources were converted with other fields (option fields, option rename)")
	}
	for i := range want.Parts {
		if err := begun.Parts[i].Changed(want.Parts[i]); err != nil {
			return err
		}
	}
	if reflect.DeepEqual(begun.Dataset, want.Dataset) && samplesOf(begun) == samplesOf(want) {
		return c.occupied("it was made with other sizes of shards (option shards, option shard-size, option min-shard-size, option max-shards), or its samples have changed")
	}
	return c.occupied("its samples, classes or columns are others")
}

func samplesOf(p *plan.Plan) int64 {
	n, _ := p.Totals()
	return n
}

// otherOptions names the first option in which two plans differ.
func otherOptions(begun, want *plan.Plan) string {
	if begun.Source.Format != want.Source.Format {
		return fmt.Sprintf("it was made by ffconvert %s", begun.Source.Format)
	}
	a, b := begun.Source.Options, want.Source.Options
	var names []string
	for name := range a {
		names = append(names, name)
	}
	for name := range b {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if was, had := a[name]; !had {
			return fmt.Sprintf("it was made without option %s", name)
		} else if is, has := b[name]; name == plan.OptionSpec && was != is {
			return otherSpec(was, is)
		} else if !has || was != is {
			return fmt.Sprintf("it was made with option %s=%s", name, was)
		}
	}
	switch was, is := begun.Source.Filter, want.Source.Filter; {
	case was == "" && is != "":
		return "it was made without option filter"
	case was != is:
		return "it was made with option filter=" + was
	}
	d, e := begun.Encode, want.Encode
	if d.Encoded && !e.Encoded {
		return "it was made without option encode: its records are copies"
	}
	if e.Encoded && !d.Encoded {
		return "it was made with option encode=" + d.Encoding
	}
	for _, option := range []struct {
		name    string
		was, is any
	}{
		{"encode", d.Encoding, e.Encoding}, {"fields", d.Fields, e.Fields}, {"rename", strings.Join(d.Rename, " "), strings.Join(e.Rename, " ")},
		{"decode", d.Decode, e.Decode}, {"missing", d.Missing, e.Missing}, {"damaged", cmp.Or(d.Damaged, encode.DamagedKeep), cmp.Or(e.Damaged, encode.DamagedKeep)},
	} {
		if option.was != option.is {
			return fmt.Sprintf("it was made with option %s=%v", option.name, option.was)
		}
	}
	switch {
	case reflect.DeepEqual(begun.Shuffle, want.Shuffle):
		return choose.Other(begun.Choice, want.Choice)
	case begun.Shuffle == nil:
		return "it was made without option shuffle"
	default:
		return fmt.Sprintf("it was made with option shuffle and option seed=%d", begun.Shuffle.Seed)
	}
}

// otherSpec shows the first place in which two specifications differ.
func otherSpec(was, is string) string {
	from := 0
	for from < min(len(was), len(is)) && was[from] == is[from] {
		from++
	}
	member := strings.LastIndexAny(was[:from], "{[,") + 1
	excerpt := func(s string) string {
		if end := strings.IndexAny(s[from:], ",}]"); end >= 0 {
			s = s[:from+end]
		}
		const most = 80
		if s = s[member:]; len(s) > most {
			s = strings.ToValidUTF8(s[:most], "") + "…"
		}
		return s
	}
	return fmt.Sprintf("it was made by a specification with %s where this one has %s", excerpt(was), excerpt(is))
}

// otherSources names the first source in which two plans differ.
func otherSources(begun, want *plan.Plan) string {
	for i := range min(len(begun.Parts), len(want.Parts)) {
		if was := begun.Parts[i].Name; was != want.Parts[i].Name {
			return fmt.Sprintf("it was made of other sources: %q in place of %q", was, want.Parts[i].Name)
		}
	}
	n, m := len(begun.Parts), len(want.Parts)
	switch {
	case n > m:
		return fmt.Sprintf("it was made of %d sources, not %d: %q is not among them", n, m, begun.Parts[m].Name)
	case n < m:
		return fmt.Sprintf("it was made of %d sources, not %d: %q was not among them", n, m, want.Parts[n].Name)
	}
	return ""
}
