package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/text"
)

// The head of an array file is a Python dict (numpy.lib.format). A type is text, or a list of tuples of name and type.
var (
	npyObject = text.Pattern(`(?:'descr':|,)\s*'[|<>=]?O[0-9]*'`)
	npyType   = text.Pattern(`'descr':\s*'[|<>=]([biufcmMSVU])([0-9]{1,18})(?:\[[^']*\])?'`)
	npyShape  = text.Pattern(`'shape':\s*\(([0-9, ]*)\)`)
)

// verifyNPY checks an array file, which stays bytes: numpy.load reads it. It refuses an array of Python objects,
// whose content is a pickle, and one that has other bytes than its shape wants. Structured types are not counted.
//
//	93 'NUMPY', version u8 u8, length of the head u16 (version 1) or u32, little-endian, the head, the items
func verifyNPY(data []byte) error {
	const magic = "\x93NUMPY"
	if len(data) < 10 || string(data[:6]) != magic {
		return malformed("it is not an array file of numpy")
	}
	at, n := 10, int64(binary.LittleEndian.Uint16(data[8:]))
	if data[6] > 1 && len(data) >= 12 {
		at, n = 12, int64(binary.LittleEndian.Uint32(data[8:]))
	}
	if n > int64(len(data)-at) {
		return malformed("the array file ends inside its head")
	}
	head, items := data[at:at+int(n)], int64(len(data)-at)-n
	if npyObject().Match(head) {
		return fmt.Errorf("%w: an array of Python objects, which is a pickle", converters.ErrUnsupported)
	}
	shape := npyShape().FindSubmatch(head)
	if shape == nil || !bytes.Contains(head, []byte("'descr':")) {
		return malformed("the head of the array file has no shape or no type")
	}
	typ := npyType().FindSubmatch(head)
	if typ == nil {
		return nil
	}
	want, _ := strconv.ParseInt(string(typ[2]), 10, 64)
	if typ[1][0] == 'U' {
		want *= 4
	}
	empty, fits := false, true
	for edge := range strings.SplitSeq(string(shape[1]), ",") {
		if edge = strings.TrimSpace(edge); edge == "" {
			continue
		}
		n, err := strconv.ParseInt(edge, 10, 64)
		empty = empty || n == 0 && err == nil
		if fits = fits && err == nil && (n == 0 || want <= math.MaxInt64/n); fits {
			want *= n
		}
	}
	if empty {
		want, fits = 0, true
	}
	if !fits || want != items {
		return malformed("the array file has %d bytes of items, its shape (%s) of %s%s wants others", items, shape[1], typ[1], typ[2])
	}
	return nil
}
