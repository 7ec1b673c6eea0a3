// Package cliflag is the command line: flags that several commands share and their values, the help, the manual pages and the
// completion of all flags, what is wrong with arguments, and the flag or command that helps with an error.
package cliflag

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/text"
)

// parsed returns the flag value of a text, which parse may change.
func parsed(p *string, typ string, parse func(text string) (string, error)) pflag.Value {
	return option.Func(p, typ, parse, func(s string) string { return s })
}

// checked returns the flag value of a text that check accepts; nil: any but "".
func checked(p *string, typ string, check func(text string) error) pflag.Value {
	return parsed(p, typ, func(text string) (string, error) {
		switch {
		case text == "":
			return "", errors.New("it is empty")
		case !utf8.ValidString(text):
			return "", option.ErrNotUTF8
		case check == nil:
			return text, nil
		}
		return text, check(text)
	})
}

// Name returns the flag value of a name that must not be empty. It refuses --key "$KEY" where KEY is not set: ignoring the flag
// would turn the check off.
func Name(p *string) pflag.Value {
	return parsed(p, "text", func(text string) (string, error) {
		if text == "" {
			return "", errors.New("want a name; leave the flag out if it is not wanted")
		}
		return text, nil
	})
}

// addSwitch registers a flag that sets *p to on. Several flags may set the same variable.
func addSwitch[T comparable](flags *pflag.FlagSet, p *T, on T, name, usage string) {
	parse := func(text string) (bool, error) {
		yes, err := strconv.ParseBool(text)
		switch {
		case yes:
			*p = on
		case err == nil && *p == on:
			*p = *new(T)
		}
		return yes, err
	}
	flags.VarPF(option.Func(new(bool), "bool", parse, strconv.FormatBool), name, "", usage).NoOptDefVal = "true"
}

// maxPeriod is the longest time that a flag takes. Sums of a few of them fit in a [time.Duration].
const maxPeriod = 1_000_000 * time.Hour

// Period returns the flag value of a time of 0 or more.
func Period(p *time.Duration) pflag.Value { return period(p, "of 0 or more", 0) }

// PeriodAbove returns the flag value of a time above 0.
func PeriodAbove(p *time.Duration) pflag.Value { return period(p, "above 0", 1) }

var digits = text.Pattern(`[0-9]+`)

func period(p *time.Duration, what string, least time.Duration) pflag.Value {
	parse := func(text string) (time.Duration, error) {
		d, err := time.ParseDuration(text)
		if err != nil { // too many hours are an error of ParseDuration, as are mistakes
			if one, again := time.ParseDuration(digits().ReplaceAllString(text, "1")); again == nil && one > 0 {
				d, err = maxPeriod+1, nil
			}
		}
		switch {
		case err == nil && d > maxPeriod:
			return 0, errors.New("the time is too long: want 1000000h at most")
		case err == nil && d >= least:
			return d, nil
		}
		return 0, fmt.Errorf("want a time %s with a unit, as in 90s or 15m", what)
	}
	show := func(d time.Duration) string {
		if d == 0 {
			return "0" // pflag prints no default for it
		}
		return d.String()
	}
	return option.Func(p, "duration", parse, show)
}

// size returns the flag value of a size in bytes that check accepts.
func size[T int | int64](p *T, check func(n option.Size, text string) error) pflag.Value {
	parse := func(text string) (T, error) {
		var n option.Size
		err := n.Set(text)
		if err == nil {
			err = check(n, text)
		}
		return T(n), err
	}
	return option.Func(p, "size", parse, func(n T) string { s := option.Size(n); return s.String() })
}

// AIO registers the flags of how shards are read, or read again. The fields of o that are not 0 are defaults; the others are
// not set.
func AIO(flags *pflag.FlagSet, o *aio.Options) {
	flags.Var(&o.Backend, "backend", "how to read: auto, aio or pread")
	if o.Depth > 0 { // the kernel takes 1024 at most
		flags.Var(option.Between(&o.Depth, 1, 1024), "queue-depth", "reads in flight at once, of all shards together or of a batch")
	}
	if o.BlockSize > 0 {
		flags.Var(blockSize(&o.BlockSize), "block-size", "bytes of one read at most, a multiple of 4096, 64MiB at most")
	}
}

func blockSize(p *int) pflag.Value {
	return size(p, func(n option.Size, _ string) error {
		if most := option.Size(aio.MaxBlockSize); n < 4096 || n > most || n%4096 != 0 {
			return fmt.Errorf("want a multiple of 4096, %s at most", &most)
		}
		return nil
	})
}

// leastShard is the least target size, bytes. FFRecord's rule is 256 MiB.
const leastShard = 64 << 10

// shardSize returns the flag value of the target size of a shard. One below leastShard is a number whose unit was forgotten:
// --shard-size 1 makes a shard of each sample.
func shardSize(p *int64) pflag.Value {
	return size(p, func(n option.Size, text string) error {
		if n == 0 || n >= leastShard {
			return nil
		}
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			return errors.New("want 64KiB or more")
		}
		unit := "MiB"
		if n <= 64 {
			unit = "GiB"
		}
		return fmt.Errorf("want 64KiB or more; did you mean %d%s?", n, unit)
	})
}

// maxJobs bounds the goroutines and the buffers of --jobs.
const maxJobs = 1024

// CPUs returns the number of CPUs that this process may use. It also lets two goroutines more run than these: one in a
// system call, such as a direct write, keeps its place until the runtime takes it away (docs/decisions/005-workers.md).
var CPUs = sync.OnceValue(func() int {
	n := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(n + 2)
	return n
})

// Jobs registers --jobs. The current value is its default.
func Jobs(flags *pflag.FlagSet, p *int, usage string) {
	flags.VarP(option.Between(p, 1, maxJobs), "jobs", "j", usage)
}
