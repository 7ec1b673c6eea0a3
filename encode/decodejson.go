package encode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/ffconvert/ffconvert/converters"
)

// json decodes one JSON text (RFC 8259). What encoding/json would change in silence is
// refused: keys that come twice, bytes that are not UTF-8, halves of surrogate pairs,
// numbers that fit neither 64 bits nor a float64.
func (d *decoder) json(data []byte) (converters.Value, error) {
	if err := checkUTF8(data); err != nil {
		return converters.Value{}, err
	}
	if at := loneSurrogate(data); at >= 0 {
		return converters.Value{}, malformed("half of a surrogate pair at byte %d", at)
	}
	d.reader.Reset(data)
	dec := json.NewDecoder(&d.reader)
	dec.UseNumber()
	x, err := d.jsonValue(dec, d.limits.MaxDepth)
	if err != nil {
		return converters.Value{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return converters.Value{}, malformed("there is more behind the JSON value at byte %d", dec.InputOffset())
	}
	return valueOf(x), nil
}

// jsonValue decodes the next value; depth more lists and maps may be opened.
func (d *decoder) jsonValue(dec *json.Decoder, depth int) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, unexpected("JSON", err)
	}
	switch token := token.(type) {
	case json.Number:
		return jsonNumber(token.String())
	case json.Delim:
		if depth == 0 {
			return nil, d.tooDeep()
		}
		if token == '[' {
			return d.jsonList(dec, depth-1)
		}
		return d.jsonMap(dec, depth-1)
	}
	return token, nil // nil, bool, string
}

func (d *decoder) jsonList(dec *json.Decoder, depth int) (any, error) {
	list := []any{}
	for dec.More() {
		x, err := d.jsonValue(dec, depth)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, jsonEnd(dec)
}

func (d *decoder) jsonMap(dec *json.Decoder, depth int) (any, error) {
	var m converters.MapBuilder
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, unexpected("JSON", err)
		}
		key := token.(string) // or Token had returned an error
		x, err := d.jsonValue(dec, depth)
		if err != nil {
			return nil, err
		}
		if !m.Add(key, x) {
			return nil, keyTwice(key)
		}
	}
	return m.Map(), jsonEnd(dec)
}

// jsonEnd takes the bracket that closes a list or a map.
func jsonEnd(dec *json.Decoder) error {
	if _, err := dec.Token(); err != nil {
		return unexpected("JSON", err)
	}
	return nil
}

func jsonNumber(s string) (any, error) {
	if strings.ContainsAny(s, ".eE") {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: the number %.40s does not fit into a float64", converters.ErrUnsupported, s)
		}
		return x, nil
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%w: the integer %.40s does not fit into 64 bits", converters.ErrUnsupported, s)
	}
	return n, nil
}

// loneSurrogate returns where an escaped surrogate stands without its other half, -1 where
// none does. In JSON a backslash is an escape wherever it stands.
func loneSurrogate(data []byte) int {
	for at := 0; ; {
		next := bytes.IndexByte(data[at:], '\\')
		if next < 0 {
			return -1
		}
		at += next
		r := escapedRune(data[at:])
		if !utf16.IsSurrogate(r) {
			at = min(at+2, len(data)) // the second may be a backslash that ends the escape
			continue
		}
		if utf16.DecodeRune(r, escapedRune(data[at+6:])) == '\uFFFD' {
			return at
		}
		at += 12
	}
}

// escapedRune returns what the \uXXXX at the start of data stands for, 0 where there is none.
func escapedRune(data []byte) rune {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return 0
	}
	n, err := strconv.ParseUint(string(data[2:6]), 16, 16)
	if err != nil {
		return 0
	}
	return rune(n)
}
