package format

import (
	"errors"
	"io/fs"
	"os"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/option"
)

// loaded returns a function that reports whether an index must read a field; nil: it reads none.
func loaded(rec encode.Options) func(string) bool {
	if rec.Load == nil && !rec.Decode && rec.Tensor == "" && rec.Damaged == "" {
		return nil
	}
	return rec.Loads
}

func duplicateOption(set *option.Set, where string) *option.Choice {
	v := &option.Choice{Value: "error", Words: []string{"error", "keep"}}
	set.Add("on-duplicate-key", "what to do when a key comes back later in one "+where+": error or keep", v)
	return v
}

func openNamed(name, of string) (*os.File, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &converters.Error{Where: name, Off: -1, Err: input.ErrNotFound, Hint: "option " + of}
	}
	return f, err
}
