package cliflag

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/internal/option"
)

// Check refuses flags that exclude each other, and flags that do nothing without another one.
func Check(cmd *cobra.Command) error {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if v, ok := f.Value.(*merged); ok {
			f.Changed = v.set // pflag also sets it for a member
		}
	})
	given := func(name string) bool {
		f := cmd.Flags().Lookup(name)
		if f == nil || f.Value.Type() != "bool" && !f.Changed {
			return false
		}
		value := f.Value.String() // of --split, names alone are for the option of a format
		return value != "false" && (name != "split" || strings.Contains(value, "="))
	}
	for _, c := range option.Clashes {
		if given(c.A) && given(c.B) && (c.Command == "" || c.Command == cmd.Name()) {
			return errors.New(terminal.Flags(option.Clash(c.A, c.B)))
		}
	}
	for _, n := range option.Needs {
		var others []string
		needed := given(n.Name)
		for other := range strings.FieldsSeq(n.Others) {
			if needed = needed && !given(other); cmd.Flags().Lookup(other) != nil {
				others = append(others, option.Flag(other))
			}
		}
		if !needed || others == nil {
			continue
		}
		add, last := others[0], len(others)-1
		if last > 0 {
			add = "one"
			others = []string{strings.Join(others[:last], ", ") + " or " + others[last]}
		}
		flag, sep := option.Flag(n.Name), " "
		if strings.Contains(flag, " ") {
			sep = "="
		}
		return fmt.Errorf("%s%s%s: %s without %s; add %s, or leave %s out", flag, sep, cmd.Flag(n.Name).Value, n.Why, others[0], add, flag)
	}
	return nil
}
