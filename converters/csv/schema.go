package csv

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// A schema has the columns of a dataset and the form of its samples.
type schema struct {
	header  []string // the names in the header; nil if there is none
	columns int      // per row
	kept    []column // the selected columns in the order of the fields
	numeric bool     // all selected columns are numbers of one kind, without null
	form    Form     // never Auto
}

// A column is a selected column.
type column struct {
	index int // in a row, from 0 on
	name  string
	kind  kind
	exact kind // if kind was inferred: the kind that keeps all digits of the first rows; else unknown
}

// inspect determines the schema from the first part that has rows.
func (s *source) inspect() error {
	fixed, all, err := parseDTypes(s.opts.DType)
	if err != nil {
		return err
	}
	var r splitter
	var g guess
	for i, p := range s.Parts() {
		if i > 0 && p.Path == "" {
			return &converters.Error{Where: p.Name, Off: -1, Hint: "option exact has all parts here first",
				Err: fmt.Errorf("no part before it has rows that show the columns, and it is not here yet: %w", fs.ErrNotExist)}
		}
		if err := s.inspectPart(&r, p, &g); err != nil {
			return err
		}
		if g.rows > 0 {
			break
		}
	}
	if len(s.schema.kept) == 0 { // the parts have neither rows nor a header
		if err := s.schema.keep(nil, &s.opts); err != nil {
			return err
		}
	}
	return s.schema.decide(&g, fixed, all, &s.opts)
}

// inspectPart reads the header and the first rows of a part.
func (s *source) inspectPart(r *splitter, p converters.Part, g *guess) error {
	f, err := s.open(p, converters.Cached)
	if err != nil {
		return err
	}
	defer f.Close()
	r.reset(&scan.Pass{Part: p, File: f}, &s.opts)
	if err := r.skipMark(); err != nil {
		return err
	}
	if s.opts.Header {
		if err := s.inspectHeader(r); err != nil {
			return err
		}
	}
	r.columns = s.schema.columns
	for r.Offset() < inferSize || g.rows == 0 {
		ev, err := r.next()
		if err != nil || ev == eventEnd {
			return err
		}
		if ev != eventRow {
			continue
		}
		if g.rows == 0 && !s.opts.Header {
			s.schema.columns, r.columns = r.found, r.found
			if err := s.schema.keep(nil, &s.opts); err != nil {
				return r.failEntry(r.at, "row 1", err, "option header, where the first line names them")
			}
		}
		if g.rows > 0 && r.Offset() > inferSize {
			break
		}
		g.add(r, s.schema.kept)
		s.look.add(r, s.schema.kept)
	}
	return nil
}

// inspectHeader reads the header of a part. It must be the same as in the first part.
func (s *source) inspectHeader(r *splitter) error {
	if s.schema.header != nil {
		return r.sameHeader(s.schema.header)
	}
	header, err := r.header()
	if err != nil {
		return err
	}
	if err := s.schema.keep(header, &s.opts); err != nil {
		return r.failEntry(r.at, "header", err, "option columns")
	}
	return nil
}

// keep selects the columns and their names.
func (s *schema) keep(header []string, opts *Options) error {
	s.header = header
	names := header
	switch {
	case header != nil:
		s.columns = len(header)
	case len(opts.Columns) > 0:
		n := len(opts.Columns)
		if s.columns > 0 && s.columns != n {
			return fmt.Errorf("%w: it has %s, %d names are given, and without a header they name all columns", converters.ErrUnsupported, count(s.columns, "column"), n)
		}
		names, s.columns = opts.Columns, n
	default:
		for i := range s.columns {
			names = append(names, fmt.Sprintf("c%d", i))
		}
	}
	selected := names
	if len(opts.Columns) > 0 {
		selected = opts.Columns
	}
	first := make(map[string]int, len(names))
	doubled := make(map[string]bool)
	for i, name := range names {
		if _, again := first[name]; again {
			doubled[name] = true
			continue
		}
		first[name] = i
	}
	taken := make(map[string]bool, len(selected))
	for _, name := range selected {
		i, ok := first[name]
		switch {
		case !ok:
			return fmt.Errorf("%w: there is no column %q; there are %s", converters.ErrUnsupported, name, list(names))
		case doubled[name]:
			return fmt.Errorf("%w: two columns are named %q", converters.ErrDuplicate, name)
		case taken[name]:
			return fmt.Errorf("%w: the column %q is selected twice", converters.ErrDuplicate, name)
		}
		taken[name] = true
		s.kept = append(s.kept, column{index: i, name: name})
	}
	return nil
}

// decide sets the types of the columns and the form of the samples.
func (s *schema) decide(g *guess, fixed map[string]kind, all kind, opts *Options) error {
	for _, name := range slices.Sorted(maps.Keys(fixed)) {
		if !slices.ContainsFunc(s.kept, func(c column) bool { return c.name == name }) {
			return fmt.Errorf("dtype %q: there is no column %q", opts.DType, name)
		}
	}
	s.numeric = all != unknown || len(fixed) == 0 && g.odd == nil
	for i := range s.kept {
		c := &s.kept[i]
		switch k, ok := fixed[c.name]; {
		case ok:
			c.kind = k
		case all != unknown:
			c.kind = all
		case s.numeric:
			c.kind, c.exact = float64s, g.kind(i)
		default:
			c.kind = g.kind(i)
			c.exact = c.kind
		}
	}
	s.form = opts.Form
	switch {
	case s.form == Auto && s.numeric:
		s.form = Packed
	case s.form == Auto:
		s.form = Fields
	case s.form == Packed && !s.numeric && g.odd != nil:
		return g.odd
	case s.form == Packed && !s.numeric:
		return fmt.Errorf("dtype %q: %w: columns with types of their own make no raw records", opts.DType, converters.ErrUnsupported)
	}
	if s.form == Fields && opts.RowsPerSample > 1 {
		s.form = Table
	}
	return nil
}

// parseDTypes parses Options.DType: fixed has the types of single columns, all is the type of all columns.
func parseDTypes(dtype string) (fixed map[string]kind, all kind, err error) {
	if dtype == "" {
		return nil, unknown, nil
	}
	if !strings.Contains(dtype, "=") {
		if all = parseKind(dtype); !all.isNumber() {
			return nil, unknown, fmt.Errorf("dtype %q: want float64, float32 or int64, or NAME=TYPE,…", dtype)
		}
		return nil, all, nil
	}
	fixed = make(map[string]kind)
	for pair := range strings.SplitSeq(dtype, ",") {
		at := strings.LastIndexByte(pair, '=')
		if at < 0 {
			return nil, unknown, fmt.Errorf("dtype %q: %q is not NAME=TYPE", dtype, pair)
		}
		name, k := pair[:at], parseKind(pair[at+1:])
		if k == unknown {
			return nil, unknown, fmt.Errorf("dtype %q: %q is none of int64, float64, float32, bool, str", dtype, pair[at+1:])
		}
		if _, again := fixed[name]; again {
			return nil, unknown, fmt.Errorf("dtype %q: %q has two types", dtype, name)
		}
		fixed[name] = k
	}
	return fixed, unknown, nil
}

func parseKind(name string) kind {
	if name == "" {
		return unknown
	}
	return kind(max(0, slices.Index(kindNames[:], name)))
}
