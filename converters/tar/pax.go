package tar

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// An override holds metadata before a member that replaces values of its header.
type override struct {
	path    []byte // from PAX
	long    []byte // from GNU
	size    int64  // from PAX; -1: none
	hasPath bool
	hasLong bool
	hasLink bool
	hasPAX  bool
}

func (o *override) reset() {
	*o = override{path: o.path[:0], long: o.long[:0], size: -1}
}

// any reports whether there was metadata since the last member.
func (o *override) any() bool { return o.hasPAX || o.hasLong || o.hasLink }

// longName parses the payload of a GNU long name: the name, then only NULs.
func (o *override) longName(payload []byte, link bool) error {
	name := cstring(payload)
	switch {
	case !zeros(payload[len(name):]):
		return fmt.Errorf("%w: bytes behind the end of a GNU long name", converters.ErrMalformed)
	case len(name) == 0:
		return fmt.Errorf("%w: an empty GNU long name", converters.ErrMalformed)
	case link && o.hasLink, !link && o.hasLong:
		return fmt.Errorf("%w: two GNU long names for one member", converters.ErrMalformed)
	case link:
		o.hasLink = true // links are skipped, so their target does not matter
	default:
		o.long, o.hasLong = append(o.long[:0], name...), true
	}
	return nil
}

// records parses the payload of a PAX header: records "%d key=value\n", where the number is the length of
// the record (POSIX.1-2017, pax, "pax Extended Header").
func (o *override) records(b []byte, global bool) error {
	if !global {
		if o.hasPAX {
			return fmt.Errorf("%w: two PAX headers for one member", converters.ErrMalformed)
		}
		o.hasPAX = true
	}
	for len(b) > 0 {
		n, i := 0, 0
		for ; i < len(b) && i < 8 && b[i]-'0' < 10; i++ {
			n = n*10 + int(b[i]-'0')
		}
		if i == 0 || b[0] == '0' || i == len(b) || b[i] != ' ' || n > len(b) || n <= i+1 || b[n-1] != '\n' {
			return fmt.Errorf("%w: a PAX record has a wrong length", converters.ErrMalformed)
		}
		key, value, ok := bytes.Cut(b[i+1:n-1], []byte{'='})
		if !ok || len(key) == 0 {
			return fmt.Errorf("%w: a PAX record without a key", converters.ErrMalformed)
		}
		if err := o.record(key, value, global); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// record applies one PAX record.
func (o *override) record(key, value []byte, global bool) error {
	switch k := string(key); {
	case strings.HasPrefix(k, "GNU.sparse."), k == "SCHILY.realsize", k == "SUN.holesdata":
		return fmt.Errorf("%w (PAX %s)", errSparse, clip(key))
	case strings.HasPrefix(k, "GNU.volume."):
		return fmt.Errorf("%w: one volume of several (PAX %s)", converters.ErrUnsupported, clip(key))
	case k == "hdrcharset":
		if v := string(value); v != "BINARY" && v != "ISO-IR 10646 2000 UTF-8" {
			return fmt.Errorf("%w: names in the character set %q", converters.ErrUnsupported, v)
		}
	case k != "path" && k != "linkpath" && k != "size":
		return nil // times, owners and attributes are not used
	}
	if global {
		return fmt.Errorf("%w: a global PAX header that sets %s", converters.ErrUnsupported, clip(key))
	}
	switch string(key) {
	case "path":
		if o.hasPath || len(value) == 0 || bytes.IndexByte(value, 0) >= 0 {
			return fmt.Errorf("%w: PAX path %q", converters.ErrMalformed, clip(value))
		}
		o.path, o.hasPath = append(o.path[:0], value...), true
	case "size":
		n, ok := decimal(value)
		if o.size >= 0 || !ok {
			return fmt.Errorf("%w: PAX size %q", converters.ErrMalformed, clip(value))
		}
		o.size = n
	}
	return nil
}

// decimal parses a number below 10¹⁸, digits only.
func decimal(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// clip shortens a text for an error.
func clip(b []byte) []byte { return b[:min(len(b), 80)] }
