package cliflag

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/place"
)

// addFilter registers the flags of the program that samples pass through. No plan and no specification runs it.
func (o *Conversion) addFilter(flags *pflag.FlagSet) {
	parse := func(line string) (*input.Command, error) {
		if o.Filter != nil {
			return nil, errors.New("there is one already; one program can do the work of two")
		}
		c, err := input.SplitCommand(line)
		if e, ok := errors.AsType[*place.Error](err); ok { // the flag is its place
			err = fmt.Errorf("%w (%s)", e.Err, e.Hint)
		}
		return c, err
	}
	show := func(c *input.Command) string {
		if c == nil {
			return ""
		}
		return c.Name
	}
	flags.Var(option.Func(&o.Filter, "COMMAND", parse, show), "filter", "pass the samples through a program of yours, which reads them as a CBOR sequence and answers each with a map, or an array of maps; run without a shell")
	o.FilterTimeout = 10 * time.Minute
	flags.Var(Period(&o.FilterTimeout), "filter-timeout", "how long the program of --filter may neither read nor write while it has samples to answer; 0 is forever")
}
