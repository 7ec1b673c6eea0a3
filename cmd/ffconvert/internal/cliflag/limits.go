package cliflag

import (
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/record"
)

// Limits are flags max-NAME that decide which inputs are refused, and never a byte of the output. A plan does
// not keep them: a run that resumes may raise a limit, and a hostile plan cannot. SECURITY.md lists
// them; TestSecurityLimits compares that list.

// AddOptions registers the options of a format as flags. A flag of the name of one, that is there already, stays.
func AddOptions(flags *pflag.FlagSet, set *option.Set) {
	for _, o := range set.All() {
		addOption(flags, o)
	}
}

func addOption(flags *pflag.FlagSet, o *option.Option) {
	if flags.Lookup(o.Name) != nil {
		return
	}
	f := flags.VarPF(o, o.Name, "", o.Usage)
	if o.Type() == "bool" {
		f.NoOptDefVal = "true"
	}
}

// Limits returns flags for the limits of all formats.
func Limits() *pflag.FlagSet {
	all := pflag.NewFlagSet("limits", pflag.ContinueOnError)
	all.SortFlags = false
	for _, name := range format.Names() {
		f, _ := format.Named(name)
		for _, o := range f.Reader().Set.All() {
			if o.Limit {
				addOption(all, o)
			}
		}
	}
	return all
}

// Changed returns the values of the flags that were given.
func Changed(flags *pflag.FlagSet) map[string]string {
	set := make(map[string]string)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			set[f.Name] = f.Value.String()
		}
	})
	return set
}

// MaxSamples registers --max-samples.
func MaxSamples(flags *pflag.FlagSet, o *record.Options) {
	flags.Var(option.Count(&o.MaxSamples, record.MaxSamples), "max-samples", "most samples of a shard accepted; each takes 12 bytes of memory")
}

// DecodeLimits registers --max-decode-size and --max-decode-depth.
func DecodeLimits(flags *pflag.FlagSet, l *decode.Limits, size, depth string) {
	flags.Var(option.MaxSize(&l.MaxDecode, decode.DefaultMaxDecode), "max-decode-size", size)
	l.MaxDepth = decode.DefaultMaxDepth
	flags.Var(option.Between(&l.MaxDepth, 4, 65535), "max-decode-depth", depth+", 4 to 65535")
}
