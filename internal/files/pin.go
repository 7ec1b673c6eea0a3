package files

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

// A Pin is a list of properties, each name=value, sorted by name and separated by spaces. The empty
// Pin means that nothing is known.
//
// A service may report different properties of an object at different times: a list has fewer than
// the reply to HEAD, and AIStore adds a checksum after it has copied an object. So the properties
// that both states have are compared, and there must be at least one.
type Pin string

// PinVersion is the name of the version number. It starts at 1 again when an object is removed and
// created again, so different versions mean different states, but equal versions alone do not mean
// equal states.
const PinVersion = "version"

// mostValue is the longest value kept. A longer value, which a server may choose, is replaced with
// its SHA-256.
const mostValue = 64 // bytes

// PinOf returns a Pin of alternating names and values. It ignores empty values and repeated names.
func PinOf(pairs ...string) Pin {
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

// values returns the values by name.
func (p Pin) values() map[string]string {
	all := make(map[string]string)
	for pair := range strings.FieldsSeq(string(p)) {
		name, value, _ := strings.Cut(pair, "=")
		all[name] = value
	}
	return all
}

// Tells reports whether equal pins mean equal states: whether the Pin has more than a version.
func (p Pin) Tells() bool {
	for name := range p.values() {
		if name != PinVersion {
			return true
		}
	}
	return false
}

// Differs reports whether now is, or may be, another state than p, and describes the difference. An
// empty Pin does not differ from any other. If p has more than a version, p and now must have a
// property other than the version in common.
func (p Pin) Differs(now Pin) (how string, other bool) {
	if p == "" || now == "" {
		return "", false
	}
	if how, other := p.Contradicts(now); other {
		return how, true
	}
	was, is := p.values(), now.values()
	for name := range was {
		if _, there := is[name]; there && (name != PinVersion || !p.Tells()) {
			return "", false
		}
	}
	return fmt.Sprintf("known by %s before, by %s now", strings.Join(sorted(was), ", "), strings.Join(sorted(is), ", ")), true
}

// Contradicts reports whether p and now have different values of one property. It suits replies about
// one object within one run, some of which have few properties.
func (p Pin) Contradicts(now Pin) (how string, other bool) {
	was, is := p.values(), now.values()
	for _, name := range sorted(was) {
		if value, there := is[name]; there && value != was[name] {
			return fmt.Sprintf("%s was %s, is %s", name, readable(name, was[name]), readable(name, value)), true
		}
	}
	return "", false
}

// modifiedKey is the name of the modification time of a file, in nanoseconds since 1970. The form is
// short because a journal has thousands of them.
const modifiedKey = "modified"

// PinOfTime returns the Pin of a file by its modification time. It is empty if the time is zero.
func PinOfTime(modified time.Time) Pin {
	if modified.IsZero() {
		return ""
	}
	return PinOf(modifiedKey, strconv.FormatInt(modified.UnixNano(), 10))
}

// readable returns a value for an error message: times as dates.
func readable(name, value string) string {
	if n, err := strconv.ParseInt(value, 10, 64); name == modifiedKey && err == nil {
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
