package tar

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// A Nested is an opened list of tars whose members are tars, one a class, as ImageNet's training set is shipped:
//
//	┌────────┬──────────────────────┬────────┬──────────────────────┬─────┐
//	│ header │ n01440764.tar        │ header │ n01443537.tar        │ end │
//	│ 512    │ a tar with its end   │ 512    │ a tar with its end   │     │
//	└────────┴──────────────────────┴────────┴──────────────────────┴─────┘
//
// The name of the inner tar, without its suffix, is the class: all keys begin with it and a slash, and each sample has its number as the
// last field, cls. Nothing is unpacked: an offset is a place in the outer tar.
//
// Where labels are given no class is numbered: a member n01440764.cls of the outer tar is the number of all samples of n01440764.tar, and
// the samples of a tar without one have a field cls of their own.
type Nested struct {
	src     *Source
	classes []string
	number  map[string]int64 // of each class; nil: not known yet, or labels are given
	lists   []*innerTars     // of each part
}

var (
	_ converters.Source    = (*Nested)(nil)
	_ converters.Describer = (*Nested)(nil)
	_ converters.Divisible = (*Nested)(nil)
)

// An inner is a tar that is a member of a part.
type inner struct {
	off, end int64 // of its bytes in the part
	name     string
	class    class
}

// A class is what the samples of an inner tar have in common.
type class struct {
	name   string
	prefix string // of their keys
	number int64
	own    bool // each has a field cls of its own, and there is no number
}

// innerTars are the inner tars of a part in its order; none: not listed yet.
type innerTars struct {
	mu   sync.Mutex
	tars []inner
}

const (
	classField   = "cls"
	skipNotTar   = "not a tar"
	skipLabel    = "the label of a tar"
	maxInnerTars = 1 << 20 // of a part: some hundred bytes of memory each
)

// OpenNested returns a source of the tars in these tars. Without Options.Classes it reads the headers of the outer tars, to number the classes, unless
// labels are given: beside a tar, or in the first sample.
func OpenNested(ctx context.Context, parts []converters.Part, opts Options) (*Nested, error) {
	return openNested(ctx, Open(parts, opts))
}

func openNested(ctx context.Context, src *Source) (*Nested, error) {
	n := &Nested{src: src, classes: slices.Clone(src.opts.Classes)}
	n.unlisted()
	if n.classes == nil {
		found, given := make(map[string]bool), false
		for i := range src.parts {
			tars, err := n.list(ctx, i)
			if err != nil {
				return nil, err
			}
			for k := range tars {
				found[tars[k].class.name] = true
				given = given || !tars[k].class.own
			}
		}
		if given || n.firstIsLabelled(ctx) {
			return n, nil
		}
		n.classes = slices.Sorted(maps.Keys(found))
		n.unlisted()
	}
	if len(n.classes) == 0 {
		n.classes = nil
		return n, nil
	}
	n.number = make(map[string]int64, len(n.classes))
	for i, name := range n.classes {
		n.number[name] = int64(i)
	}
	return n, nil
}

// unlisted makes n list all parts when they are read.
func (n *Nested) unlisted() {
	n.lists = make([]*innerTars, len(n.src.parts))
	for i := range n.lists {
		n.lists[i] = &innerTars{}
	}
}

// list returns the inner tars of part i. It reads headers of the outer tar, once.
func (n *Nested) list(ctx context.Context, i int) ([]inner, error) {
	l, p := n.lists[i], n.src.parts[i]
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tars != nil {
		return l.tars, nil
	}
	f, err := n.src.open(p, converters.ForIndex)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var tars []inner
	labels := labels{}
	if _, err = n.walk(ctx, f, p, visit{
		tar:   func(is *inner) (bool, error) { tars = append(tars, *is); return true, nil },
		skip:  func(converters.Span) bool { return true },
		label: labels.add,
	}); err != nil {
		return nil, err
	}
	if n.number == nil {
		if err := labels.apply(p.Name, tars); err != nil {
			return nil, err
		}
	}
	l.tars = tars
	return tars, nil
}

// A visit is what is done with the members of an outer tar. more is false to end it.
type visit struct {
	tar   func(*inner) (more bool, err error)
	skip  func(converters.Span) (more bool) // of each other member
	label func(m *member, content []byte)   // of each that may be a label; nil: not called
}

