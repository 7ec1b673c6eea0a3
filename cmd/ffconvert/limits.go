package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/help"
	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/packed"
	"github.com/ffconvert/ffconvert/record"
)

// Limits are flags that decide which inputs are refused, and never a byte of the output. A plan does
// not keep them: a run that resumes may raise a limit, and a hostile plan cannot. SECURITY.md lists
// them; TestSecurityLimits compares that list.

// addOptions registers the options of a format as flags.
func addOptions(flags *pflag.FlagSet, set *option.Set) {
	for _, o := range set.All() {
		addOption(flags, o)
	}
}

func addOption(flags *pflag.FlagSet, o *option.Option) {
	f := flags.VarPF(o, o.Name, "", o.Usage)
	if o.Type() == "bool" {
		f.NoOptDefVal = "true"
	}
	if o.Limit {
		help.MarkLimit(flags, o.Name)
	}
}

// formatLimits returns flags for the limits of all formats.
func formatLimits() *pflag.FlagSet {
	all := pflag.NewFlagSet("limits", pflag.ContinueOnError)
	all.SortFlags = false
	for _, f := range formats {
		for _, o := range f.Reader().Set.All() {
			if o.Limit && all.Lookup(o.Name) == nil {
				addOption(all, o)
			}
		}
	}
	return all
}

// changed returns the values of the flags that were given.
func changed(flags *pflag.FlagSet) map[string]string {
	set := make(map[string]string)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			set[f.Name] = f.Value.String()
		}
	})
	return set
}

// sizeFlag registers a limit in bytes.
func sizeFlag(flags *pflag.FlagSet, p *int64, name string, most int64, usage string) {
	flags.Var(option.MaxSize(p, most), name, usage)
	help.MarkLimit(flags, name)
}

// countFlag registers a limit that is a number.
func countFlag[T int | int64](flags *pflag.FlagSet, p *T, name string, most T, usage string) {
	flags.Var(option.Count(p, most), name, usage)
	help.MarkLimit(flags, name)
}

// recordLimits registers --max-samples, and returns the options that hold its value after parsing.
func recordLimits(flags *pflag.FlagSet) *record.Options {
	var o record.Options
	countFlag(flags, &o.MaxSamples, "max-samples", record.MaxSamples, "most samples of a shard accepted; each takes 12 bytes of memory")
	return &o
}

// folderLimits are the limits of a packed folder.
type folderLimits struct{ size, files int64 }

func (l *folderLimits) add(flags *pflag.FlagSet) {
	sizeFlag(flags, &l.size, "max-file-size", packed.DefaultMaxFile, "largest file accepted; it is held in memory whole")
	countFlag(flags, &l.files, "max-files", int64(record.MaxSamples-1), "most files accepted; their names are held in memory")
}

// open opens a packed folder within the limits. The names are one sample more than the files.
func (l *folderLimits) open(file string) (*packed.Folder, error) {
	f, err := packed.Open(file, record.Options{MaxSample: l.size, MaxSamples: min(l.files, math.MaxInt64-1) + 1})
	if err != nil {
		err = notShards(file, err)
	}
	return f, raise(err, "--max-file-size, --max-files")
}

// raise adds the names of flags to an error of package record about a limit.
func raise(err error, flags string) error {
	if errors.Is(err, record.ErrTooLarge) {
		return fmt.Errorf("%w (%s)", err, flags)
	}
	return err
}
