package encode

import (
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/picture"
	"github.com/ffconvert/ffconvert/internal/place"
)

// Values of Options.Damaged.
const (
	DamagedKeep  = "keep"  // write the field as it is; Encoder.Damaged has it
	DamagedSkip  = "skip"  // leave the sample out, and count it
	DamagedError = "error" // refuse the input
)

// errNotWhole reports that a picture, a sound or a film of a sample is empty or cut, and that Options.Damaged refuses it.
var errNotWhole = errors.New("not whole")

// ErrSkipDamaged is an [ErrSkip]: a field is not whole, and Options.Damaged leaves the sample out.
var ErrSkipDamaged = fmt.Errorf("%w or not whole", ErrSkip)

// A Damage is a field of a record that is not whole.
type Damage struct {
	Field string // its name before Options.Rename
	Why   string // "cut: it has no end (IEND)"
}

// An inspector looks at the beginning and the end of the fields of samples. The zero value is ready.
type inspector struct {
	known []knownField // of the sample before, by the index of the field
	found []Damage
}

type knownField struct {
	name string
	kind picture.Kind
}

// look returns the fields that are not whole among those that picks selects; nil selects all. A shape has no bytes, so
// look finds nothing in it. The result is valid until the next call.
func (w *inspector) look(fields []converters.Field, picks []pick) []Damage {
	w.found = w.found[:0]
	if picks == nil {
		for i := range fields {
			w.field(i, &fields[i])
		}
	}
	for _, p := range picks {
		w.field(p.from, &fields[p.from])
	}
	return w.found
}

func (w *inspector) field(i int, f *converters.Field) {
	if f.Value.Kind() != converters.KindBytes || f.Value.Unread() {
		return
	}
	for i >= len(w.known) {
		w.known = append(w.known, knownField{})
	}
	k := &w.known[i]
	if k.name != f.Name {
		*k = knownField{f.Name, picture.Named(f.Name)}
	}
	if why := picture.Problem(k.kind, f.Value.Data()); why != "" {
		w.found = append(w.found, Damage{f.Name, why})
	}
}

// refuse returns the error of a sample with damaged fields.
func refuse(found []Damage, skip bool) error {
	if skip {
		return ErrSkipDamaged
	}
	return place.WithHint(fmt.Errorf("field %q: %w: %s", found[0].Field, errNotWhole, found[0].Why), "option damaged skip leaves such samples out, keep takes and counts them")
}
