package jsonvalue

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// What is accepted is well-formed by another judge.
func FuzzNew(f *testing.F) {
	f.Add([]byte(`{"a": [1, 2.5e3, null, {"b": "\ud83d\ude00"}], "": -5}`))
	f.Add([]byte(`[NaN, -Infinity, {"NaN": "\\"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := New(0)(data)
		if err == nil {
			if data, _ := withoutNaN(data, nil); !json.Valid(data) {
				t.Errorf("%q is no JSON", data)
			}
		} else if !errors.Is(err, converters.ErrMalformed) && !errors.Is(err, converters.ErrUnsupported) && !errors.Is(err, converters.ErrLimit) {
			t.Fatalf("an error of no kind: %v", err)
		}
	})
}
