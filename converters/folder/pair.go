package folder

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A pair is a rule that joins files of different directories into one sample.
type pair struct {
	Field string // of the partner; "": named by its suffix
	rule  *text.Rule
	made  *regexp.Regexp // matches all possible paths of partners
}

// ParsePair parses a rule REGEX=TEMPLATE or REGEX=FIELD:TEMPLATE. The expression must match the whole path of a file
// below the root, and the template is the path of its partner; \1 is the match of the first group.
func ParsePair(rule string) (pair, error) {
	expr, template, ok := strings.Cut(rule, "=")
	field, path, named := strings.Cut(template, ":")
	if !named {
		field, path = "", template
	}
	if !ok || expr == "" || path == "" || named && field == "" {
		return pair{}, fmt.Errorf("want REGEX=PATH or REGEX=FIELD:PATH, as %s", `'images/(.*)\.jpg=masks/\1.png'`)
	}
	var names scan.FieldNames
	field, err := names.Of([]byte(field))
	if err != nil {
		return pair{}, err
	}
	r, err := text.ParseRule("^(?:"+expr+")$", path)
	if err != nil {
		return pair{}, err
	}
	return pair{Field: field, rule: r, made: r.Results()}, nil
}

// maxPairs is the number of rules that fits into listing.rules.
const maxPairs = 255

// A pairing groups the files of a listing into samples by rules.
type pairing struct {
	w     *walker
	first []uint32 // see other.first
	files []uint32 // files of the samples, as indexes into the listing
	rules []uint8  // parallel to files
	lacks []uint32

	leads   []bool // by file: a rule matches it
	partner []bool // by file
	lacking lacking
	path    []byte // buffer
}

// A lacking counts files without a partner, and has an example.
type lacking struct {
	n             int
	file, partner string
}

// pair groups the files of the listing by Options.Pairs, and skips the other files.
func (w *walker) pair(ctx context.Context) error {
	p := pairing{w: w, leads: make([]bool, len(w.l.files)), partner: make([]bool, len(w.l.files))}
	if len(w.src.opts.Pairs) > maxPairs {
		return w.part.fail("", fmt.Errorf("%w: more than %d rules", converters.ErrLimit, maxPairs), "")
	}
	for i := range w.l.files {
		if i%batch == 0 && ctx.Err() != nil {
			return w.part.fail("", ctx.Err(), "")
		}
		if err := p.sample(i); err != nil {
			return err
		}
	}
	for i := range p.leads {
		if p.leads[i] && p.partner[i] {
			return w.part.fail(w.l.path(w.l.files[i].dir, w.l.files[i].name), fmt.Errorf("%w: it has a partner and is one", converters.ErrDuplicate), "option pair")
		}
	}
	unused, err := p.unused()
	if err != nil {
		return err
	}
	return p.finish(unused)
}

// sample begins a sample at file i if a rule matches it.
func (p *pairing) sample(i int) error {
	l := p.w.l
	path := l.path(l.files[i].dir, l.files[i].name)
	for r := range p.w.src.opts.Pairs {
		partner, ok := p.w.src.opts.Pairs[r].rule.Of(path)
		if !ok {
			continue
		}
		if !p.leads[i] {
			p.leads[i] = true
			p.first = append(p.first, uint32(len(p.files)))
			p.files, p.rules = append(p.files, uint32(i)), append(p.rules, 0)
		}
		at, found := p.find(partner)
		if !found {
			if p.lacking.n++; p.lacking.n == 1 {
				p.lacking.file, p.lacking.partner = path, partner
			}
			if n := uint32(len(p.first) - 1); len(p.lacks) == 0 || p.lacks[len(p.lacks)-1] != n {
				p.lacks = append(p.lacks, n)
			}
			continue
		}
		p.partner[at] = true
		p.files, p.rules = append(p.files, uint32(at)), append(p.rules, uint8(r+1))
	}
	return nil
}

// find returns the file with a path. The files are sorted by path.
func (p *pairing) find(path string) (int, bool) {
	l := p.w.l
	return slices.BinarySearchFunc(l.files, path, func(e entry, path string) int {
		p.path = append(append(p.path[:0], l.names.text(e.dir)...), l.names.name(e.name)...)
		return bytes.Compare(p.path, []byte(path))
	})
}

