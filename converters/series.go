package converters

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/ffconvert/ffconvert/internal/text"
)

// numbered matches names with the number of the file and of all files, as TensorFlow and Hugging Face write them:
// train-00003-of-00128.parquet. Some writers count from 1.
var numbered = text.Pattern(`^(.*-)([0-9]{4,9})-of-([0-9]{4,9})([^/]*)$`)

// A series is the files whose names state the same total.
type series struct {
	first         string // the first name
	before, after string // text around the numbers
	digits, of    int
	numbers       []int
}

// SeriesDoubts reports missing files of a series, and a mix of two series. Names without a total are compared by their
// numbers.
func SeriesDoubts(names []string) []Doubt {
	var all []*series
	var others []string
	byName := make(map[[3]string]*series)
	for _, name := range names {
		m := numbered().FindStringSubmatch(name)
		if m == nil {
			others = append(others, name)
			continue
		}
		key := [3]string{m[1], m[3], m[4]}
		s := byName[key]
		if s == nil {
			s = &series{first: name, before: m[1], after: m[4], digits: len(m[2])}
			s.of, _ = strconv.Atoi(m[3])
			byName[key] = s
			all = append(all, s)
		}
		n, _ := strconv.Atoi(m[2])
		s.numbers = append(s.numbers, n)
	}
	var doubts []Doubt
	for i, s := range all {
		if there, missing := s.missing(); there < s.of {
			doubts = append(doubts, Doubt{Part: s.first, Off: -1, Text: fmt.Sprintf("its name counts %d files, found %d; the first that is missing is %s", s.of, there, missing)})
		}
		if j := slices.IndexFunc(all[:i], func(o *series) bool { return o.before == s.before && o.after == s.after }); j >= 0 {
			doubts = append(doubts, Doubt{Part: s.first, Off: -1, Text: fmt.Sprintf("its name counts %d files, that of %s %d: they may hold the same samples", s.of, all[j].first, all[j].of)})
		}
	}
	return append(doubts, gapDoubts(others)...)
}

// missing returns the number of files present, and the name of the first missing one.
func (s *series) missing() (there int, first string) {
	slices.SortFunc(s.numbers, cmp.Compare)
	numbers := slices.Compact(s.numbers)
	next := 0
	if numbers[0] > 0 && numbers[len(numbers)-1] == s.of { // counted from 1
		next = 1
	}
	for _, n := range numbers {
		if n != next {
			break
		}
		next++
	}
	return len(numbers), fmt.Sprintf("%s%0*d-of-%0*d%s", s.before, s.digits, next, s.digits, s.of, s.after)
}
