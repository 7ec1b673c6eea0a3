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

// json decodes one JSON text (RFC 8259). It refuses input that encoding/json would change silently:
// repeated keys, bytes that are not UTF-8, unpaired surrogates, integers that do not fit into 64
// bits, and other numbers that overflow a float64.
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
		return converters.Value{}, malformed("there is more after the JSON value at byte %d", dec.InputOffset())
	}
	return converters.ValueOf(x), nil
}

// jsonValue decodes the next value, in which lists and maps may be nested up to depth levels.
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
		key := token.(string) // Token returns an error for other keys
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

// jsonEnd reads the closing bracket of a list or a map.
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

// loneSurrogate returns the position of the first escaped surrogate that is not part of a pair, or
// -1. Every backslash in valid JSON begins an escape or is escaped.
func loneSurrogate(data []byte) int {
	for at := 0; ; {
		next := bytes.IndexByte(data[at:], '\\')
		if next < 0 {
			return -1
		}
		at += next
		r := escapedRune(data[at:])
		if !utf16.IsSurrogate(r) {
			at = min(at+2, len(data)) // skip both bytes: the second may be an escaped backslash
			continue
		}
		if utf16.DecodeRune(r, escapedRune(data[at+6:])) == '\uFFFD' {
			return at
		}
		at += 12
	}
}

// escapedRune returns the code point of \uXXXX at the start of data, or 0.
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

// ParseJSON decodes one JSON text as Options.Decode decodes a field json.
func ParseJSON(data []byte, limits Limits) (converters.Value, error) {
	return newDecoder(limits).json(data)
}
