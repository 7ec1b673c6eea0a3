package encode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/ffconvert/ffconvert/converters"
)

// Decodable reports whether Options.Decode decodes the named field. The size of such a field in a
// record depends on its content, so a shape must have the content.
//
// The suffix of the name after the last dot decides, in upper or lower case: a field cls or index
// is a decimal integer, txt or text is UTF-8, and json, mp, msgpack or cbor is a value in that
// format. No other field is decodable; in particular, pickles (pyd, pth) are never decoded.
func Decodable(field string) bool {
	decode, _ := decodingOf(field)
	return decode != nil
}

// decodingOf returns the decoder of the named field, or nil if it is not decodable. plain means that
// the decoded value shares the memory of the field.
func decodingOf(field string) (decode func(*decoder, []byte) (converters.Value, error), plain bool) {
	switch strings.ToLower(field[strings.LastIndexByte(field, '.')+1:]) {
	case "cls", "index":
		return (*decoder).integer, false
	case "txt", "text":
		return (*decoder).text, true
	case "json":
		return (*decoder).json, false
	case "mp", "msgpack":
		return (*decoder).msgpack, false
	case "cbor":
		return (*decoder).cbor, false
	}
	return nil, false
}

// A decoder decodes fields. It must not be used concurrently.
type decoder struct {
	limits Limits // with defaults filled in
	data   []byte // the field that reader reads
	reader bytes.Reader
	mp     *msgpack.Decoder
	cborDM cbor.DecMode

	jsonReader jsonReader
}

func newDecoder(limits Limits) *decoder {
	limits = limits.filled()
	return &decoder{limits: limits, mp: msgpack.NewDecoder(nil), cborDM: newCBORDecMode(limits.MaxDepth)}
}

// field returns the decoded value of f. If f is not decodable or not of kind bytes, it returns the
// value of f unchanged.
func (d *decoder) field(f *converters.Field) (converters.Value, error) {
	v := f.Value
	decode, plain := decodingOf(f.Name)
	if decode == nil || v.Kind() != converters.KindBytes {
		return v, nil
	}
	if !plain && v.Len() > d.limits.MaxDecode {
		return v, &hintedError{fmt.Errorf("%w: it has %d bytes, more than %d", converters.ErrLimit, v.Len(), d.limits.MaxDecode), "raise Limits.MaxDecode; " + undecoded}
	}
	if v.Unread() {
		return v, errors.New("internal error: the index did not read a field that is to be decoded")
	}
	decoded, err := decode(d, v.Data())
	if err != nil {
		hint := undecoded
		if more := Hint(err); more != "" {
			hint = more + "; " + hint
		}
		return v, &hintedError{err, hint}
	}
	return decoded, nil
}

const undecoded = "without Options.Decode it stays bytes"

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", converters.ErrMalformed, fmt.Errorf(format, args...))
}

func keyTwice(key any) error { return malformed("the key %.40q comes twice", fmt.Sprint(key)) }

// unexpected returns a malformed error for an error of a library.
func unexpected(what string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return malformed("%s ends too early", what)
	}
	return malformed("bad %s: %w", what, err)
}

func (d *decoder) tooDeep() error { return tooDeep(d.limits.MaxDepth) }

func tooDeep(most int) error {
	return &hintedError{fmt.Errorf("%w: lists and maps are nested more than %d deep", converters.ErrLimit, most), "raise Limits.MaxDepth"}
}

// integer decodes a decimal integer. Like Python's int it accepts a sign and surrounding blanks.
func (d *decoder) integer(data []byte) (converters.Value, error) {
	n, err := strconv.ParseInt(string(bytes.Trim(data, " \t\n\v\f\r")), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return converters.Value{}, fmt.Errorf("%w: %.40q does not fit into 64 bits", converters.ErrUnsupported, data)
	case err != nil:
		return converters.Value{}, malformed("%.40q is not an integer", data)
	}
	return converters.Int(n), nil
}

func (d *decoder) text(data []byte) (converters.Value, error) {
	if err := checkUTF8(data); err != nil {
		return converters.Value{}, err
	}
	return converters.Text(data), nil
}

func checkUTF8(data []byte) error {
	if utf8.Valid(data) {
		return nil
	}
	at := 0
	for at < len(data) {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return malformed("it is not UTF-8 at byte %d", at)
}
