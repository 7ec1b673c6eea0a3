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

// A merged is the value of a flag of a group.
type merged struct {
	pflag.Value      // of the flag by itself; nil: it has none
	set         bool // Value was set, not only members
	flags       *pflag.FlagSet
	names       []string
	members     map[string]string // flags by name
}

func (v *merged) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if full := v.members[name]; ok && full != "" {
		err := v.flags.Set(full, value)
		if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
			err = bad.Unwrap() // without the old name
		}
		return err
	}
	if v.Value != nil {
		v.set = true
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
