package csv

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// Naming describes how OneFlow's OFRecord loader names the parts of a dataset in a directory: a prefix
// and a number from 0 on. An extension may follow, as in part-0.csv.gz.
//
//	naming := csv.Naming{Prefix: "part-", SuffixLength: -1}
//	parts, err := naming.Arrange(names) // part-0, part-1, …
type Naming struct {
	// Parts is the number of parts (data_part_num). 0: Arrange finds all, and their numbers must
	// not have gaps.
	Parts int

	// Prefix is the start of their names (part_name_prefix). OneFlow's default is "part-".
	Prefix string

	// SuffixLength is the minimum number of digits, reached by leading zeros
	// (part_name_suffix_length). −1: without leading zeros; if Parts is 0, any number of zeros
	// is accepted.
	SuffixLength int
}

func (n Naming) name(i uint64) string { return n.Prefix + n.number(i) }

func (n Naming) number(i uint64) string { return fmt.Sprintf("%0*d", max(n.SuffixLength, 0), i) }

// Arrange selects the names of parts from the names in a directory, in the order of their numbers. It ignores names
// with another prefix and, if Parts is set, with other numbers. A missing part, two parts with the same number, and a
// name that has another character after the number are errors.
func (n Naming) Arrange(names []string) ([]string, error) {
	if n.Parts > 0 {
		return n.choose(names)
	}
	return n.find(names)
}

// split returns the digits after the prefix, "" if there are none. plain means that only an extension may follow the
// number.
func (n Naming) split(name string) (number string, plain bool) {
	rest, ok := strings.CutPrefix(name, n.Prefix)
	if !ok {
		return "", false
	}
	ext := strings.TrimLeft(rest, "0123456789")
	return rest[:len(rest)-len(ext)], ext == "" || len(ext) > 1 && ext[0] == '.'
}

// choose returns the names of the parts 0 to Parts-1.
func (n Naming) choose(names []string) ([]string, error) {
	found := make(map[string]string)
	doubled := make(map[string]string)
	for _, name := range names {
		number, plain := n.split(name)
		if number == "" || !plain {
			continue
		}
		if _, again := found[number]; again {
			doubled[number] = name
			continue
		}
		found[number] = name
	}
	var parts []string
	for i := range uint64(n.Parts) {
		number := n.number(i)
		name, ok := found[number]
		if !ok {
			return nil, n.missing(i, fmt.Sprintf("of %d parts it is the first that is missing", n.Parts))
		}
		if other, ok := doubled[number]; ok {
			return nil, n.twice(name, other)
		}
		parts = append(parts, name)
	}
	return parts, nil
}

// find returns all names with a number.
func (n Naming) find(names []string) ([]string, error) {
	type part struct {
		name   string
		number uint64
	}
	var parts []part
	for _, name := range names {
		digits, plain := n.split(name)
		if digits == "" {
			continue
		}
		i, err := strconv.ParseUint(digits, 10, 63)
		if err != nil || !plain {
			return nil, refuseName(name, "it begins as the name of a part, and its number ends in something else", "option data-part-num")
		}
		if n.SuffixLength >= 0 && digits != n.number(i) {
			return nil, refuseName(name, fmt.Sprintf("its number is not padded to %d digits", n.SuffixLength), "option part-name-suffix-length")
		}
		parts = append(parts, part{name, i})
	}
	slices.SortFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.name, b.name))
	})
	var ordered []string
	for i, p := range parts {
		if i > 0 && parts[i-1].number == p.number {
			return nil, n.twice(parts[i-1].name, p.name)
		}
		if p.number != uint64(i) {
			return nil, n.missing(uint64(i), "the parts go up to "+parts[len(parts)-1].name)
		}
		ordered = append(ordered, p.name)
	}
	if len(ordered) == 0 {
		return nil, n.missing(0, fmt.Sprintf("none of %d names is that of a part", len(names)))
	}
	return ordered, nil
}

func (n Naming) missing(i uint64, why string) error {
	return &converters.Error{Where: n.name(i), Off: -1, Err: fmt.Errorf("%w: %s", fs.ErrNotExist, why), Hint: "option part-name-prefix, option part-name-suffix-length"}
}

func (n Naming) twice(name, other string) error {
	return &converters.Error{Where: other, Off: -1, Err: fmt.Errorf("%w: %s has its number too", converters.ErrDuplicate, name)}
}

func refuseName(name, why, hint string) error {
	return &converters.Error{Where: name, Off: -1, Err: fmt.Errorf("%w: %s", converters.ErrUnsupported, why), Hint: hint}
}
