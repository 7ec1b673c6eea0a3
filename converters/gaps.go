package converters

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A sequence is a group of names that differ in one number, such as shards-000.tar and shards-002.tar.
type sequence struct {
	first   string  // the first name
	runs    []int64 // the numbers in first
	varies  int     // index in runs of the number that differs; -1: none, -2: several
	numbers []int64 // the differing numbers of all names
}

// gapDoubts reports files that seem to be missing, by gaps in the numbers of names: a listing may be incomplete, or an
// upload unfinished. It ignores names with more missing numbers than present ones: dates, or a selection of files.
func gapDoubts(names []string) (doubts []Doubt) {
	var all []*sequence
	byText := make(map[string]*sequence)
	var runs []int64
	var key []byte
	for _, name := range names {
		runs, key = runs[:0], key[:0]
		for rest := name; rest != ""; {
			digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
			if digits == 0 {
				key, rest = append(key, rest[0]), rest[1:]
				continue
			}
			n, _ := strconv.ParseInt(rest[:min(digits, 18)], 10, 64) // digits only, so no error
			runs, key, rest = append(runs, n), append(key, 0), rest[min(digits, 18):]
		}
		a := byText[string(key)]
		if a == nil {
			a = &sequence{first: name, runs: slices.Clone(runs), varies: -1}
			byText[string(key)] = a
			all = append(all, a)
		}
		a.add(runs)
	}
	for _, a := range all {
		if line := a.gaps(); line != "" {
			doubts = append(doubts, Doubt{Part: a.first, Off: -1, Text: line})
		}
	}
	return doubts
}

// add adds the numbers of a name.
func (a *sequence) add(runs []int64) {
	for i, n := range runs {
		switch {
		case n == a.runs[i] || a.varies == i:
		case a.varies == -1: // all earlier names have the number of the first
			a.varies, a.numbers = i, append(a.numbers, a.runs[i])
		default:
			a.varies, a.numbers = -2, nil
			return
		}
	}
	if a.varies >= 0 {
		a.numbers = append(a.numbers, runs[a.varies])
	}
}

// mostGaps limits the missing names in a doubt.
const mostGaps = 10

// gaps describes the missing names; "" if there are none.
func (a *sequence) gaps() string {
	if a.varies < 0 {
		return ""
	}
	slices.Sort(a.numbers)
	numbers := slices.Compact(a.numbers)
	has, last := int64(len(numbers)), numbers[len(numbers)-1]
	lacks := last - numbers[0] + 1 - has
	if lacks == 0 || lacks > has {
		return ""
	}
	var missing []string
	for i, next := 0, numbers[0]; next < last && len(missing) < mostGaps; next++ {
		if numbers[i] == next {
			i++
			continue
		}
		missing = append(missing, path.Base(a.name(next)))
	}
	line := "names numbered like it leave out " + strings.Join(missing, ", ")
	if more := lacks - int64(len(missing)); more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	return line
}

// name returns first with the differing number replaced by n, zero padded if that number begins with a zero.
func (a *sequence) name(n int64) string {
	at := 0
	for rest := a.first; rest != ""; {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if digits == 0 {
			rest = rest[1:]
			continue
		}
		from := len(a.first) - len(rest)
		if digits = min(digits, 18); at == a.varies {
			return fmt.Sprintf("%s%0*d%s", a.first[:from], a.width(rest[:digits]), n, a.first[from+digits:])
		}
		rest = rest[digits:]
		at++
	}
	return a.first
}

// width returns the minimum digits of the differing number.
func (a *sequence) width(first string) int {
	if first[0] == '0' {
		return len(first)
	}
	return 1
}
