// Package columns has what Parquet and Arrow share as sources: limits with the option that sets them, fields that are
// needed, names of classes by Hugging Face's metadata, files beside a part, decimals as text.
package columns

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// ElementSize is about the memory of an element of a nested value, bytes.
const ElementSize = 64

// A Hinted error has what to do about it beside its text.
type Hinted struct {
	Err  error
	Hint string
}

func (e *Hinted) Error() string { return e.Err.Error() }

// Unwrap returns the error without the hint.
func (e *Hinted) Unwrap() error { return e.Err }

// Place makes err an error at a place, with the hint that err has. nil stays nil.
func Place(at converters.Error, err error) error {
	if err == nil {
		return nil
	}
	at.Err = err
	if h, ok := errors.AsType[*Hinted](err); ok {
		at.Hint = h.Hint
	}
	return &at
}

// Over reports that a limit is exceeded, which an option sets.
func Over(option, format string, args ...any) error {
	return &Hinted{fmt.Errorf("%w: %s", converters.ErrLimit, fmt.Sprintf(format, args...)), "option " + option}
}

// Needed returns a function that reports whether a field is in one of the lists of alternatives. All are if a list has no
// name of fields, or if lists is nil.
func Needed(lists [][]string, fields []string) func(field string) bool {
	needs := make(map[string]bool)
	all := lists == nil
	for _, names := range lists {
		all = all || !slices.ContainsFunc(names, func(name string) bool { return slices.Contains(fields, name) })
		for _, name := range names {
			needs[name] = true
		}
	}
	return func(field string) bool { return all || needs[field] }
}

// Classes returns the names of the classes, by number, of the only column that Hugging Face's metadata says is of
// labels. It is nil if there is no such column, or more than one.
func Classes(metadata []byte) []string {
	var meta struct {
		Info struct {
			Features map[string]json.RawMessage `json:"features"`
		} `json:"info"`
	}
	if json.Unmarshal(metadata, &meta) != nil {
		return nil // of another program
	}
	var found []string
	labels := 0
	for _, raw := range meta.Info.Features {
		var f struct {
			Type  string   `json:"_type"`
			Names []string `json:"names"`
		}
		if json.Unmarshal(raw, &f) == nil && f.Type == "ClassLabel" {
			labels++
			found = f.Names
		}
	}
	if labels != 1 {
		return nil
	}
	return found
}

// Decimal writes a number with its last scale digits behind the point.
func Decimal(n *big.Int, scale int32) string {
	digits := new(big.Int).Abs(n).String()
	if scale > 0 {
		if missing := int(scale) + 1 - len(digits); missing > 0 {
			digits = strings.Repeat("0", missing) + digits
		}
		digits = digits[:len(digits)-int(scale)] + "." + digits[len(digits)-int(scale):]
	}
	if n.Sign() < 0 {
		digits = "-" + digits
	}
	return digits
}

// UUID returns the text of a UUID of 16 bytes.
func UUID(b []byte) []byte {
	var all []byte
	for i, n := range []int{4, 2, 2, 2, 6} {
		if i > 0 {
			all = append(all, '-')
		}
		all, b = hex.AppendEncode(all, b[:n]), b[n:]
	}
	return all
}

// TwosComplement returns a big-endian number.
func TwosComplement(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// Own returns a value as a part of a nested one, without memory that it shares.
func Own(v *converters.Value) any {
	switch v.Kind() {
	case converters.KindInt:
		return v.Int()
	case converters.KindFloat:
		return v.Float()
	case converters.KindText:
		return string(v.Data())
	case converters.KindBytes:
		return append([]byte{}, v.Data()...)
	}
	return v.Nested()
}
