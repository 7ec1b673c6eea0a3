package store

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ffconvert/ffconvert/internal/files"
)

// Which attributes AIStore sends of an object depends on the bucket, on whether AIStore has cached the object
// of a cloud, and on the request (a list, or HEAD and GET):
//
//	Ais-Version                       a counter from 1 in AIStore's buckets; in a cloud's bucket the version of the cloud, if it has one
//	Ais-Checksum-Type, -Value         of objects that AIStore stores; a list has only the value
//	Etag, Last-Modified               of the object in the cloud, or of the cached copy
//	Ais-Custom-Md: ETag=…             ETag, LastModified, md5, crc32c and version of the cloud; also names that the user has set
//	"custom-md": "[ETag:… …]"         the same in a list
//
// https://github.com/NVIDIA/aistore/blob/main/cmn/objattrs.go, cmn/objlist_utils.go

// aisPinned begins a Version that holds a [files.Pin].
const aisPinned = "ais "

func aisVersion(p files.Pin) string {
	if p == "" {
		return ""
	}
	return aisPinned + string(p)
}

// Pin returns the attributes that identify this version of the object. If the ETag is weak, which may stay
// the same when the bytes change, or the version is missing, the pin has the modification time as well.
func (o Object) Pin() files.Pin {
	if p, ok := strings.CutPrefix(o.Version, aisPinned); ok {
		return files.Pin(p)
	}
	if strings.HasPrefix(o.Version, "W/") || o.Version == "" {
		modified := ""
		if !o.Modified.IsZero() {
			modified = o.Modified.UTC().Format(time.RFC3339Nano)
		}
		return files.PinOf(files.PinVersion, o.Version, "modified", modified)
	}
	return files.PinOf("state", o.Version)
}

// samePin returns [ErrChanged] if now, the attributes in a reply, contradict those of o.
func samePin(o Object, now files.Pin) error {
	if how, other := o.Pin().Contradicts(now); other {
		return &Error{URL: Redact(o.URL), Kind: ErrChanged, Err: fmt.Errorf("%s", clean(how)), Hint: againHint}
	}
	return nil
}

// aisPin returns the attributes in the headers of a reply, with the checksum if the body is the whole object.
func aisPin(h http.Header, whole bool) files.Pin {
	pairs := []string{files.PinVersion, h.Get("Ais-Version"), "etag", strong(h.Get("Etag")), "modified", seconds(lastModified(h))}
	if sum := h.Get("Ais-Checksum-Value"); whole && sum != "" {
		pairs = append(pairs, sumPair(sum)...)
	}
	for _, field := range h.Values("Ais-Custom-Md") {
		pairs = append(pairs, customPairs(strings.Split(field, ","), "=", ",")...)
	}
	return files.PinOf(pairs...)
}

// aisListPin returns the attributes of a list entry. It ignores the checksum of an object of a cloud, which
// is either the ETag or the checksum of the cached copy.
func aisListPin(provider, version, sum, custom string) files.Pin {
	pairs := []string{files.PinVersion, version}
	if provider == "ais" {
		pairs = append(pairs, sumPair(sum)...)
	}
	custom = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(custom, "map"), "["), "]")
	return files.PinOf(append(pairs, customPairs(strings.Split(custom, " "), ":", " ")...)...)
}

// sumPair returns a checksum under a name made of its length in bits, since a list does not give its kind.
func sumPair(value string) []string {
	if b, err := hex.DecodeString(value); err == nil && len(b) > 0 {
		return []string{"sum" + strconv.Itoa(8*len(b)), strings.ToLower(value)}
	}
	return nil
}

// customPairs parses custom metadata into the attributes of the cloud. It ignores other names: a user may
// change them without changing the bytes. A field that does not begin with a name continues the previous
// value: a time may contain the separator.
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
			pairs = append(pairs, files.PinVersion, p.value)
		case "LastModified", "Last-Modified":
			pairs = append(pairs, "modified", seconds(customTime(p.value)))
		}
	}
	return pairs
}

// customTime parses a time in the format of headers or of lists; zero if it is malformed.
func customTime(v string) time.Time {
	if t, err := http.ParseTime(v); err == nil {
		return t
	}
	t, _ := time.Parse(time.RFC3339, v)
	return t
}

// seconds formats a time for a pin, to the second, which is the resolution of headers and lists; "" if t is zero.
func seconds(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
