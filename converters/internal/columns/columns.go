// Package columns is shared by the sources Parquet and Arrow: limits with the option that sets them, selection of
// fields, class names from Hugging Face's metadata, files next to a part, decimals as text.
package columns

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
)

// ElementSize is the approximate memory of one element of a nested value, in bytes.
const ElementSize = 64

// Over returns the error for a limit that is exceeded. option is the name of the option that sets the limit.
func Over(option, format string, args ...any) error {
	return place.WithHint(fmt.Errorf("%w: %s", converters.ErrLimit, fmt.Sprintf(format, args...)), "option "+option)
}

// Needed returns a function that reports whether a field is in one of the lists of alternatives. It returns true for
// all fields if a list has none of fields, or if lists is nil.
func Needed(lists [][]string, fields []converters.ColumnType) func(field string) bool {
	needs := make(map[string]bool)
	all := lists == nil
	for _, names := range lists {
		all = all || !slices.ContainsFunc(fields, func(f converters.ColumnType) bool { return slices.Contains(names, f.Name) })
		for _, name := range names {
			needs[name] = true
		}
	}
	return func(field string) bool { return all || needs[field] }
}

// Describe describes the needed fields of a table, and its classes by Hugging Face's metadata.
func Describe(lists [][]string, fields []converters.ColumnType, metadata []byte) converters.Description {
	needed := Needed(lists, fields)
	return converters.Description{Encoding: "msgpack", Classes: classes(metadata), Columns: slices.DeleteFunc(slices.Clone(fields),
		func(f converters.ColumnType) bool { return f.Name == converters.KeyField || !needed(f.Name) })}
}

// Check returns an error if two fields have the same name, or if the key, which is text or not, is not.
func Check(fields []converters.ColumnType, text bool) error {
	seen := make(map[string]bool)
	for _, f := range fields {
		if seen[f.Name] {
			return fmt.Errorf("%w field %q", converters.ErrDuplicate, f.Name)
		}
		seen[f.Name] = true
	}
	if seen[converters.KeyField] && !text {
		return fmt.Errorf("%w: the column %q, the key, is not text", converters.ErrUnsupported, converters.KeyField)
	}
	return nil
}

// classes returns the class names, by number, of the only column that is a ClassLabel in Hugging Face's metadata. It is
// nil if there is no such column, or more than one.
func classes(metadata []byte) []string {
	var meta struct {
		Info struct {
			Features map[string]json.RawMessage `json:"features"`
		} `json:"info"`
	}
	if json.Unmarshal(metadata, &meta) != nil {
		return nil // metadata of another program
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

// Decimal formats n with its last scale digits after the decimal point.
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

// UUID formats a 16-byte UUID.
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

// TwosComplement converts a big-endian two's complement number.
func TwosComplement(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// Own returns a value as an element of a nested one, in memory that is not shared.
func Own(v *converters.Value) any {
	if v.Kind() == converters.KindBytes {
		return append([]byte{}, v.Data()...)
	}
	return v.Any()
}