// walk visits the members of a part. more is false if a visit was ended.
func (n *Nested) walk(ctx context.Context, f converters.File, p converters.Part, to visit) (more bool, err error) {
	var w scan.Window
	var outer scanner
	w.Reset(f, p.Size, 0, scan.Sizes{First: headerRead, Usual: headerReads})
	outer.reset(&w, p, &n.src.opts)
	m, seen := &outer.ahead, make(map[string]bool)
	for more = true; more; {
		if err := ctx.Err(); err != nil {
			return false, outer.fail(w.Offset(), nil, err, "")
		}
		ok, err := outer.members.next(m)
		switch {
		case err != nil:
			return false, err
		case !ok:
			end, err := outer.trailer(&n.src.opts)
			if err != nil {
				return false, err
			}
			more = !end.missing || to.skip(converters.Span{Off: w.Offset(), Skip: acceptedTrailer, Accepted: true})
			if more && !end.more {
				return true, n.someTar(p, seen)
			}
			more = more && to.skip(converters.Span{Off: w.Offset(), Skip: acceptedAppended, Accepted: true})
			continue
		}
		is, err := n.inner(&outer, w.Offset(), seen)
		if err != nil {
			return false, err
		}
		if is == nil && to.label != nil && outer.reason == skipNotTar {
			content, err := w.Peek(int(min(m.size, mostLabel)))
			if err != nil {
				return false, outer.fail(m.off, m.name, err, "")
			}
			to.label(m, content)
		}
		w.Skip(padded(m.size))
		if is == nil {
			more = to.skip(converters.Span{Off: m.off, Entries: 1, Skip: outer.reason, Name: string(m.name)})
		} else if more, err = to.tar(is); err != nil {
			return false, err
		}
	}
	return false, nil
}

// someTar returns an error if a part has no inner tar.
func (n *Nested) someTar(p converters.Part, seen map[string]bool) error {
	if len(seen) > 0 {
		return nil
	}
	return &converters.Error{Where: p.Name, Off: -1, Err: fmt.Errorf("%w: none of its members is a tar", converters.ErrUnsupported), Hint: "leave out option nested"}
}

// inner returns the member ahead in an outer tar as an inner tar with its bytes at off; nil if it is none, with the reason in outer. seen has the
// classes before.
func (n *Nested) inner(outer *scanner, off int64, seen map[string]bool) (*inner, error) {
	if err := outer.classify(); err != nil || outer.reason != "" {
		return nil, err
	}
	m := &outer.ahead
	refuse := func(err error, hint string) (*inner, error) { return nil, outer.fail(m.off, m.name, err, hint) }
	base := path.Base(string(m.name))
	name, isTar := cutTar(base)
	number, known := n.number[name]
	switch {
	case !isTar && isCompressedTar(base):
		return refuse(fmt.Errorf("%w: a compressed tar in a tar", converters.ErrUnsupported), "unpack the outer tar, and convert the ones in it")
	case !isTar:
		outer.reason = skipNotTar
		return nil, nil
	case name == "":
		return refuse(fmt.Errorf("%w: a tar without a name, which would be the class", converters.ErrUnsupported), "")
	case seen[name]:
		return refuse(fmt.Errorf("%w class: another tar has this name", converters.ErrDuplicate), "")
	case len(seen) == maxInnerTars:
		return refuse(fmt.Errorf("%w: more than %d tars in a tar", converters.ErrLimit, maxInnerTars), "")
	case n.number != nil && !known:
		return refuse(fmt.Errorf("%w: not one of the classes that were named", converters.ErrUnsupported), "Options.Classes")
	}
	seen[name] = true
	return &inner{off: off, end: off + m.size, name: string(m.name), class: class{name, name + "/", number, n.number == nil}}, nil
}

// cutTar returns the base name of a tar without its suffix.
func cutTar(base string) (name string, ok bool) {
	at := len(base) - len(".tar")
	if at < 0 || !strings.EqualFold(base[at:], ".tar") {
		return "", false
	}
	return base[:at], true
}

func isCompressedTar(base string) bool {
	return slices.ContainsFunc([]string{".tgz", ".tar.gz", ".tar.zst", ".tar.bz2", ".tar.xz"}, func(suffix string) bool {
		return strings.HasSuffix(strings.ToLower(base), suffix)
	})
}
