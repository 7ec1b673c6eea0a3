package checksum

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Words returns an error of encoding/json without the types of Go.
func Words(err error) error {
	if at, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		is, _, _ := strings.Cut(at.Value, " ") // "number 1.5"
		if at.Field == "" {
			return fmt.Errorf("it is a JSON %s, not %s", is, jsonType(at.Type))
		}
		return fmt.Errorf("member %q is a JSON %s, not %s", at.Field, is, jsonType(at.Type))
	}
	if at, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("not JSON at byte %d: %w", at.Offset, err)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("its JSON is cut short: %w", io.ErrUnexpectedEOF)
	}
	if text := strings.TrimPrefix(fmt.Sprint(err), "json: "); err != nil && text != err.Error() {
		return errors.New(text) // unknown field "x"
	}
	return err
}

// jsonType names the JSON that is decoded into a type.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "an integer"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "an integer of at least 0"
	}
	return "an object"
}
