package jsonvalue

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

func TestAppend(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		v    converters.Value
		want string // "": refused
	}{
		{converters.Bytes([]byte{0, 255}), `{"$bytes":"AP8="}`},
		{converters.Bytes(nil), `{"$bytes":""}`},
		{converters.Text([]byte("a\"<\n")), `"a\"<\n"`},
		{converters.Text([]byte("\\\x7f\xff")), `"\\` + "\x7f" + `\ufffd"`},
		{converters.Int(-7), `-7`},
		{converters.Float(2), `2.0`},
		{converters.Float(1e300), `1e+300`},
		{converters.Float(math.NaN()), `NaN`},
		{converters.Nested(nil), `null`},
		{converters.Nested([]any{int64(1), uint64(1 << 63), true, 0.5, "x", []byte("y"), []any{}}), `[1,9223372036854775808,true,0.5,"x",{"$bytes":"eQ=="},[]]`},
		{converters.Nested(converters.Column{Type: "int64", Values: []any{int64(3), nil}}), `[3,null]`},
		{converters.Nested(converters.Map{{Key: "b", Value: int64(1)}, {Key: "a", Value: converters.Map{}}}), `{"b":1,"a":{}}`},
		{converters.Nested(converters.Map{{Key: int64(1), Value: int64(1)}}), ``},
		{converters.Nested(converters.Map{{Key: bytesKey, Value: "x"}}), ``},
		{converters.Nested([]any{math.Inf(-1), math.Inf(1)}), `[-Infinity,Infinity]`},
	} {
		got, err := Append(nil, &row.v)
		switch {
		case row.want == "":
			if !errors.Is(err, converters.ErrUnsupported) {
				t.Errorf("%s, %v: want a refusal", got, err)
			}
		case err != nil || string(got) != row.want:
			t.Errorf("%s, %v; want %s", got, err, row.want)
		case !json.Valid(got) && !strings.ContainsAny(row.want, "NI"):
			t.Errorf("%s is not JSON", got)
		}
	}
}

// Plain JSON has no bytes, and no key with a meaning.
func TestAppendPlain(t *testing.T) {
	t.Parallel()
	for _, v := range []converters.Value{converters.Bytes([]byte("x")), converters.Nested([]any{[]byte("x")})} {
		if got, err := AppendPlain(nil, &v); !errors.Is(err, converters.ErrUnsupported) {
			t.Errorf("%s, %v: want a refusal", got, err)
		}
	}
	v := converters.Nested(converters.Map{{Key: bytesKey, Value: "x"}})
	if got, err := AppendPlain(nil, &v); err != nil || string(got) != `{"$bytes":"x"}` {
		t.Errorf("%s, %v", got, err)
	}
}