// unused returns new kinds for the files that are in no sample. It returns an error if one of them should have a
// partner.
func (p *pairing) unused() (kinds []kind, err error) {
	l, opts := p.w.l, &p.w.src.opts
	dirs := make(map[uint32]bool)
	for _, at := range p.files {
		dirs[l.files[at].dir] = true
	}
	kinds = make([]kind, len(l.files))
	n, first := 0, ""
	for i := range l.files {
		if p.leads[i] || p.partner[i] {
			continue
		}
		kinds[i] = kindNoPair
		path := l.path(l.files[i].dir, l.files[i].name)
		if dirs[l.files[i].dir] || slices.ContainsFunc(opts.Pairs, func(r pair) bool { return r.made.MatchString(path) }) {
			kinds[i] = kindUnpaired
			if n++; n == 1 {
				first = path
			}
		}
	}
	if opts.Unmatched || n+p.lacking.n == 0 {
		return kinds, nil
	}
	var why []string
	if p.lacking.n > 0 {
		why = append(why, fmt.Sprintf("%s without a partner, the first is %q without %q", text.Count(int64(p.lacking.n), "file"), p.lacking.file, p.lacking.partner))
	}
	if n > 0 {
		why = append(why, fmt.Sprintf("%s beside them of no pair, the first is %q", text.Count(int64(n), "file"), first))
	}
	return nil, p.w.part.fail("", fmt.Errorf("%w: %s", converters.ErrUnmatched, strings.Join(why, "; ")), "option unmatched accepts and counts them")
}

// finish sorts the files in the order of the samples, and checks the samples.
func (p *pairing) finish(unused []kind) error {
	w, l := p.w, p.w.l
	files := make([]entry, 0, len(p.files))
	last := make(map[uint32]uint32) // directory → last sample whose first file is in it
	end := int64(0)
	other := other{first: p.first, skips: l.rare().skips, rules: p.rules, lacks: p.lacks}
	for s, from := range p.first {
		to := len(p.files)
		if s+1 < len(p.first) {
			to = int(p.first[s+1])
		}
		lead := l.files[p.files[from]]
		twin, before := last[lead.dir]
		if before && p.sameKey(int(p.files[p.first[twin]]), int(p.files[from])) || p.isBare(lead) {
			if !w.src.opts.KeepDuplicates {
				return p.fail(from, fmt.Errorf("%w key: another file that pairs match has it too", converters.ErrDuplicate), "option on-duplicate-key keep")
			}
			other.again = append(other.again, uint32(s))
		}
		last[lead.dir] = uint32(s)
		w.group.reset(false)
		for at := int(from); at < to; at++ {
			e, size := l.files[p.files[at]], l.size(int(p.files[at]))
			if err := p.field(at); err != nil {
				return p.fail(uint32(at), err, "option pair, as REGEX=FIELD:PATH, names the field")
			}
			if size > w.src.opts.MaxSample-w.group.bytes-fileCost {
				return p.fail(uint32(at), fmt.Errorf("%w: its sample has more than %s", converters.ErrLimit, text.Count(w.src.opts.MaxSample, "byte")), "option max-sample-size")
			}
			if size > math.MaxInt64-end {
				return p.fail(uint32(at), fmt.Errorf("%w: the samples of the folder have more than 8 EiB", converters.ErrLimit), "")
			}
			w.group.bytes += size + fileCost
			end += size
			e.end = end
			files = append(files, e)
		}
	}
	for i := range other.skips {
		other.skips[i].before = 0
	}
	for i, e := range l.files {
		if unused[i] != 0 {
			l.names[e.name] = byte(unused[i])
			other.skips = append(other.skips, skip{0, e.dir, e.name})
		}
	}
	l.files, l.other = files, &other
	return nil
}

// field adds the field of a file to the sample.
func (p *pairing) field(at int) error {
	o, e := &p.w.src.opts, p.w.l.files[p.files[at]]
	name := ""
	if r := p.rules[at]; r > 0 {
		name = o.Pairs[r-1].Field
	}
	if name != "" {
		return p.w.group.add([]byte(name))
	}
	_, suffix := o.split(p.w.l.names.text(e.dir), p.w.l.names.name(e.name))
	return p.w.group.add(suffix)
}

// sameKey reports whether two files of one directory have the same key.
func (p *pairing) sameKey(a, b int) bool {
	l, o := p.w.l, &p.w.src.opts
	dir := l.names.text(l.files[a].dir)
	one, two := l.names.name(l.files[a].name), l.names.name(l.files[b].name)
	i, _ := o.split(dir, one)
	j, _ := o.split(dir, two)
	return bytes.Equal(one[:i], two[:j])
}

// isBare reports whether the key of a file is the whole name of the first file of another sample.
func (p *pairing) isBare(e entry) bool {
	dir, name := p.w.l.names.text(e.dir), p.w.l.names.name(e.name)
	end, _ := p.w.src.opts.split(dir, name)
	if end == len(name) {
		return false
	}
	at, found := p.find(string(dir) + string(name[:end]))
	return found && p.leads[at]
}

func (p *pairing) fail(at uint32, err error, hint string) error {
	e := p.w.l.files[p.files[at]]
	return p.w.part.fail(p.w.l.path(e.dir, e.name), err, hint)
}
