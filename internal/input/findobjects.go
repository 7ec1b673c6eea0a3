package input

import (
	"context"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// list adds the objects that a pattern matches to l.
func (f *finder) list(ctx context.Context, l *lookup, p objectPattern) error {
	if err := p.check(l.name); err != nil {
		return err
	}
	d := &listedDir{finder: f, l: l, p: p}
	if !slices.ContainsFunc(p.components[:len(p.components)-1], p.isGlob) {
		d.dir = strings.TrimSuffix(strings.Join(p.components, "/"), p.base())
		d.one = true
	}
	for o, err := range f.opts.Remote.List(ctx, p.prefix()) {
		if err != nil {
			return f.serviceFailed(ctx, l.name, err)
		}
		key, ok := p.key(o.URL)
		if !ok {
			return place.Refuse(l.name, ErrMalformed, "", "the service lists %s", text.Name(Shown(o.URL)))
		}
		in, base := splitKey(key)
		if !p.matchDir(in) {
			continue
		}
		if in != d.dir {
			if err := d.end(ctx); err != nil {
				return err
			}
			d.dir = in
		}
		d.seen = true
		if !p.matchBase(base, f.opts.Match) {
			continue
		}
		if err := d.add(o); err != nil {
			return err
		}
	}
	return d.end(ctx)
}

// arrange applies opts.Arrange to the objects of a directory.
func (f *finder) arrange(found []Name, p objectPattern, dir string) ([]Name, error) {
	if f.opts.Arrange == nil {
		return found, nil
	}
	byBase := make(map[string]Name, len(found))
	var names []string
	for _, n := range found {
		base := strings.TrimSuffix(n.Object.URL[len(p.bucket)+len(dir):], p.query)
		byBase[base] = n
		names = append(names, base)
	}
	names, err := f.opts.Arrange(names)
	if err != nil {
		return nil, &Error{Where: Shown(p.bucket + dir), Off: -1, Err: err}
	}
	arranged := make([]Name, 0, len(names))
	for _, base := range names {
		arranged = append(arranged, byBase[base])
	}
	return arranged, nil
}
