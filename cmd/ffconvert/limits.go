package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/packed"
	"github.com/ffconvert/ffconvert/record"
)

// Limits are flags that say what is refused. They never decide a byte of what is written,
// so no plan keeps them: a run that goes on may raise one, and a plan, which may be
// hostile, cannot. SECURITY.md lists them all; TestSecurityLimits keeps that list true.

// limitMark is the annotation of a flag that is a limit.
const limitMark = "ffconvert_limit"

func isLimit(flag *pflag.Flag) bool { return flag.Annotations[limitMark] != nil }

func markLimit(flags *pflag.FlagSet, name string) {
	if err := flags.SetAnnotation(name, limitMark, []string{}); err != nil {
		panic("ffconvert: " + err.Error())
	}
}

// planOptions returns those flags of a format that a plan keeps: what the user set, limits
// left out.
func planOptions(own *pflag.FlagSet) map[string]string {
	var options map[string]string
	own.VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed || isLimit(flag) {
			return
		}
		if options == nil {
			options = make(map[string]string)
		}
		options[flag.Name] = flagText(flag)
	})
	return options
}

// flagText is the value of a flag as Set takes it.
func flagText(flag *pflag.Flag) string {
	text := flag.Value.String()
	if _, list := flag.Value.(pflag.SliceValue); list {
		return strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	}
	return text
}

// A sizeLimit is a size that cannot be 0.
type sizeLimit int64

func (v *sizeLimit) Set(s string) error {
	var n sizeValue
	if err := n.Set(s); err != nil {
		return err
	}
	if n < 1 {
		return errors.New("a limit must be 1 byte or more")
	}
	*v = sizeLimit(n)
	return nil
}

func (v *sizeLimit) Type() string   { return "size" }
func (v *sizeLimit) String() string { return (*sizeValue)(v).String() }

// A countLimit is a number of 1 or more.
type countLimit[T int | int64] struct{ p *T }

func (v countLimit[T]) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return errors.New("want a whole number of 1 or more")
	}
	*v.p = T(n)
	return nil
}

func (v countLimit[T]) Type() string   { return "number" }
func (v countLimit[T]) String() string { return strconv.Itoa(int(*v.p)) }

// sizeFlag adds a limit in bytes.
func sizeFlag(flags *pflag.FlagSet, p *int64, name string, most int64, help string) {
	*p = most
	flags.Var((*sizeLimit)(p), name, help)
	markLimit(flags, name)
}

// countFlag adds a limit of things that are counted.
func countFlag[T int | int64](flags *pflag.FlagSet, p *T, name string, most T, help string) {
	*p = most
	flags.Var(countLimit[T]{p}, name, help)
	markLimit(flags, name)
}

// recordLimits adds the limit of a shard whose samples are not held in memory, and returns
// the options that have it once the flags are parsed.
func recordLimits(flags *pflag.FlagSet) *record.Options {
	var o record.Options
	countFlag(flags, &o.MaxSamples, "max-samples", record.MaxSamples, "most samples of a shard accepted; each takes 12 bytes of memory")
	return &o
}

// folderLimits are those of a packed folder.
type folderLimits struct{ size, files int64 }

func (l *folderLimits) add(flags *pflag.FlagSet) {
	sizeFlag(flags, &l.size, "max-file-size", packed.DefaultMaxFile, "largest file accepted; it is held in memory whole")
	countFlag(flags, &l.files, "max-files", int64(record.MaxSamples-1), "most files accepted; their names are held in memory")
}

// open opens a packed folder that keeps the limits. One of its samples is the names.
func (l *folderLimits) open(file string) (*packed.Folder, error) {
	f, err := packed.Open(file, record.Options{MaxSample: l.size, MaxSamples: min(l.files, math.MaxInt64-1) + 1})
	if err != nil {
		err = notShards(file, err)
	}
	return f, raise(err, "--max-file-size, --max-files")
}

// raise names the flags of a refusal by package record, which knows none.
func raise(err error, flags string) error {
	if errors.Is(err, record.ErrTooLarge) {
		return fmt.Errorf("%w (%s)", err, flags)
	}
	return err
}
