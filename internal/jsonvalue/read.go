package jsonvalue

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
)

// An Error places an error in a JSON text.
type Error struct {
	At  int64 // bytes before it
	Err error
}

func (e *Error) Error() string { return fmt.Sprintf("%v at byte %d", e.Err, e.At) }

func (e *Error) Unwrap() error { return e.Err }

// A reader reads the values of a JSON text (RFC 8259). It refuses what other readers change silently: repeated
// keys, bytes that are not UTF-8, unpaired surrogates, integers that do not fit into 64 bits, and other numbers that
// overflow a float64. Like Python's json it takes NaN, Infinity and -Infinity for numbers. It must not be used concurrently.
type reader struct {
	depth int  // of lists and maps that may be nested
	most  int  // values in lists and maps of a text; 0: any number
	bytes bool // a map with the one key BytesKey is bytes

	dec  *jsontext.Decoder
	text bytes.Buffer
	size int64 // bytes of the text
	open int   // lists and maps that are not closed
	seen int   // values in lists and maps

	values   []any          // of lists that are not closed
	pairs    converters.Map // of maps that are not closed
	unquoted []byte         // texts that had escapes
	known    map[string]any // short strings that were read

	beyond []beyond // numbers that JSON does not have and that are to be read, in their order

	// Of objects that are samples; see NewObjects.
	keyField string
	sample   converters.Sample
}

// Limits of reader.known: bytes of a string, and strings.
const mostShort, mostKnown = 32, 1024

// mostDepth is the deepest nesting that the library reads.
const mostDepth = 10_000

// New returns a function that decodes one JSON text. Lists and maps are nested up to maxDepth levels; 0: 32. Errors wrap one of
// package converters: ErrMalformed, ErrUnsupported, ErrLimit. The function must not be used concurrently.
func New(maxDepth int) func(text []byte) (converters.Value, error) {
	return (&reader{depth: cmp.Or(maxDepth, 32)}).decode
}

func (r *reader) decode(text []byte) (converters.Value, error) {
	r.start(text)
	x, err := r.value()
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return converters.Value{}, err
	}
	return converters.ValueOf(x), nil
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %w", converters.ErrMalformed, fmt.Errorf(format, args...))
}

func tooDeep(most int) error {
	return fmt.Errorf("%w: lists and maps are nested more than %d deep", converters.ErrLimit, most)
}

// start begins with a text, which must not change while it is read.
func (r *reader) start(text []byte) {
	text, r.beyond = withoutNaN(text, r.beyond[:0])
	r.text = *bytes.NewBuffer(text)
	r.size, r.open, r.seen = int64(len(text)), 0, 0
	r.values, r.pairs, r.unquoted = r.values[:0], r.pairs[:0], r.unquoted[:0]
	if r.dec == nil {
		r.dec, r.known, r.values, r.pairs = new(jsontext.Decoder), make(map[string]any), []any{}, converters.Map{}
	}
	r.dec.Reset(&r.text)
}

// end returns an error unless the text ends here.
func (r *reader) end() error {
	at := r.dec.InputOffset()
	if _, err := r.dec.ReadToken(); err != io.EOF {
		return &Error{at, malformed("there is more after the JSON value")}
	}
	return nil
}

// bad places an error of the library.
func (r *reader) bad(err error) error {
	var syntax *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{r.size, malformed("JSON ends too early")}
	case !errors.As(err, &syntax):
		return malformed("bad JSON: %w", err)
	case syntax.Err == jsontext.ErrDuplicateName:
		return &Error{syntax.ByteOffset, malformed("the key %.40q comes twice", syntax.JSONPointer.LastToken())}
	}
	return &Error{syntax.ByteOffset, malformed("bad JSON: %w", syntax.Err)}
}

