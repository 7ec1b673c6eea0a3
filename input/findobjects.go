package input

import (
	"context"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// list adds the objects that a pattern matches to l.
func (f *finder) list(ctx context.Context, l *lookup, p objectPattern) error {
	if err := p.check(l.name); err != nil {
		return err
	}
	var dir string   // of the objects in found
	var found []Name // not yet arranged
	var seen bool    // anything of dir
	flush := func() error {
		if !seen {
			return nil
		}
		arranged, err := f.arrange(found, p, dir)
		if err != nil {
			return err
		}
		if len(arranged) == 0 {
			name := Shown(p.bucket + dir)
			l.missed = append(l.missed, miss{name: name, line: l.line, pattern: true, remote: place.Refuse(name, ErrNoMatch, "", "")})
		}
		l.found = append(l.found, arranged...)
		found, seen = nil, false
		return nil
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
		if p.base() == "" {
			if in != dir {
				if err := flush(); err != nil {
					return err
				}
			}
			dir, seen = in, true
		}
		if !p.matchBase(base, f.opts.Match) {
			continue
		}
		if f.room.Add(-1) < 0 {
			return tooMany(l.name, f.limit)
		}
		n := objectName(Shown(o.URL), o)
		if p.base() == "" {
			found = append(found, n)
		} else {
			l.found = append(l.found, n)
		}
	}
	return flush()
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
