package folder

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// keys finds files of one directory with the same key. Files in different directories have different
// keys, because a key begins with the directory.
type keys struct {
	l     *listing
	o     *Options
	dir   []byte // its path
	level level
	last  []byte // name of the previous file
	key   []byte // its key without dir; nil if it has no suffix
}

// add adds the next file. It returns the name of an earlier file with the same key, or nil. joins means that both files
// are one sample.
func (k *keys) add(at uint32) (twin []byte, joins bool) {
	if k.o.Flat && !k.o.Group {
		return nil, false // the key is the path, or [walker.pair] finds equal keys
	}
	name := k.l.names.name(at)
	last, key := k.last, k.key
	k.last, k.key = name, nil
	dot := splitName(k.dir, name)
	if dot < 0 {
		return nil, false
	}
	k.key = name[:dot]
	if key != nil && bytes.Equal(key, k.key) {
		return last, k.o.Group
	}
	if k.level.bare { // the key may be the whole name of another file
		order := k.level.order
		i, found := slices.BinarySearchFunc(order, k.key, func(at uint32, key []byte) int {
			return bytes.Compare(k.l.names.name(at), key)
		})
		if found && k.l.names.kind(order[i]).isFile() {
			return k.l.names.name(order[i]), false
		}
	}
	return nil, false
}

// fileCost is added to the size of a sample for each file, as for a member of a tar, so that MaxSample also limits the
// number of fields.
const fileCost = 512

// A group collects the files of one sample.
type group struct {
	bytes  int64 // payload, and fileCost for each file
	class  bool  // the sample has a class
	fields scan.FieldSet
	names  scan.FieldNames
}

func (g *group) reset(class bool) {
	g.bytes, g.class = 0, class
	g.fields.Reset()
}

// add adds the field that a suffix names.
func (g *group) add(suffix []byte) error {
	name, err := g.names.Of(suffix)
	switch {
	case err != nil:
		return err
	case g.class && name == fieldClass:
		return fmt.Errorf("%w field %q, which is the number of the class", converters.ErrDuplicate, name)
	case !g.fields.Add(name):
		return fmt.Errorf("%w field %q in its sample", converters.ErrDuplicate, name)
	}
	return nil
}
