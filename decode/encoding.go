// Package decode turns records into samples, the inverse of package encode, and decodes single fields of samples.
//
//	dec, err := decode.New("msgpack", decode.Limits{})
//	sample, err := dec.Decode(record)
//
// Records and fields may be any bytes: memory and stack are bounded by [Limits].
package decode

import (
	"fmt"
	"slices"
	"strings"
)

// encodings are the names of the encodings.
var encodings = []string{"msgpack", "cbor", "raw", "pickle", "arrow"}

// An UnknownError reports an encoding that does not exist.
type UnknownError struct{ Encoding string }

func (e *UnknownError) Error() string {
	return fmt.Sprintf("encoding %.40q is not known; want one of %s, raw:FIELD, or pickle:FIELD,FIELD", e.Encoding, strings.Join(encodings, ", "))
}

// Parse splits an encoding, such as "raw:jpg;png" or "pickle:jpg,cls", into its name and the fields that it names, each as a list of
// alternatives; nil: it names none. "" is msgpack. The error is [*UnknownError] if the encoding does not exist.
func Parse(encoding string) (name string, fields [][]string, err error) {
	name, arg, named := strings.Cut(encoding, ":")
	switch {
	case encoding == "":
		return "msgpack", nil, nil
	case !slices.Contains(encodings, name):
		return name, nil, &UnknownError{encoding}
	case !named:
		return name, nil, nil
	case name == "raw":
		fields = [][]string{strings.Split(arg, ";")}
		err = checkNames(fields[0])
	case name == "pickle":
		fields, err = Choices(arg)
	default:
		err = fmt.Errorf("%s takes no argument", name)
	}
	if err == nil {
		err = twice(fields)
	}
	if err != nil {
		return name, nil, fmt.Errorf("encoding %q: %w", encoding, err)
	}
	return name, fields, nil
}

// Choices splits "jpg;png,cls": fields, each a list of alternative names.
func Choices(s string) (all [][]string, err error) {
	for choice := range strings.SplitSeq(s, ",") {
		names := strings.Split(choice, ";")
		if err := checkNames(names); err != nil {
			return nil, err
		}
		all = append(all, names)
	}
	return all, nil
}

func checkNames(names []string) error {
	if slices.Contains(names, "") {
		return fmt.Errorf("%q has an empty field name", strings.Join(names, ";"))
	}
	return nil
}

// twice refuses a tuple in which two values have one name: a tuple has no names, so each value gets the first one of its choice.
func twice(tuple [][]string) error {
	for i, c := range tuple {
		if slices.ContainsFunc(tuple[:i], func(other []string) bool { return other[0] == c[0] }) {
			return fmt.Errorf("%q comes twice", c[0])
		}
	}
	return nil
}