// value reads the next value: nil, bool, int64, uint64 above [math.MaxInt64], float64, string, []any or
// converters.Map.
func (r *reader) value() (any, error) {
	switch r.dec.PeekKind() {
	case '[':
		return r.list()
	case '{':
		return r.object()
	case '0':
		return r.number()
	case '"':
		return r.string()
	}
	token, err := r.dec.ReadToken()
	if err != nil {
		return nil, r.bad(err)
	}
	if token.Kind() == 'n' {
		return nil, nil
	}
	return token.Bool(), nil
}

// begin reads the bracket that opens a list or a map.
func (r *reader) begin() error {
	r.open++
	if r.open > r.depth {
		return place.WithHint(tooDeep(r.depth), "raise option max-decode-depth")
	}
	if r.dec.StackDepth() >= mostDepth {
		return tooDeep(mostDepth)
	}
	_, err := r.dec.ReadToken()
	return err
}

// more reports whether another value comes in a list or a map. At the end it reads the bracket that closes it.
func (r *reader) more(closing jsontext.Kind) (bool, error) {
	if r.dec.PeekKind() != closing {
		if r.seen++; r.seen > r.most && r.most > 0 {
			return false, fmt.Errorf("%w: more than %d values in its lists and maps", converters.ErrLimit, r.most)
		}
		return true, nil
	}
	r.open--
	if _, err := r.dec.ReadToken(); err != nil {
		return false, r.bad(err)
	}
	return false, nil
}

func (r *reader) list() (any, error) {
	if err := r.begin(); err != nil {
		return nil, err
	}
	from := len(r.values)
	for {
		more, err := r.more(']')
		if !more {
			list := slices.Clone(r.values[from:])
			r.values = r.values[:from]
			return list, err
		}
		x, err := r.value()
		if err != nil {
			return nil, err
		}
		r.values = append(r.values, x)
	}
}

func (r *reader) object() (any, error) {
	if err := r.begin(); err != nil {
		return nil, err
	}
	from := len(r.pairs)
	for {
		more, err := r.more('}')
		if !more {
			m := slices.Clone(r.pairs[from:])
			r.pairs = r.pairs[:from]
			return r.plain(m), err
		}
		name, err := r.string() // the library refuses other keys, and keys that come twice
		if err != nil {
			return nil, err
		}
		x, err := r.value()
		if err != nil {
			return nil, err
		}
		r.pairs = append(r.pairs, converters.Pair{Key: name, Value: x})
	}
}

// string reads a string. Short ones that have come before cost no memory.
func (r *reader) string() (any, error) {
	quoted, err := r.dec.ReadValue()
	if err != nil {
		return nil, r.bad(err)
	}
	text := r.unquote(quoted)
	x, ok := r.known[string(text)]
	if !ok {
		s := string(text)
		if x = s; len(s) <= mostShort && len(r.known) < mostKnown {
			r.known[s] = x
		}
	}
	return x, nil
}

// plain returns the bytes that m stands for, or m.
func (r *reader) plain(m converters.Map) any {
	if r.bytes && len(m) == 1 && m[0].Key == bytesKey {
		if text, ok := m[0].Value.(string); ok {
			if b, err := base64.StdEncoding.Strict().DecodeString(text); err == nil {
				return b
			}
		}
	}
	return m
}

// number reads a number: without a point and an exponent an integer, else a float64.
func (r *reader) number() (any, error) {
	text, err := r.dec.ReadValue()
	if err != nil {
		return nil, r.bad(err)
	}
	at := r.dec.InputOffset() - int64(len(text))
	if len(r.beyond) > 0 && r.beyond[0].at == at {
		x := r.beyond[0].x
		r.beyond = r.beyond[1:]
		return x, nil
	}
	if bytes.ContainsAny(text, ".eE") {
		x, err := strconv.ParseFloat(string(text), 64)
		if err != nil {
			return nil, &Error{at, fmt.Errorf("%w: the number %.40s does not fit into a float64", converters.ErrUnsupported, text)}
		}
		return x, nil
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n, nil
	}
	n, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		return nil, &Error{at, fmt.Errorf("%w: the integer %.40s does not fit into 64 bits", converters.ErrUnsupported, text)}
	}
	return n, nil
}
