package cliflag

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/internal/option"
)

// isMember reports whether a flag of a command is behind a merged one.
func isMember(f *pflag.Flag) bool {
	into, _ := option.Member(f.Name)
	return f.Hidden && into != ""
}

// shownName returns what sets a flag of a command: --seed, or --max row-size for one behind a merged flag.
func shownName(f *pflag.Flag) string {
	if isMember(f) {
		return option.Flag(f.Name)
	}
	return "--" + f.Name
}

// shownAs returns a flag of a command with a value: --seed 8, or --max row-size=8MiB.
func shownAs(f *pflag.Flag, value string) string {
	if isMember(f) {
		return option.Flag(f.Name) + "=" + value
	}
	return "--" + f.Name + " " + value
}

// A merged is the value of a flag of [option.Merged].
type merged struct {
	pflag.Value      // of the flag by itself; nil: it has none
	given       bool // the flag by itself was
	flags       *pflag.FlagSet
	names       []string
	members     map[string]string // flags by name
}

func (v *merged) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if full := v.members[name]; ok && full != "" {
		err := v.flags.Set(full, value)
		if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
			err = reason(bad.GetFlag(), bad.Unwrap()) // without the old name
		}
		return err
	}
	if v.Value != nil {
		v.given = true
		return v.Value.Set(text)
	}
	return fmt.Errorf("want NAME=VALUE, where NAME is one of %s", strings.Join(v.names, ", "))
}

func (v *merged) Type() string {
	if v.Value != nil {
		return v.Value.Type()
	}
	return "NAME=VALUE"
}

func (v *merged) String() string {
	if v != nil && v.Value != nil {
		return v.Value.String()
	}
	return ""
}

// Given reports whether a flag was given. A merged flag that set others alone was not: they were.
func Given(f *pflag.Flag) bool {
	m, ok := f.Value.(*merged)
	return f.Changed && (!ok || m.given)
}

// mergeFlags adds the flags of [option.Merged] to cmd and its subcommands.
func mergeFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	byName := make(map[string]*merged)
	flags.VisitAll(func(f *pflag.Flag) {
		into, name := option.Member(f.Name)
		if into == "" {
			return
		}
		if byName[into] == nil {
			byName[into] = &merged{flags: flags, members: make(map[string]string)}
		}
		v := byName[into]
		v.names, v.members[name] = append(v.names, name), f.Name
	})
	for _, m := range option.Merged {
		v, base := byName[m.Name], flags.Lookup(m.Name)
		if v == nil || base == nil && m.Usage == "" {
			continue
		}
		for _, name := range v.members {
			flags.Lookup(name).Hidden = true
		}
		if base == nil {
			flags.Var(v, m.Name, m.Usage)
		} else {
			v.Value, base.Value = base.Value, v
		}
	}
	for _, c := range cmd.Commands() {
		mergeFlags(c)
	}
}
