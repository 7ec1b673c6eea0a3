// Package jsonvalue reads and writes values of fields as JSON, in the order of the source. Numbers that JSON does not have are NaN,
// Infinity and -Infinity, as Python's json writes and reads them.
package jsonvalue

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/ffconvert/ffconvert/converters"
)

// bytesKey is the only key of the JSON object that represents bytes, in base64.
const bytesKey = "$bytes"

// AppendFloat appends the shortest decimal form of x that reads back as x. It has a point or an exponent, so that it
// does not read back as an integer. Beyond these it is nan, inf or -inf.
func AppendFloat(b []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(b, "nan"...)
	case math.IsInf(x, 1):
		return append(b, "inf"...)
	case math.IsInf(x, -1):
		return append(b, "-inf"...)
	}
	from := len(b)
	form := byte('f')
	if e := math.Abs(x); e != 0 && (e < 1e-6 || e >= 1e21) {
		form = 'e'
	}
	b = strconv.AppendFloat(b, x, form, -1, 64)
	if !bytes.ContainsAny(b[from:], ".e") {
		b = append(b, ".0"...)
	}
	return b
}

// Append appends the value of a field. Bytes are an object with the key bytesKey. The error is
// [converters.ErrUnsupported] for what JSON does not have: keys of maps that are not text, and a map of the one key
// bytesKey.
func Append(b []byte, v *converters.Value) ([]byte, error) { return writer{bytes: true}.value(b, v) }

// AppendPlain is Append for readers that do not know BytesKey: bytes are ErrUnsupported, and a map with that key is a
// map.
func AppendPlain(b []byte, v *converters.Value) ([]byte, error) { return writer{}.value(b, v) }

// appendNumber is AppendFloat for JSON as Python has it.
func appendNumber(b []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(b, "NaN"...)
	case math.IsInf(x, 1):
		return append(b, "Infinity"...)
	case math.IsInf(x, -1):
		return append(b, "-Infinity"...)
	}
	return AppendFloat(b, x)
}

// A writer writes bytes as an object, or refuses them.
type writer struct{ bytes bool }

func (w writer) value(b []byte, v *converters.Value) ([]byte, error) {
	switch v.Kind() {
	case converters.KindBytes:
		return w.any(b, v.Data())
	case converters.KindText:
		return AppendString(b, string(v.Data())), nil
	case converters.KindInt:
		return strconv.AppendInt(b, v.Int(), 10), nil
	case converters.KindFloat:
		return w.any(b, v.Float())
	}
	return w.any(b, v.Nested())
}

func noJSON(format string, args ...any) error {
	return fmt.Errorf("%w: JSON has no %s", converters.ErrUnsupported, fmt.Sprintf(format, args...))
}

// any appends a value of one of the types that [converters.Nested] accepts.
func (w writer) any(b []byte, x any) ([]byte, error) {
	switch x := x.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, x), nil
	case int64:
		return strconv.AppendInt(b, x, 10), nil
	case uint64:
		return strconv.AppendUint(b, x, 10), nil
	case float64:
		return appendNumber(b, x), nil
	case string:
		return AppendString(b, x), nil
	case []byte:
		if !w.bytes {
			return b, noJSON("bytes")
		}
		return appendBytes(b, x), nil
	case []any:
		return w.list(b, x)
	case converters.Column:
		return w.list(b, x.Values)
	case converters.Map:
		return w.object(b, x)
	}
	return b, fmt.Errorf("%w: a nested value of the Go type %T", converters.ErrUnsupported, x)
}

func (w writer) list(b []byte, list []any) (_ []byte, err error) {
	b = append(b, '[')
	for i, x := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = w.any(b, x); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

func (w writer) object(b []byte, pairs converters.Map) (_ []byte, err error) {
	b = append(b, '{')
	for i, p := range pairs {
		key, ok := p.Key.(string)
		if !ok {
			return b, noJSON("keys that are not text, such as %v", p.Key)
		}
		if w.bytes && key == bytesKey && len(pairs) == 1 {
			return b, fmt.Errorf("%w: a map of the one key %q, which means bytes", converters.ErrUnsupported, bytesKey)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendString(b, key), ':')
		if b, err = w.any(b, p.Value); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

// AppendString appends a text. Bytes that are not UTF-8 become U+FFFD.
func AppendString(b []byte, s string) []byte {
	if plain(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string has no error
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte{'\n'})...)
}

// plain reports whether JSON holds a text without escapes.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f || s[i] == '"' || s[i] == '\\' {
			return false
		}
	}
	return true
}

func appendBytes(b, data []byte) []byte {
	b = append(b, `{"`+bytesKey+`":"`...)
	b = base64.StdEncoding.AppendEncode(b, data)
	return append(b, `"}`...)
}
