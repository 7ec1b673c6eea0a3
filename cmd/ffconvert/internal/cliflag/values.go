// Package cliflag is the command line: flags that several commands share and their values, the help, the manual pages and the
// completion of all flags, what is wrong with arguments, and the flag or command that helps with an error.
package cliflag

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/internal/option"
)

// maxPeriod is the longest time that a flag takes. Sums of a few of them fit in a [time.Duration].
const maxPeriod = 1_000_000 * time.Hour

// Period returns the flag value of a time of 0 or more.
func Period(p *time.Duration) pflag.Value { return period{p: p} }

// PeriodAbove returns the flag value of a time above 0.
func PeriodAbove(p *time.Duration) pflag.Value { return period{p, true} }

var digits = regexp.MustCompile(`[0-9]+`)

// A period is a flag value: a time of 0 or more, or above 0.
type period struct {
	p     *time.Duration
	above bool // 0 is refused
}

func (v period) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil { // too many hours are an error of ParseDuration, as are mistakes
		if one, again := time.ParseDuration(digits.ReplaceAllString(text, "1")); again == nil && one > 0 {
			d, err = maxPeriod+1, nil
		}
	}
	switch {
	case err == nil && d > maxPeriod:
		return errors.New("the time is too long: want 1000000h at most")
	case err == nil && (d > 0 || d == 0 && !v.above):
		*v.p = d
		return nil
	case v.above:
		return errors.New("want a time above 0 with a unit, as in 90s or 15m")
	}
	return errors.New("want a time of 0 or more with a unit, as in 90s or 15m")
}

func (v period) Type() string { return "duration" }

func (v period) String() string {
	if *v.p == 0 {
		return "0" // pflag prints no default for it
	}
	return v.p.String()
}

// A BlockSize is a flag value: the bytes of one read.
type BlockSize struct{ option.Size }

func (v *BlockSize) Set(text string) error {
	var n option.Size
	if err := n.Set(text); err != nil {
		return err
	}
	if n < 4096 || n > aio.MaxBlockSize || n%4096 != 0 {
		most := option.Size(aio.MaxBlockSize)
		return fmt.Errorf("want a multiple of 4096, %s at most", &most)
	}
	v.Size = n
	return nil
}

// AIO registers --backend and --queue-depth. The current depth is its default. The kernel accepts at most 1024 reads.
func AIO(flags *pflag.FlagSet, o *aio.Options, backend, depth string) {
	flags.Var(&o.Backend, "backend", backend+": auto, aio or pread")
	flags.Var(option.Between(&o.Depth, 1, 1024), "queue-depth", depth)
}

// maxJobs bounds the goroutines and the buffers of --jobs.
const maxJobs = 1024

// Jobs registers --jobs. The current value is its default.
func Jobs(flags *pflag.FlagSet, p *int, usage string) {
	flags.VarP(option.Between(p, 1, maxJobs), "jobs", "j", usage)
}
