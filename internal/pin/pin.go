// Package pin compares two states of an input by what is known of each: names and values, such as
// an ETag, a version, a checksum and a time.
//
//	was := pin.Of("etag", "9a0364b9", "version", "3")
//	how, other := was.Differs(now)
//
// A service need not say the same of an object each time: a list says less than the answer to
// HEAD, and an AIStore adds a checksum once it has a copy. So names that both states have are
// compared, and there must be one.
package pin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Pin is what is known of one state: name=value, sorted by name, with a space between two.
// "": nothing is known.
type Pin string

// Version is the name of a number that begins at 1 again where an object is removed and made
// anew: it tells that two states differ, and alone it does not tell that they are the same.
const Version = "version"

// mostValue bounds a value, which a server has chosen: a longer one stands by its SHA-256.
const mostValue = 64 // bytes

// Of makes a pin of names and values in turn. Empty values are left out; of a name that comes
// again the first value counts.
func Of(pairs ...string) Pin {
	var all, names []string
	for i := 0; i+1 < len(pairs); i += 2 {
		name, value := pairs[i], pairs[i+1]
		if value == "" || slices.Contains(names, name) {
			continue
		}
		if len(value) > mostValue {
			sum := sha256.Sum256([]byte(value))
			value = hex.EncodeToString(sum[:])
		}
		names = append(names, name)
		all = append(all, name+"="+url.PathEscape(value))
	}
	slices.Sort(all)
	return Pin(strings.Join(all, " "))
}

// values yields the values by name.
func (p Pin) values() map[string]string {
	all := make(map[string]string)
	for pair := range strings.FieldsSeq(string(p)) {
		name, value, _ := strings.Cut(pair, "=")
		all[name] = value
	}
	return all
}

// Tells reports whether an equal pin is of an equal state: whether more than a version is known.
func (p Pin) Tells() bool {
	for name := range p.values() {
		if name != Version {
			return true
		}
	}
	return false
}

// Differs reports whether now is, or may be, another state than p, and how it shows. Where nothing
// is known of one of them they do not differ. A pin that tells more than a version must have such
// a value in common with now.
func (p Pin) Differs(now Pin) (how string, other bool) {
	if p == "" || now == "" {
		return "", false
	}
	if how, other := p.Contradicts(now); other {
		return how, true
	}
	was, is := p.values(), now.values()
	for name := range was {
		if _, there := is[name]; there && (name != Version || !p.Tells()) {
			return "", false
		}
	}
	return fmt.Sprintf("known by %s before, by %s now", strings.Join(sorted(was), ", "), strings.Join(sorted(is), ", ")), true
}

// Contradicts reports whether now gives a name that p has another value. It is for the replies
// about one object within one run, some of which say little.
func (p Pin) Contradicts(now Pin) (how string, other bool) {
	was, is := p.values(), now.values()
	for _, name := range sorted(was) {
		if value, there := is[name]; there && value != was[name] {
			return fmt.Sprintf("%s was %s, is %s", name, readable(name, was[name]), readable(name, value)), true
		}
	}
	return "", false
}

// Modified is the name of the time of a file, and File its pin: nanoseconds since 1970, since a journal
// holds thousands.
const Modified = "modified"

// File pins a file by the time of its last change; zero: nothing is known.
func File(modified time.Time) Pin {
	if modified.IsZero() {
		return ""
	}
	return Of(Modified, strconv.FormatInt(modified.UnixNano(), 10))
}

// readable is a value as an error shows it.
func readable(name, value string) string {
	if n, err := strconv.ParseInt(value, 10, 64); name == Modified && err == nil {
		return time.Unix(0, n).UTC().Format(time.RFC3339Nano)
	}
	return value
}

func sorted(values map[string]string) []string {
	names := make([]string, 0, len(values))
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
