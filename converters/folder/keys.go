package folder

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/fieldname"
)

// keys finds the files of one directory that share a key. Files of two directories never
// do: a key begins with the directory.
type keys struct {
	l     *listing
	o     *Options
	dir   []byte // its path
	level level
	last  []byte // the file before
	key   []byte // what its key adds to dir; nil where it has no suffix
}

// add takes the next file and returns one before it that has its key, nil where none has.
// joins says that the two make one sample.
func (k *keys) add(at uint32) (twin []byte, joins bool) {
	if k.o.Flat && !k.o.Group {
		return nil, false // every path is a key
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
	if k.level.bare { // the name of such a file is its key; gather has moved none
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

// fileCost is what a file counts in a sample beside its bytes, as a member of a tar does:
// it bounds the number of fields.
const fileCost = 512

// A group is the sample that files are added to.
type group struct {
	bytes  int64 // payload, and fileCost for each file
	class  bool  // the sample has a class
	fields fieldname.Set
	names  fieldname.Names
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
