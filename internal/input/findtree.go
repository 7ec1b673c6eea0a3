package input

import (
	"context"

	"github.com/ffconvert/ffconvert/internal/place"
)

// findTree lists the objects below a remote name, where directories are inputs. The listing is kept:
// package stage fetches exactly these objects.
func (f *finder) findTree(ctx context.Context, l *lookup) error {
	tree := NewTree(l.where.name)
	for o, err := range f.opts.Remote.List(ctx, tree.prefix()) {
		if err != nil {
			return f.serviceFailed(ctx, l.name, err)
		}
		if f.room.Add(-1) < 0 {
			return tooMany(l.name, f.limit)
		}
		if err := tree.Add(o); err != nil {
			return err
		}
	}
	pattern, _ := parseObjects(location{l.where.scheme, tree.url})
	switch {
	case tree.Files > 0:
		l.found = []Name{{Name: trimSlashes(l.name), Size: tree.Bytes, Tree: tree}}
	case pattern.meta():
		return place.Refuse(l.name, ErrPattern, "name each of them, as by {train,val}", "directories of a service are no globs")
	default:
		l.missed = []miss{{name: l.name, line: l.line, remote: place.Refuse(l.name, ErrNotFound, "no object lies below it; check the spelling", "")}}
	}
	return nil
}
