package decode

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/jsonvalue"
	"github.com/ffconvert/ffconvert/internal/place"
)

// Decodable reports whether [NewField] decodes the named field. The size of such a field in a
// record depends on its content, so a shape must have the content.
//
// The suffix of the name after the last dot decides, in upper or lower case, as in webdataset's
// autodecode.py: a field cls, cls2, index, inx or id is a decimal integer, txt, text or transcript is UTF-8, json or
// jsn, mp, msg or msgpack, and cbor is a value in that format, ten or tb is a list of arrays, each the bytes of an array file of numpy. Before a
// further suffix gz they are compressed by gzip. No other field is decodable: npy and npz stay the bytes that numpy reads, and pickles
// (pyd, pth) are never decoded.
func Decodable(field string) bool {
	decode, _ := decodingOf(field)
	return decode != nil
}

// Verified reports whether [NewField] checks the named field, which stays bytes: an array file of numpy.
func Verified(field string) bool { return suffixOf(field) == "npy" }

// suffixOf returns what follows the last dot of a name, in lower case.
func suffixOf(field string) string {
	return strings.ToLower(field[strings.LastIndexByte(field, '.')+1:])
}

// CutGzip returns the name of a field without its suffix gz, and whether it has that.
func CutGzip(field string) (name string, compressed bool) {
	if at := len(field) - len(".gz"); at >= 0 && strings.EqualFold(field[at:], ".gz") {
		return field[:at], true
	}
	return field, false
}

// decodingOf returns the decoder of the named field without its suffix gz, or nil if it is not decodable. plain means that
// the decoded value takes about as much memory as its encoded form, or shares that memory.
func decodingOf(field string) (decode func(*decoder, []byte) (converters.Value, error), plain bool) {
	name, _ := CutGzip(field)
	switch suffixOf(name) {
	case "cls", "cls2", "index", "inx", "id":
		return integer, false
	case "txt", "text", "transcript":
		return textField, true
	case "json", "jsn":
		return func(d *decoder, b []byte) (converters.Value, error) { return d.json(b) }, false
	case "mp", "msg", "msgpack":
		return func(d *decoder, b []byte) (converters.Value, error) { return d.msgpack.field(b) }, false
	case "cbor":
		return func(d *decoder, b []byte) (converters.Value, error) { return d.cbor.field(b) }, false
	case "ten", "tb":
		return tenbin, true
	}
	return nil, false
}

// A decoder decodes fields.
type decoder struct {
	limits  Limits // with defaults filled in
	reader  bytes.Reader
	gzip    gzip.Reader
	msgpack *items
	cbor    *items
	json    func([]byte) (converters.Value, error)
}

// NewField returns a function that decodes a field, for many. It must not be used concurrently. A field that is not decodable or not
// of kind bytes stays as it is. Errors wrap one of package converters: ErrMalformed, ErrUnsupported, ErrLimit.
func NewField(limits Limits) func(*converters.Field) (converters.Value, error) {
	limits = limits.filled()
	d := &decoder{limits: limits, msgpack: newMsgpack(limits), cbor: newCBOR(limits), json: jsonvalue.New(limits.MaxDepth)}
	return d.field
}

func (d *decoder) field(f *converters.Field) (converters.Value, error) {
	v := f.Value
	decode, plain := decodingOf(f.Name)
	_, compressed := CutGzip(f.Name)
	switch {
	case v.Kind() != converters.KindBytes:
		return v, nil
	case decode == nil && Verified(f.Name) && !v.Unread():
		if err := verifyNPY(v.Data()); err != nil {
			return v, place.WithHint(err, undecoded)
		}
		return v, nil
	case decode == nil:
		return v, nil
	}
	if (!plain || compressed) && v.Len() > d.limits.MaxDecode {
		return v, place.WithHint(fmt.Errorf("%w: it has %d bytes, more than %d", converters.ErrLimit, v.Len(), d.limits.MaxDecode), "raise option max-decode-size; "+undecoded)
	}
	if v.Unread() {
		return v, errors.New("internal error: the index did not read a field that is to be decoded")
	}
	data, err := v.Data(), error(nil)
	if compressed {
		data, err = d.gunzip(data)
	}
	var decoded converters.Value
	if err == nil {
		decoded, err = decode(d, data)
	}
	if err != nil {
		hint := undecoded
		if more := place.HintOf(err); more != "" {
			hint = more + "; " + hint
		}
		return v, place.WithHint(err, hint)
	}
	return decoded, nil
}

// gunzip decompresses all members of a gzip file, to Limits.MaxDecode bytes at most. Their CRCs and lengths are compared.
func (d *decoder) gunzip(data []byte) ([]byte, error) {
	d.reader.Reset(data)
	err := d.gzip.Reset(&d.reader)
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(&d.gzip, d.limits.MaxDecode+1))
	}
	switch {
	case err != nil:
		return nil, unexpected("gzip", err)
	case int64(len(data)) > d.limits.MaxDecode:
		return nil, place.WithHint(fmt.Errorf("%w: decompressed it has more than %d bytes", converters.ErrLimit, d.limits.MaxDecode), "raise option max-decode-size")
	}
	return data, nil
}

const undecoded = "without option decode it stays bytes"

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

func tooDeep(most int) error {
	return place.WithHint(fmt.Errorf("%w: lists and maps are nested more than %d deep", converters.ErrLimit, most), "raise option max-decode-depth")
}

// integer decodes a decimal integer. Like Python's int it accepts a sign and surrounding blanks.
func integer(_ *decoder, data []byte) (converters.Value, error) {
	n, err := strconv.ParseInt(string(bytes.Trim(data, " \t\n\v\f\r")), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return converters.Value{}, fmt.Errorf("%w: %.40q does not fit into 64 bits", converters.ErrUnsupported, data)
	case err != nil:
		return converters.Value{}, malformed("%.40q is not an integer", data)
	}
	return converters.Int(n), nil
}

func textField(_ *decoder, data []byte) (converters.Value, error) {
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
