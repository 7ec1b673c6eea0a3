package encode

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/decode"
)

// Values of Options.Missing.
const (
	MissingError = "error" // refuse the input
	MissingSkip  = "skip"  // leave the sample out, and count it
)

// Options choose the fields and the encoding of records. The zero value is all fields, encoded in
// MessagePack. The JSON form is part of the plan file.
type Options struct {
	Encoding string   `json:"encoding"`          // msgpack (the default), cbor, pickle, arrow, raw, raw:FIELD or pickle:FIELD,FIELD
	Fields   string   `json:"fields,omitempty"`  // fields to keep, in order: "jpg;png,cls"; ";" = first that exists; default all
	Rename   []string `json:"rename,omitempty"`  // "image=jpg;png"; applied before Fields
	Missing  string   `json:"missing,omitempty"` // MissingError (default) or MissingSkip

	// Damaged is the treatment of samples with a picture, a sound or a film that is empty or cut: DamagedKeep (default),
	// DamagedSkip or DamagedError. For the last two an index must read all bytes.
	Damaged string `json:"damaged,omitempty"`

	// Encoded means that the first field of a sample is its record in this Encoding already, whose bytes are
	// written unchanged; its other fields are copies of values in the record. It goes with none of the options above
	// and below.
	Encoded bool `json:"encoded,omitempty"`

	// Decode decodes the fields of a record for which [decode.Decodable] reports true. The name before Rename counts.
	Decode bool `json:"decode,omitempty"`

	// Tensor names fields with pictures, by their suffixes, "jpg,png", or where they have no such suffix as a whole, "image/encoded". They
	// become their pixels: uint8, height × width × 3, as an array file of numpy that is named "npy" in place of its suffix, or
	// "image/encoded.npy", unless Rename names it; in raw records the pixels alone. Resize is their size: "256", of the
	// shorter edge, or "224x224", width and height; "" leaves it. The names before Rename count.
	Tensor string `json:"tensor,omitempty"`
	Resize string `json:"resize,omitempty"`

	// Load names fields, before Rename, whose bytes an index reads though the sizes of records do not depend on them: those that a
	// choice of samples compares. They do not change the bytes of records, so a plan does not have them.
	Load []string `json:"-"`

	// Limits bound the fields that Decode decodes. They do not change the bytes of records, so a
	// plan does not have them.
	Limits decode.Limits `json:"-"`
}

// Rewrites reports whether the options choose or change fields.
func (o *Options) Rewrites() bool {
	return o.Fields != "" || o.Rename != nil || o.Decode || o.Tensor != ""
}

// Loads reports whether an index must read the bytes of a field: the size of the record depends on them, or Load names it.
func (o *Options) Loads(field string) bool {
	return o.refusesDamaged() || o.Decode && decode.Decodable(field) || slices.Contains(o.Load, field) ||
		o.Tensor != "" && isTensor(o.Tensor, field)
}

func (o *Options) refusesDamaged() bool { return o.Damaged == DamagedSkip || o.Damaged == DamagedError }

// Needs returns the fields of a sample that records may have, by their names before Rename, and those of Load: lists of
// alternatives, of which one must exist. It is nil if all are needed. A source with columns reads those alone.
func (o *Options) Needs() (all [][]string) {
	_, only, _ := strings.Cut(o.Encoding, ":")
	if o.Fields == "" && only == "" {
		return nil
	}
	from := make(map[string][]string) // by the new name
	for _, r := range o.Rename {
		name, list, _ := strings.Cut(r, "=")
		from[name] = strings.Split(list, ";")
		all = append(all, from[name])
	}
	for choice := range strings.SplitSeq(cmp.Or(o.Fields, only), ",") {
		names := strings.Split(choice, ";")
		for _, name := range names {
			names = append(names, from[name]...)
		}
		all = append(all, names)
	}
	for _, name := range o.Load {
		all = append(all, []string{name})
	}
	return all
}
