package tar

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// mostLabel is the largest size of a label file: the digits of an integer, and blanks.
const mostLabel = 64

// labels are the members of an outer tar with the name of an inner tar and the suffix .cls, in the order of the tar.
type labels map[string][]label

type label struct {
	off     int64 // of its header
	name    string
	content string // its first bytes
	size    int64
}

func (l labels) add(m *member, content []byte) {
	if of := labelled(string(m.name)); of != "" {
		l[of] = append(l[of], label{m.off, string(m.name), string(content), m.size})
	}
}

// labelled returns the name of the tar for which a member of this name is the label; "": none.
func labelled(name string) string {
	base := path.Base(name)
	if at := len(base) - len(".cls"); at > 0 && strings.EqualFold(base[at:], ".cls") {
		return base[:at]
	}
	return ""
}

// apply sets the numbers of the inner tars of a part from their labels.
func (l labels) apply(part string, tars []inner) error {
	for i := range tars {
		c := &tars[i].class
		given := l[c.name]
		if len(given) == 0 {
			continue
		}
		refuse := func(is label, err error) error {
			return &converters.Error{Where: part, Off: is.off, Entry: is.name, Err: err}
		}
		if len(given) > 1 {
			return refuse(given[1], fmt.Errorf("%w label of the tar %q", converters.ErrDuplicate, c.name))
		}
		number, err := strconv.ParseInt(strings.Trim(given[0].content, " \t\n\v\f\r"), 10, 64)
		if err != nil || given[0].size > mostLabel {
			return refuse(given[0], fmt.Errorf("%w: %.40q, the label of a tar, is not an integer", converters.ErrMalformed, given[0].content))
		}
		c.number, c.own = number, false
	}
	return nil
}

// firstIsLabelled reports whether the first sample of all inner tars has a field cls. After an error it returns false;
// Index will report the error.
func (n *nested) firstIsLabelled(ctx context.Context) bool {
	for i, p := range n.Parts() {
		tars, err := n.list(ctx, i)
		if err != nil {
			return false
		}
		for k := range tars {
			if sampled, labelled := n.looksLabelled(p, &tars[k]); sampled {
				return labelled
			}
		}
	}
	return false
}

// looksLabelled reports whether an inner tar has a first sample, or an error before it, and whether that sample has a
// field cls.
func (n *nested) looksLabelled(p converters.Part, is *inner) (sampled, labelled bool) {
	f, err := n.src.open(p, converters.Cached)
	if err != nil {
		return true, false
	}
	defer f.Close()
	var sc scanner
	var w scan.Window
	w.Reset(f, is.end, is.off, scan.Sizes{First: headerRead, Usual: headerReads})
	sc.reset(&w, p, &n.src.opts)
	sc.sizes = true
	for {
		switch ev, err := sc.next(); {
		case err != nil:
			return true, false
		case ev == eventEnd:
			return false, false
		case ev == eventSample:
			return true, hasLabel(&sc.group.sample)
		}
	}
}

func hasLabel(s *converters.Sample) bool {
	return slices.ContainsFunc(s.Fields, func(f converters.Field) bool { return f.Name == classField })
}

// unlabelled returns an error if the complete sample must have a field cls and has none.
func (s *scanner) unlabelled() error {
	if s.class == nil || !s.class.own || hasLabel(&s.group.sample) {
		return nil
	}
	return s.fail(s.group.sample.Off, bytes.TrimPrefix([]byte(s.group.sample.Key), []byte(s.class.prefix)),
		fmt.Errorf("%w: the sample has no field cls, and other labels are given", converters.ErrUnsupported), "give each tar a label beside it, or each sample a field cls")
}
