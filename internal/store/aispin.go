package store

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ffconvert/ffconvert/internal/pin"
)

// The attributes of an AIStore's object depend on its bucket, on whether AIStore has read the object
// from its cloud before, and on whether they come from a list or from HEAD and GET:
//
//	Ais-Version                       counts in a bucket of its own, from 1 for an object made anew; the cloud's, where that has one
//	Ais-Checksum-Type, -Value         of objects that it stores; a list has only the value
//	Etag, Last-Modified               of the cloud, or of the stored copy
//	Ais-Custom-Md: ETag=…             the same of a cloud, with LastModified, md5, crc32c, version; user's own names
//	"custom-md": "[ETag:… …]"         the same in a list
//
// https://github.com/NVIDIA/aistore/blob/main/cmn/objattrs.go, cmn/objlist_utils.go

// aisPinned is the prefix of a Version that is a [pin.Pin].
const aisPinned = "ais "

func aisVersion(p pin.Pin) string {
	if p == "" {
		return ""
	}
	return aisPinned + string(p)
}

// Pin returns the attributes that identify this state of the object. A weak ETag may stay when the
// bytes change: the time is added to it, and is used in place of a missing version.
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

// samePin returns an error if a reply is about another state of the object than o.
func samePin(o Object, now pin.Pin) error {
	if how, other := o.Pin().Contradicts(now); other {
		return &Error{URL: Redact(o.URL), Kind: ErrChanged, Err: fmt.Errorf("%s", clean(how)), Hint: againHint}
	}
	return nil
}

// aisPin returns the attributes in the headers of a reply. Only the checksum of a whole object counts.
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

// aisListPin returns the attributes of an entry of a list. The checksum of a cloud's object is left out:
// it is either the ETag or the checksum of a copy.
func aisListPin(provider, version, sum, custom string) pin.Pin {
	pairs := []string{pin.Version, version}
	if provider == "ais" {
		pairs = append(pairs, sumPair(sum)...)
	}
	custom = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(custom, "map"), "["), "]")
	return pin.Of(append(pairs, customPairs(strings.Split(custom, " "), ":", " ")...)...)
}

// sumPair names a checksum by its length, since a list does not have its kind.
func sumPair(value string) []string {
	if b, err := hex.DecodeString(value); err == nil && len(b) > 0 {
		return []string{"sum" + strconv.Itoa(8*len(b)), strings.ToLower(value)}
	}
	return nil
}

// customPairs parses the custom metadata of a cloud. Other names are the user's own: they may change
// without the object. A field that does not begin with a name belongs to the value before it: a time may
// contain the separator.
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
		switch p.name {
		case "ETag":
			pairs = append(pairs, "etag", strong(p.value))
		case "md5", "crc32c":
			pairs = append(pairs, p.name, p.value)
		case "version":
			pairs = append(pairs, pin.Version, p.value)
		case "LastModified", "Last-Modified":
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
	t, _ := time.Parse(time.RFC3339, v) // zero after an error
	return t
}

// seconds formats a time for a pin, to the second, as headers and lists have it.
func seconds(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
