package encode

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
)

const anyValueHint = "option encode msgpack, cbor or pickle take any value"

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

// kindOf returns the kind of a value.
func kindOf(x any) (valueKind, error) {
	switch x.(type) {
	case nil:
		return kindNull, nil
	case bool:
		return kindBool, nil
	case int64:
		return kindInt, nil
	case uint64:
		return kindUint, nil
	case float64:
		return kindFloat, nil
	case string:
		return kindText, nil
	case []byte:
		return kindBytes, nil
	case []any:
		return kindList, nil
	case converters.Map:
		return kindMap, nil
	}
	return 0, fmt.Errorf("internal error: a value of the type %T", x)
}

// unlikeValues reports values that no column holds together.
func unlikeValues(one, other string) error {
	return place.WithHint(fmt.Errorf("%w: arrow has no column for %s beside %s", converters.ErrUnsupported, one, other), anyValueHint)
}
