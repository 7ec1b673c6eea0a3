package tar

import (
	"context"
	"iter"
	"sort"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// Parts lists the outer tars in dataset order.
func (n *Nested) Parts() []converters.Part { return n.src.parts }

// WithParts returns a source with these parts, which must be the parts of n from number first on. The numbers of the classes stay.
func (n *Nested) WithParts(first int, parts []converters.Part) converters.Source {
	return &Nested{src: n.src.WithParts(first, parts).(*Source), classes: n.classes, number: n.number, lists: n.lists[first : first+len(parts)]}
}

// Describe returns the names of the classes by number, including empty ones.
func (n *Nested) Describe() converters.Description {
	return converters.Description{Classes: n.classes}
}

// Index yields the samples of all inner tars of part p, and the entries of it and of them that are skipped.
func (n *Nested) Index(ctx context.Context, p int) iter.Seq2[converters.Span, error] {
	return func(yield func(converters.Span, error) bool) {
		if err := n.index(ctx, p, yield); err != nil {
			yield(converters.Span{}, err)
		}
	}
}

func (n *Nested) index(ctx context.Context, i int, yield func(converters.Span, error) bool) error {
	p := n.src.parts[i]
	var given map[string]class
	if n.number == nil {
		tars, err := n.list(ctx, i)
		if err != nil {
			return err
		}
		given = make(map[string]class, len(tars))
		for k := range tars {
			given[tars[k].class.name] = tars[k].class
		}
	}
	f, err := n.src.open(p, converters.ForIndex)
	if err != nil {
		return err
	}
	defer f.Close()
	var sc scanner
	var w scan.Window
	_, err = n.walk(ctx, f, p, visit{tar: func(is *inner) (bool, error) {
		if given != nil {
			is.class = given[is.class.name]
		}
		w.Reset(f, is.end, is.off, scan.Sizes{First: headerRead, Usual: headerReads})
		sc.reset(&w, p, &n.src.opts)
		sc.enter(is)
		sc.load, sc.sizes = n.src.opts.Load, true
		seen := newKeys(f, p, n.src.opts.MaxHeader)
		seen.prefix = is.class.prefix
		return n.src.indexMembers(ctx, &sc, seen, yield)
	}, skip: func(s converters.Span) bool {
		if is, ok := given[labelled(s.Name)]; ok && !is.own && s.Skip == skipNotTar {
			s.Skip = skipLabel
		}
		return yield(s, nil)
	}})
	return err
}

// enter prepares for the members of an inner tar.
func (s *scanner) enter(is *inner) { s.tar, s.class = is.name, &is.class }

// within returns the name of a member for an account.
func (s *scanner) within(name []byte) string {
	if s.tar == "" {
		return string(name)
	}
	return s.tar + ": " + string(name)
}

// Read yields the samples of a run, which may go on in the next inner tar.
func (n *Nested) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		if run.Count <= 0 {
			return
		}
		r := n.src.reader()
		err := n.read(ctx, run, r, yield)
		n.src.done(r)
		if err != nil {
			yield(nil, err)
		}
	}
}

func (n *Nested) read(ctx context.Context, run converters.Run, r *reader, yield func(*converters.Sample, error) bool) error {
	tars, err := n.list(ctx, run.Part)
	if err != nil {
		return err
	}
	p := n.src.parts[run.Part]
	f, err := n.src.open(p, converters.ForRun(run))
	if err != nil {
		return err
	}
	defer f.Close()
	tars = tars[sort.Search(len(tars), func(i int) bool { return tars[i].end > run.Off }):]
	r.window.Reset(f, p.Size, run.Off, scan.Sizes{First: firstRead, Usual: windowSize})
	r.scanner.reset(&r.window, p, &n.src.opts)
	done := int64(0)
	for i := range tars {
		is := &tars[i]
		r.window.Reset(f, is.end, max(is.off, run.Off), scan.Sizes{First: firstRead, Usual: windowSize})
		r.scanner.reset(&r.window, p, &n.src.opts)
		r.scanner.enter(is)
		if more, err := n.src.readMembers(ctx, r, &done, run.Count, yield); err != nil || !more {
			return err
		}
	}
	return r.scanner.endsEarly(done, run)
}
