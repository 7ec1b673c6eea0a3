package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/findings"
)

// Limits on the sets that are counted individually. Datasets have few; the limits bound the memory for a dataset in
// which every sample has a different set.
const (
	maxSets      = 1000
	maxSetFields = 1000  // fields of one set
	maxSetBytes  = 16384 // bytes of all names of one set
)

// fieldSets counts samples by the set of their field names.
type fieldSets struct {
	sets  map[string]*fieldSet // by the sorted names, joined with NUL
	order []*fieldSet          // in the order found
	other *fieldSet            // all samples with a set over a limit; nil if there is none

	last    []string // field names of the previous sample, in their order
	lastSet *fieldSet
}

type fieldSet struct {
	key   string         // in fieldSets.sets
	names []string       // sorted
	first findings.Place // place of the first sample
	count int64          // samples
}

// add counts a sample of part p that begins at offset off.
func (f *fieldSets) add(s *converters.Sample, p *part, off int64) {
	same := f.lastSet != nil && len(f.last) == len(s.Fields)
	for i := 0; same && i < len(f.last); i++ {
		same = f.last[i] == s.Fields[i].Name
	}
	if !same {
		f.last = f.last[:0]
		size := 0
		for i := range s.Fields {
			f.last = append(f.last, s.Fields[i].Name)
			size += len(s.Fields[i].Name)
		}
		f.lastSet = f.set(size, func() findings.Place { return p.place(off, s.Key) })
	}
	f.lastSet.count++
}

// set returns the set of the names in f.last. size is the sum of their lengths in bytes.
func (f *fieldSets) set(size int, place func() findings.Place) *fieldSet {
	if len(f.last) > maxSetFields || size > maxSetBytes {
		return f.others(place())
	}
	names := slices.Sorted(slices.Values(f.last))
	key := strings.Join(names, "\x00")
	if known := f.sets[key]; known != nil {
		return known
	}
	return f.insert(&fieldSet{key: key, names: names, first: place()})
}

func (f *fieldSets) insert(s *fieldSet) *fieldSet {
	if len(f.sets) == maxSets {
		return f.others(s.first)
	}
	if f.sets == nil {
		f.sets = make(map[string]*fieldSet)
	}
	f.sets[s.key] = s
	f.order = append(f.order, s)
	return s
}

func (f *fieldSets) others(first findings.Place) *fieldSet {
	if f.other == nil {
		f.other = &fieldSet{first: first}
	}
	return f.other
}

// merge adds the sets of the next part. It must be called in the order of parts.
func (f *fieldSets) merge(next *fieldSets) {
	for _, s := range next.order {
		known := f.sets[s.key]
		if known == nil {
			known = f.insert(&fieldSet{key: s.key, names: s.names, first: s.first})
		}
		known.count += s.count
	}
	if next.other != nil {
		f.others(next.other.first).count += next.other.count
	}
}

// compare adds a finding for each set except the most common one. If two are equally common, the one found first counts
// as the most common.
func (f *fieldSets) compare(t *tally) {
	if len(f.order) == 0 {
		return
	}
	most := f.order[0]
	for _, s := range f.order {
		if s.count > most.count {
			most = s
		}
	}
	usual := fmt.Sprintf("most samples, %d, have %s", most.count, listed(most.names))
	for _, s := range f.order {
		if s != most {
			t.groups.add(ruleOddFields, differs(s.names, most.names)+"; "+usual, s.first, s.count)
		}
	}
	if f.other != nil {
		t.groups.add(ruleOddFields, "too many different sets of fields to list; "+usual, f.other.first, f.other.count)
	}
}

// differs describes how a set of names differs from the usual one. Both are sorted.
func differs(names, usual []string) string {
	without := func(a, b []string) []string {
		return slices.DeleteFunc(slices.Clone(a), func(n string) bool {
			_, found := slices.BinarySearch(b, n)
			return found
		})
	}
	lacks, extra := without(usual, names), without(names, usual)
	switch {
	case len(extra) == 0:
		return "it lacks " + listed(lacks)
	case len(lacks) == 0:
		return "it has " + listed(extra) + " too"
	}
	return "it has " + listed(extra) + " in place of " + listed(lacks)
}

// maxListed is the number of names listed in one text.
const maxListed = 10

// listed joins names for a text: jpg, cls and 3 more.
func listed(names []string) string {
	if len(names) == 0 {
		return "no fields"
	}
	var all []string
	for _, n := range names[:min(len(names), maxListed)] {
		all = append(all, quoted(n))
	}
	text := strings.Join(all, ", ")
	if more := len(names) - maxListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// quoted quotes a name that is not plain, so that it cannot be mistaken for the text around it.
func quoted(name string) string {
	if name == "" || len(name) > maxQuoted || strings.Trim(name, plainCharacters) != "" {
		return clipped(name)
	}
	return name
}

const plainCharacters = "/._-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// maxQuoted limits a printed name, in bytes.
const maxQuoted = 256

func clipped(name string) string {
	if len(name) > maxQuoted {
		return strconv.Quote(name[:maxQuoted]) + "…"
	}
	return strconv.Quote(name)
}
