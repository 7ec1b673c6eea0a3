package encode

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
)

const anyValueHint = "Options.Encoding msgpack, cbor or pickle take any value"

// A valueKind is what values of a column have in common.
type valueKind int

const (
	kindNull valueKind = iota
	kindBool
	kindInt
	kindUint // an integer above math.MaxInt64
	kindFloat
	kindText
	kindBytes
	kindList
	kindMap
)

var kindNames = [...]string{"null", "true or false", "an integer", "an integer of 64 bits", "a float", "text", "bytes", "a list", "a map"}

// kindOf returns what the values have in common, and how many are null.
func kindOf(values []any) (common valueKind, nulls int, err error) {
	for _, x := range values {
		kind := kindNull
		switch x.(type) {
		case nil:
			nulls++
		case bool:
			kind = kindBool
		case int64:
			kind = kindInt
		case uint64:
			kind = kindUint
		case float64:
			kind = kindFloat
		case string:
			kind = kindText
		case []byte:
			kind = kindBytes
		case []any:
			kind = kindList
		case converters.Map:
			kind = kindMap
		default:
			return 0, 0, fmt.Errorf("internal error: a value of the type %T", x)
		}
		switch low, high := min(kind, common), max(kind, common); {
		case low == high || low == kindNull || low == kindInt && (high == kindUint || high == kindFloat):
			common = high
		default:
			return 0, 0, unlikeValues(kindNames[common], kindNames[kind])
		}
	}
	return common, nulls, nil
}

// unlikeValues reports values that no column holds together.
func unlikeValues(one, other string) error {
	return &hintedError{fmt.Errorf("%w: arrow has no column for %s beside %s", converters.ErrUnsupported, one, other), anyValueHint}
}
