package remote

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ffconvert/ffconvert/internal/pin"
)

// What an AIStore says of an object depends on its bucket, on whether the object has been read
// through it before, and on whether it is listed or looked at:
//
//	Ais-Version                       counts in a bucket of its own, from 1 for an object made anew; the cloud's, where that has one
//	Ais-Checksum-Type, -Value         of what it stores itself; a list has the value alone
//	Etag, Last-Modified               of the cloud, or of the stored copy
//	Ais-Custom-Md: ETag=…             the same of a cloud, with LastModified, md5, crc32c, version; user's own names
//	"custom-md": "[ETag:… …]"         these in a list
//
// https://github.com/NVIDIA/aistore/blob/main/cmn/objattrs.go, cmn/objlist_utils.go

// aisPinned begins the Version of an object whose rest is a [pin.Pin].
const aisPinned = "ais "

func aisVersion(p pin.Pin) string {
	if p == "" {
		return ""
	}
	return aisPinned + string(p)
}

// Pin is what is known of the object that tells this state of it from another. An ETag that is weak may
// stay when the bytes change, so that the time counts beside it, as it does where there is no version.
func (o Object) Pin() pin.Pin {
	if p, ok := strings.CutPrefix(o.Version, aisPinned); ok {
		return pin.Pin(p)
	}
	if strings.HasPrefix(o.Version, "W/") || o.Version == "" {
		modified := ""
		if !o.Modified.IsZero() {
			modified = o.Modified.UTC().Format(time.RFC3339Nano)
		}
		return pin.Of(pin.Version, o.Version, "modified", modified)
	}
	return pin.Of("state", o.Version)
}

// samePin refuses a reply about another state of the object than the one that was found.
func samePin(o Object, now pin.Pin) error {
	if how, other := o.Pin().Contradicts(now); other {
		return &Error{URL: Redact(o.URL), Kind: ErrChanged, Err: fmt.Errorf("%s", clean(how)), Hint: againHint}
	}
	return nil
}

// aisPin is what the headers of a reply say. whole: the reply is of all bytes, and so is the checksum.
func aisPin(h http.Header, whole bool) pin.Pin {
	pairs := []string{pin.Version, h.Get("Ais-Version"), "etag", strong(h.Get("Etag")), "modified", seconds(lastModified(h))}
	if sum := h.Get("Ais-Checksum-Value"); whole && sum != "" {
		pairs = append(pairs, sumPair(sum)...)
	}
	for _, field := range h.Values("Ais-Custom-Md") {
		pairs = append(pairs, customPairs(strings.Split(field, ","), "=", ",")...)
	}
	return pin.Of(pairs...)
}

// aisListPin is what an entry of a list says. The checksum of a cloud's object is what its ETag
// is, or the checksum of a copy: it is left out.
func aisListPin(provider, version, sum, custom string) pin.Pin {
	pairs := []string{pin.Version, version}
	if provider == "ais" {
		pairs = append(pairs, sumPair(sum)...)
	}
	custom = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(custom, "map"), "["), "]")
	return pin.Of(append(pairs, customPairs(strings.Split(custom, " "), ":", " ")...)...)
}

// sumPair names a checksum by its length, since a list does not tell its kind.
func sumPair(value string) []string {
	if b, err := hex.DecodeString(value); err == nil && len(b) > 0 {
		return []string{"sum" + strconv.Itoa(8*len(b)), strings.ToLower(value)}
	}
	return nil
}

// customNames are the custom metadata that a cloud gives. Others are the user's own: they may change
// while the object does not.
var customNames = []string{"ETag", "LastModified", "Last-Modified", "md5", "crc32c", "version"}

// customPairs reads the custom metadata out of what lies between separators. What begins with none
// of the names belongs to the value before it: a time may hold a separator.
func customPairs(fields []string, cut, separator string) []string {
	type pair struct{ name, value string }
	var all []pair
	for _, field := range fields {
		name, value, ok := strings.Cut(field, cut)
		if name = strings.TrimSpace(name); ok && !strings.Contains(name, " ") && strings.Trim(name[:min(1, len(name))], "0123456789") != "" {
			all = append(all, pair{name, value})
		} else if n := len(all); n > 0 {
			all[n-1].value += separator + field
		}
	}
	var pairs []string
	for _, p := range all {
		if !slices.Contains(customNames, p.name) {
			continue
		}
		switch p.name {
		case "ETag":
			pairs = append(pairs, "etag", strong(p.value))
		case "md5", "crc32c":
			pairs = append(pairs, p.name, p.value)
		case "version":
			pairs = append(pairs, pin.Version, p.value)
		default:
			pairs = append(pairs, "modified", seconds(customTime(p.value)))
		}
	}
	return pairs
}

// customTime reads a time as headers have it, or as lists do.
func customTime(v string) time.Time {
	if t, err := http.ParseTime(v); err == nil {
		return t
	}
	t, err := time.Parse(time.RFC3339, v)
	if err != nil {
		return time.Time{}
	}
	return t
}

// seconds is a time as a pin has it: headers and lists tell it to the second.
func seconds(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
