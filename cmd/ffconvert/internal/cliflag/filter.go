package cliflag

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
)

// addFilter registers the flags of the program that samples pass through. No plan and no specification runs it.
func (o *Conversion) addFilter(flags *pflag.FlagSet) {
	flags.Var(filterValue{&o.Filter}, "filter", "pass the samples through a program of yours, which reads them as a CBOR sequence and answers each with a map, or an array of maps; run without a shell")
	o.FilterTimeout = 10 * time.Minute
	flags.Var(Period(&o.FilterTimeout), "filter-timeout", "how long the program of --filter may neither read nor write while it has samples to answer; 0 is forever")
}

// A filterValue is a flag value: a program and its arguments.
type filterValue struct{ p **input.Command }

func (v filterValue) Set(line string) error {
	if *v.p != nil {
		return errors.New("there is one already; one program can do the work of two")
	}
	c, err := input.SplitCommand(line)
	*v.p = c
	if e, ok := errors.AsType[*place.Error](err); ok { // the flag is its place
		return fmt.Errorf("%w (%s)", e.Err, e.Hint)
	}
	return err
}

func (v filterValue) Type() string { return "COMMAND" }

func (v filterValue) String() string {
	if v.p == nil || *v.p == nil {
		return ""
	}
	return (*v.p).Name
}
