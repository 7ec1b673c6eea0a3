package format

import (
	"slices"

	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/encode"
)

// loaded returns a function that reports whether an index must read a field; nil: it reads none.
func loaded(rec encode.Options) func(string) bool {
	switch {
	case rec.Load == nil && !rec.Decode:
		return nil
	case rec.Load == nil:
		return encode.Decodable
	}
	return func(field string) bool {
		return slices.Contains(*rec.Load, field) || rec.Decode && encode.Decodable(field)
	}
}

// duplicateOption adds on-duplicate-key.
func duplicateOption(set *option.Set, where string) *option.Choice {
	v := &option.Choice{Value: "error", Words: []string{"error", "keep"}}
	set.Add("on-duplicate-key", "what to do when a key comes back later in one "+where+": error or keep", v)
	return v
}
