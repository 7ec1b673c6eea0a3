package choose

import (
	"cmp"
	"fmt"
	"strings"
)

// settings returns the name and the value of each option, in a fixed order; the value is "" if the option is not set.
func (o *Options) settings() [][2]string {
	set := func(k *keySet) string {
		if k == nil {
			return ""
		}
		return fmt.Sprintf("a list of %d keys (SHA-256 %.12s…)", k.N, k.SHA256)
	}
	number := func(n uint64) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprint(n)
	}
	return [][2]string{
		{"keys", set(o.Keys)}, {"drop-keys", set(o.Drop)}, {"unknown-keys", o.Unknown},
		{"where", o.Where}, {"sample", o.Sample},
		{"split", o.Split}, {"side", o.Side}, {"split-by", o.SplitBy}, {"value", o.Value},
		{"seed", number(o.Seed)}, {"slice", o.Slice}, {"limit", number(uint64(o.Limit))}, {"sort", o.Sort},
	}
}

// String lists the options that are set.
func (o *Options) String() string {
	var each []string
	for _, s := range o.settings() {
		if s[1] != "" {
			each = append(each, s[0]+"="+s[1])
		}
	}
	return strings.Join(each, ", ")
}

// Other describes the first option in which made, the options of an existing dataset, differs from now; "" if none
// does. nil means the zero value.
func Other(made, now *Options) string {
	made, now = cmp.Or(made, &Options{}), cmp.Or(now, &Options{})
	set := now.settings()
	for i, o := range made.settings() {
		switch {
		case o == set[i]:
		case o[1] == "":
			return "it was made without option " + o[0]
		default:
			return fmt.Sprintf("it was made with option %s=%s", o[0], o[1])
		}
	}
	return ""
}
