package option

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Merged are flags that set several options: --s3 region=R sets s3-region. Members has NAME:OPTION, or OPTION if both are the
// same. Every limit, an option max-NAME, is a member of max. A flag without a usage sets the option of its name, too.
var Merged = []struct{ Name, Members, Usage string }{
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

// Clashes are pairs of options that exclude each other, with what their refusal says of it. Command, if it is not "", is the
// only command where they do.
var Clashes = []struct{ A, B, Why, Command string }{
	{"quiet", "verbose", "", ""},
	{"quiet", "progress", "; option quiet means option progress none", ""},
	{"exact", "whole-parts", "", ""},
	{"verify", "no-verify", "", ""},
	{"sign", "no-verify", "", ""},
	{"sha256", "no-verify", "", ""},
	{"sign", "dry-run", "", ""},
	{"task", "dry-run", "", ""},
	{"sort", "shuffle", ": both are an order of all samples", ""},
	{"split", "split-by", "", ""},
	{"batches", "duration", "", ""},
	{"sha256", "deep", "", ""},
	{"sha256", "keys", "", "inspect"},
	{"sha256", "format", "", "inspect"},
}

// Clash returns the refusal of two options of a row of Clashes.
func Clash(a, b string) string {
	i := slices.IndexFunc(Clashes, func(c struct{ A, B, Why, Command string }) bool { return c.A == a && c.B == b })
	return fmt.Sprintf("option %s and option %s do not go together%s", a, b, Clashes[i].Why)
}

// Needs are options that do nothing without one of others; Why says so in the refusal. A command that has none of the others
// needs none.
var Needs = []struct{ Name, Others, Why string }{
	{"seed", "shuffle sample split", "nothing is drawn"},
	{"unknown-keys", "keys drop-keys", "no keys are listed"},
	{"filter-timeout", "filter", "no program is run"},
	{"password-file", "sign", "nothing is signed"},
}

// Member returns the merged flag that sets an option, and the name there; "" if there is none.
func Member(option string) (flag, name string) {
	if name, ok := strings.CutPrefix(option, "max-"); ok && name != "shards" && name != "count" { // they set sizes of the output
		return "max", name
	}
	m := members()[option]
	return m[0], m[1]
}

// members has the flag and the name there of each member but limits.
var members = sync.OnceValue(func() map[string][2]string {
	all := make(map[string][2]string)
	for _, g := range Merged {
		for text := range strings.FieldsSeq(g.Members) {
			name, option, ok := strings.Cut(text, ":")
			if !ok {
				option = name
			}
			all[option] = [2]string{g.Name, name}
		}
	}
	return all
})

// IsMerged reports whether a flag sets several options.
func IsMerged(flag string) bool {
	return slices.ContainsFunc(Merged, func(m struct{ Name, Members, Usage string }) bool { return m.Name == flag })
}

// Of returns the option that a merged flag sets by this name, or a text that is no option and says where it was.
func Of(flag, name string) string {
	for option, m := range members() {
		if m == [2]string{flag, name} {
			return option
		}
	}
	if flag != "max" {
		return flag + ": " + name
	}
	return "max-" + name
}

// Keys returns the options of a set but limits, as a specification has them: header, or table: {columns, quotes}.
func Keys(s *Set) []string {
	var keys []string
	last := "" // merged flag of the last key
	for _, o := range s.all {
		switch flag, name := Member(o.Name); {
		case o.Limit:
		case flag == "":
			keys, last = append(keys, o.Name), ""
		case flag == last:
			key := &keys[len(keys)-1]
			*key = strings.TrimSuffix(*key, "}") + ", " + name + "}"
		default:
			keys, last = append(keys, flag+": {"+name+"}"), flag
		}
	}
	return keys
}

// Flag returns what sets an option on the command line: --seed, or --max row-size for max-row-size.
func Flag(option string) string {
	if flag, name := Member(option); flag != "" {
		return "--" + flag + " " + name
	}
	return "--" + option
}
