package cliflag

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
)

// addSplits registers the flags that make several datasets.
func (o *Conversion) addSplits(flags *pflag.FlagSet) {
	split := parsed(&o.Choice.Split, "NAME=FRACTION,...", keptSplit)
	const usage = "a dataset OUT/NAME of each fraction, drawn by a hash of --seed and key: train=0.9,val=0.1"
	if f := flags.Lookup("split"); f != nil {
		f.Value, f.Usage = eitherSplit{f.Value, split}, f.Usage+"; or "+usage
	} else {
		flags.Var(split, "split", usage)
	}
	flags.Var(checked(&o.Choice.SplitBy, "text", nil), "split-by", "a dataset OUT/VALUE of the samples of each class, label, or value of a field")
}

// AddChoice registers the flags that leave samples out, or change their order.
func (o *Conversion) AddChoice(flags *pflag.FlagSet) {
	c := &o.Choice
	AddWhere(flags, &c.Where)
	flags.Var(parsed(&o.keys, "@FILE", listFile), "keys", "samples with the keys that a file lists, one a line: @FILE")
	flags.Var(parsed(&o.drop, "@FILE", listFile), "drop-keys", "samples but those with the keys that a file lists: @FILE")
	flags.Var(&o.unknown, "unknown-keys", "what to do about a listed key that no sample has: error, or skip")
	flags.Var(parsed(&c.Sample, "fraction", keptFraction), "sample", "a fraction of the samples, drawn by a hash of --seed and key: 0.1")
	flags.Var(checked(&c.Slice, "lo:hi:step", choose.CheckSlice), "slice", "of the samples that the other options choose, numbers lo to hi-1, every step-th: 1000:2000, ::10")
	flags.Var(option.AtLeast(&c.Limit, 1), "limit", "so many samples at most, the first ones")
	flags.Var(checked(&c.Sort, "text", nil), "sort", "order of the samples: key, size, label, class, a field, or FIELD.size")
	flags.Var(option.MaxSize(&o.maxKeys, choose.DefaultMaxKeys), "max-keys-size", "largest file of --keys accepted")
}

// AddWhere registers the flag of an expression that chooses samples.
func AddWhere(flags *pflag.FlagSet, p *string) {
	flags.Var(checked(p, "text", choose.CheckWhere), "where", "samples for which this holds: 'label=3 and jpg.size<1MiB', 'key~^dogs/'; names are key, label, class, size, FIELD, FIELD.size, operators = != < <= > >= ~")
}

// readKeys sets the parts of the choice that no flag sets by itself: the lists of keys, and the seed if anything is drawn.
func (o *Conversion) readKeys() (err error) {
	c := &o.Choice
	if o.keys != "" {
		if c.Keys, err = choose.ReadKeys(o.keys[1:], o.maxKeys); err != nil {
			return err
		}
	}
	if o.drop != "" {
		if c.Drop, err = choose.ReadKeys(o.drop[1:], o.maxKeys); err != nil {
			return err
		}
	}
	if o.unknown.Value != choose.UnknownError {
		c.Unknown = o.unknown.Value
	}
	if c.Drawn() {
		c.Seed = o.Seed
	}
	return nil
}

// listFile accepts the name of a file behind @.
func listFile(text string) (string, error) {
	if len(text) < 2 || text[0] != '@' || text == "@-" {
		return "", errors.New("want the name of a file behind @, as in @keys.txt")
	}
	return text, nil
}

// keptFraction returns a fraction in its shortest form, which a plan has.
func keptFraction(text string) (string, error) {
	if err := choose.CheckFraction(text); err != nil {
		return "", err
	}
	f, err := strconv.ParseFloat(text, 64)
	return strconv.FormatFloat(f, 'g', -1, 64), err
}

// keptSplit returns the sides of a split with their fractions in the form that a plan has.
func keptSplit(text string) (string, error) {
	sides, err := choose.ParseSplit(text)
	all := make([]string, len(sides))
	for i, s := range sides {
		all[i] = s.Name + "=" + s.Fraction
	}
	return strings.Join(all, ","), err
}

// An eitherSplit is --split of a format that has an option of that name: names alone are for the format, and
// NAME=FRACTION draws.
type eitherSplit struct {
	pflag.Value // of the format
	drawn       pflag.Value
}

func (v eitherSplit) Set(text string) error {
	if strings.Contains(text, "=") {
		return v.drawn.Set(text)
	}
	return v.Value.Set(text)
}

// Type is list, as of the format's flag. Errors are those of Set.
func (v eitherSplit) Type() string { return "list" }

func (v eitherSplit) String() string {
	if s := v.drawn.String(); s != "" {
		return s
	}
	return v.Value.String()
}
