package help

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// merges are flags that group others: --s3 region=R sets --s3-region, which is hidden from the help and still works. members
// has NAME:FLAG, or FLAG if both are the same. Every limit, a flag max-NAME, is a member of max. An entry without a usage
// extends a flag that the command has already.
var merges = []struct{ name, members, usage string }{
	{"max", "", "a limit, NAME=VALUE; may be repeated. An input beyond it is refused"},
	{"keys", "not:drop-keys unknown:unknown-keys", ""},
	{"filter", "timeout:filter-timeout", ""},
	{"tensor", "size:resize", ""},
	{"sign", "password-file", ""},
	{"shards", "max:max-shards", ""},
	{"shard-size", "min:min-shard-size", ""},
	{"table", "columns:table-columns delimiter:table-delimiter quotes:table-quotes", "how the tables of --add-field are written; may be repeated"},
	{"part", "count:data-part-num prefix:part-name-prefix digits:part-name-suffix-length", "how the parts in a directory are named; may be repeated"},
	{"s3", "endpoint:s3-endpoint region:s3-region profile:s3-profile path-style:s3-path-style", "how the S3 service is reached; may be repeated"},
	{"fetch", "connections retries timeout:fetch-timeout", "how objects are fetched and uploaded; may be repeated"},
	{"bucket", "scratch-dir scratch-size verify:verify-remote", "an OUT in an object store; may be repeated"},
	{"aio", "backend queue-depth block-size", "how shards are read; may be repeated"},
}

// member returns the merged flag that a flag of this name is a member of, and the name there; "" if it is none.
func member(flag string) (into, name string) {
	if name, ok := strings.CutPrefix(flag, "max-"); ok && name != "shards" && name != "count" { // they set sizes of the output
		return "max", name
	}
	m := members()[flag]
	return m[0], m[1]
}

// members has the merged flag and the name there for each member but limits.
var members = sync.OnceValue(func() map[string][2]string {
	all := make(map[string][2]string)
	for _, m := range merges {
		for text := range strings.FieldsSeq(m.members) {
			name, flag, ok := strings.Cut(text, ":")
			if !ok {
				flag = name
			}
			all[flag] = [2]string{m.name, name}
		}
	}
	return all
})

// isMember reports whether a flag of a command is behind a merged one.
func isMember(f *pflag.Flag) bool {
	into, _ := member(f.Name)
	return f.Hidden && into != ""
}

// Flag returns what sets an option on the command line: --seed, or --max row-size for the option max-row-size.
func Flag(option string) string {
	if into, name := member(option); into != "" {
		return "--" + into + " " + name
	}
	return "--" + option
}

// A merged is the value of a flag of merges.
type merged struct {
	pflag.Value // of the flag by itself; nil: it has none
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

// MergeFlags adds the flags of merges to cmd and its subcommands.
func MergeFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	byName := make(map[string]*merged)
	flags.VisitAll(func(f *pflag.Flag) {
		into, name := member(f.Name)
		if into == "" {
			return
		}
		if byName[into] == nil {
			byName[into] = &merged{flags: flags, members: make(map[string]string)}
		}
		v := byName[into]
		v.names, v.members[name] = append(v.names, name), f.Name
	})
	for _, m := range merges {
		v, base := byName[m.name], flags.Lookup(m.name)
		if v == nil || base == nil && m.usage == "" {
			continue
		}
		for _, name := range v.members {
			flags.Lookup(name).Hidden = true
		}
		if base == nil {
			flags.Var(v, m.name, m.usage)
		} else {
			v.Value, base.Value = base.Value, v
		}
	}
	for _, c := range cmd.Commands() {
		MergeFlags(c)
	}
}
