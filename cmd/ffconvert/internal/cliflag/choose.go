package cliflag

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
)

// Choose are the flags that choose samples.
type Choose struct {
	choose.Options
	keys, drop string // files
	unknown    option.Choice
	maxKeys    int64
}

func newChoose() Choose {
	return Choose{unknown: option.Choice{Value: choose.UnknownError, Words: []string{choose.UnknownError, choose.UnknownSkip}}}
}

// add registers the flags of [Choose.AddChoice] and those that make several datasets.
func (o *Choose) add(flags *pflag.FlagSet) {
	o.AddChoice(flags)
	split := splitValue{&o.Split}
	const usage = "a dataset OUT/NAME of each fraction, drawn by a hash of --seed and key: train=0.9,val=0.1"
	if f := flags.Lookup("split"); f != nil {
		f.Value, f.Usage = eitherSplit{f.Value, split}, f.Usage+"; or "+usage
	} else {
		flags.Var(split, "split", usage)
	}
	flags.Var(checkedText{&o.SplitBy, "text", nil}, "split-by", "a dataset OUT/VALUE of the samples of each class, label, or value of a field")
}

// AddChoice registers the flags that leave samples out, or change their order.
func (o *Choose) AddChoice(flags *pflag.FlagSet) {
	flags.Var(checkedText{&o.Where, "text", choose.CheckWhere}, "where", "samples for which this holds: 'label=3 and jpg.size<1MiB', 'key~^dogs/'; names are key, label, class, size, FIELD, FIELD.size, operators = != < <= > >= ~")
	flags.Var(listFile{&o.keys}, "keys", "samples with the keys that a file lists, one a line: @FILE")
	flags.Var(listFile{&o.drop}, "drop-keys", "samples but those with the keys that a file lists: @FILE")
	flags.Var(&o.unknown, "unknown-keys", "what to do about a listed key that no sample has: error, or skip")
	flags.Var(&fractionValue{&o.Sample}, "sample", "a fraction of the samples, drawn by a hash of --seed and key: 0.1")
	flags.Var(checkedText{&o.Slice, "lo:hi:step", choose.CheckSlice}, "slice", "of all samples in order, those from number lo to hi, every step-th: 1000:2000, ::10")
	flags.Var(option.AtLeast(&o.Limit, 1), "limit", "so many samples at most, the first ones")
	flags.Var(checkedText{&o.Sort, "text", nil}, "sort", "order of the samples: key, size, label, class, a field, or FIELD.size")
	Size(flags, &o.maxKeys, "max-keys-size", choose.DefaultMaxKeys, "largest file of --keys accepted")
}

// Choice reads the lists of keys and returns the choice. seed is drawn from if anything is.
func (o *Choose) Choice(seed uint64) (choice choose.Options, err error) {
	choice = o.Options
	if o.keys != "" {
		if choice.Keys, err = choose.ReadKeys(o.keys, o.maxKeys); err != nil {
			return choice, err
		}
	}
	if o.drop != "" {
		if choice.Drop, err = choose.ReadKeys(o.drop, o.maxKeys); err != nil {
			return choice, err
		}
	}
	if o.unknown.Value != choose.UnknownError {
		choice.Unknown = o.unknown.Value
	}
	if choice.Drawn() {
		choice.Seed = seed
	}
	return choice, nil
}

// A checkedText is a flag value that a function accepts; nil: any but "".
type checkedText struct {
	p     *string
	typ   string
	check func(text string) error
}

func (v checkedText) Set(text string) error {
	if text == "" {
		return errors.New("it is empty")
	}
	if !utf8.ValidString(text) {
		return option.ErrNotUTF8
	}
	if v.check != nil {
		if err := v.check(text); err != nil {
			return err
		}
	}
	*v.p = text
	return nil
}

func (v checkedText) Type() string   { return v.typ }
func (v checkedText) String() string { return *v.p }

// A listFile is a flag value: the name of a file behind @.
type listFile struct{ p *string }

func (v listFile) Set(text string) error {
	name, ok := strings.CutPrefix(text, "@")
	if !ok || name == "" || name == "-" {
		return errors.New("want the name of a file behind @, as in @keys.txt")
	}
	*v.p = name
	return nil
}

func (v listFile) Type() string { return "@FILE" }

func (v listFile) String() string {
	if *v.p == "" {
		return ""
	}
	return "@" + *v.p
}

// A fractionValue is a flag value: a fraction, which a plan has in its shortest form.
type fractionValue struct{ p *string }

func (v *fractionValue) Set(text string) error {
	if err := choose.CheckFraction(text); err != nil {
		return err
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return err
	}
	*v.p = strconv.FormatFloat(f, 'g', -1, 64)
	return nil
}

func (v *fractionValue) Type() string   { return "fraction" }
func (v *fractionValue) String() string { return *v.p }

// A splitValue is a flag value: sides of a split, which a plan has with their fractions in one form.
type splitValue struct{ p *string }

func (v splitValue) Set(text string) error {
	sides, err := choose.ParseSplit(text)
	if err != nil {
		return err
	}
	all := make([]string, len(sides))
	for i, s := range sides {
		all[i] = s.Name + "=" + s.Fraction
	}
	*v.p = strings.Join(all, ",")
	return nil
}

func (v splitValue) Type() string   { return "NAME=FRACTION,..." }
func (v splitValue) String() string { return *v.p }

// An eitherSplit is --split of a format that has an option of that name: names alone are for the format, and
// NAME=FRACTION draws.
type eitherSplit struct {
	pflag.Value // of the format
	drawn       splitValue
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
