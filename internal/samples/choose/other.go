package choose

import (
	"cmp"
	"fmt"
	"strings"
)

// settings lists all options, in one order: their names, and their values as texts, "" where one is not set.
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

// Other says in which option a dataset that was made with was differs from one made with is; "": in none. nil is
// the zero value.
func Other(was, is *Options) string {
	was, is = cmp.Or(was, &Options{}), cmp.Or(is, &Options{})
	now := is.settings()
	for i, o := range was.settings() {
		switch {
		case o == now[i]:
		case o[1] == "":
			return "it was made without option " + o[0]
		default:
			return fmt.Sprintf("it was made with option %s=%s", o[0], o[1])
		}
	}
	return ""
}
