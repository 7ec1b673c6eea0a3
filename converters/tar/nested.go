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

// A nested is an opened list of tars whose members are tars, one per class, as in ImageNet's training set:
//
//	┌────────┬──────────────────────┬────────┬──────────────────────┬─────┐
//	│ header │ n01440764.tar        │ header │ n01443537.tar        │ end │
//	│ 512    │ a tar with its end   │ 512    │ a tar with its end   │     │
//	└────────┴──────────────────────┴────────┴──────────────────────┴─────┘
//
// The name of the inner tar, without its suffix, is the class: all keys begin with it and a slash, and each sample has
// the number of the class as its last field, cls. Nothing is extracted: an offset is an offset in the outer tar.
//
// With labels no classes are numbered: a member n01440764.cls of the outer tar is the number for all samples of
// n01440764.tar, and each sample of a tar without such a member has its own field cls.
type nested struct {
	*scan.Source
	src     *source
	classes []string
	number  map[string]int64 // by class; nil: not known yet, or there are labels
	lists   []*innerTars     // by part
}

// An inner is a tar that is a member of a part.
type inner struct {
	off, end int64 // range of bytes in the part
	name     string
	class    class
}

// A class is the common data of the samples of an inner tar.
type class struct {
	name   string
	prefix string // prefix of their keys
	number int64
	own    bool // each sample has its own field cls, and the class has no number
}

// innerTars are the inner tars of a part in order; empty until they are listed.
type innerTars struct {
	mu   sync.Mutex
	tars []inner
}

const (
	classField   = "cls"
	skipNotTar   = "not a tar"
	skipLabel    = "the label of a tar"
	maxInnerTars = 1 << 20 // per part; each takes some hundred bytes of memory
)

// OpenNested returns a [converters.Source] of the inner tars of the given tars, which is a Describer of the classes, too.
// Without Options.Classes it reads the headers of the outer tars to number them, unless there are labels, as members or
// in the first sample.
func OpenNested(ctx context.Context, parts []converters.Part, opts Options) (*nested, error) {
	return openNested(ctx, Open(parts, opts))
}

func openNested(ctx context.Context, src *source) (*nested, error) {
	n := (nested{classes: slices.Clone(src.opts.Classes)}).with(src)
	n.unlisted()
	if n.classes == nil {
		found, given := make(map[string]bool), false
		for i := range src.Parts() {
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

// unlisted makes n list each part when it is read.
func (n *nested) unlisted() {
	n.lists = make([]*innerTars, len(n.Parts()))
	for i := range n.lists {
		n.lists[i] = &innerTars{}
	}
}

// list returns the inner tars of part i. The first call reads the headers of the outer tar.
func (n *nested) list(ctx context.Context, i int) ([]inner, error) {
	l, p := n.lists[i], n.Parts()[i]
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tars != nil {
		return l.tars, nil
	}
	f, err := n.src.open(p, converters.Cached)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var tars []inner
	var o outerScanner
	o.begin(n, f, p)
	o.labels = labels{}
	for {
		if err := ctx.Err(); err != nil {
			return nil, o.fail(o.window.Offset(), nil, err, "")
		}
		is, spans, err := o.next()
		if err != nil {
			return nil, err
		}
		if is != nil {
			tars = append(tars, *is)
		} else if len(spans) == 0 {
			break
		}
	}
	if n.number == nil {
		if err := o.labels.apply(p.Name, tars); err != nil {
			return nil, err
		}
	}
	l.tars = tars
	return tars, nil
}

// An outerScanner reads the members of a part.
type outerScanner struct {
	scanner
	of      *nested
	window  scan.Window
	classes map[string]bool // names of the preceding inner tars
	labels  labels          // nil: labels are not read
	ended   bool
	spans   []converters.Span
}

// begin prepares for a part.
func (o *outerScanner) begin(of *nested, f converters.File, p converters.Part) {
	o.of, o.classes, o.ended = of, make(map[string]bool), false
	o.window.Reset(f, p.Size, 0, scan.Sizes{First: headerRead, Usual: headerReads})
	o.reset(&o.window, p, &of.src.opts)
}

// next returns the next inner tar, or the spans of skipped members; neither at the end.
func (o *outerScanner) next() (is *inner, skipped []converters.Span, err error) {
	m, w := &o.ahead, &o.window
	for o.spans = o.spans[:0]; len(o.spans) == 0 && !o.ended; {
		more, err := o.members.next(m)
		if err != nil {
			return nil, nil, err
		}
		if !more {
			if o.spans, o.ended, err = o.trailer(&o.of.src.opts, o.spans); err == nil && o.ended {
				err = o.someTar()
			}
			if err != nil {
				return nil, nil, err
			}
			continue
		}
		if is, err = o.inner(); err != nil {
			return nil, nil, err
		}
		if is == nil && o.labels != nil && o.reason == skipNotTar {
			content, err := w.Peek(int(min(m.size, mostLabel)))
			if err != nil {
				return nil, nil, o.fail(m.off, m.name, err, "")
			}
			o.labels.add(m, content)
		}
		w.Skip(padded(m.size))
		if is != nil {
			return is, nil, nil
		}
		o.spans = append(o.spans, converters.Span{Off: m.off, Entries: 1, Skip: o.reason, Name: string(m.name)})
	}
	return nil, o.spans, nil
}

// someTar returns an error if the part has no inner tar.
func (o *outerScanner) someTar() error {
	if len(o.classes) > 0 {
		return nil
	}
	return &converters.Error{Where: o.part, Off: -1, Err: fmt.Errorf("%w: none of its members is a tar", converters.ErrUnsupported), Hint: "leave out option nested"}
}

// inner returns the member ahead as an inner tar; nil if it is not one, with the reason in o.
func (o *outerScanner) inner() (*inner, error) {
	if err := o.classify(); err != nil || o.reason != "" {
		return nil, err
	}
	m, n, off := &o.ahead, o.of, o.window.Offset()
	refuse := func(err error, hint string) (*inner, error) { return nil, o.fail(m.off, m.name, err, hint) }
	base := path.Base(string(m.name))
	name, isTar := cutTar(base)
	number, known := n.number[name]
	switch {
	case !isTar && isCompressedTar(base):
		return refuse(fmt.Errorf("%w: a compressed tar in a tar", converters.ErrUnsupported), "unpack the outer tar, and convert the ones in it")
	case !isTar:
		o.reason = skipNotTar
		return nil, nil
	case name == "":
		return refuse(fmt.Errorf("%w: a tar without a name, which would be the class", converters.ErrUnsupported), "")
	case o.classes[name]:
		return refuse(fmt.Errorf("%w class: another tar has this name", converters.ErrDuplicate), "")
	case len(o.classes) == maxInnerTars:
		return refuse(fmt.Errorf("%w: more than %d tars in a tar", converters.ErrLimit, maxInnerTars), "")
	case n.number != nil && !known:
		return refuse(fmt.Errorf("%w: not one of the classes that were named", converters.ErrUnsupported), "option classes")
	}
	o.classes[name] = true
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
