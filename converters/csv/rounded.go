package csv

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
)

// A rounding counts the integers, seen by Index, that the inferred type float64 cannot hold exactly. If the user named
// the type, nothing is counted.
type rounding struct {
	mu    sync.Mutex
	parts map[string]roundedPart // by name, because a part may be indexed again; only parts with such integers
}

// A roundedPart counts such integers in one part.
type roundedPart struct {
	off     int64 // of the first row with one
	entry   string
	columns map[int]roundedColumn // by index in schema.kept
}

type roundedColumn struct {
	integers int64
	large    bool // some are beyond int64
}

// round counts the value of a cell of the current row in column i, if it is such an integer.
func (s *splitter) round(i int, k column, c cell) {
	if s.rounded == nil || k.exact == unknown {
		return
	}
	value := trim(s.value(c))
	if !rounds(value) {
		return
	}
	if s.rounded.columns == nil {
		*s.rounded = roundedPart{s.at, valueEntry(s.row, k), make(map[int]roundedColumn)}
	}
	col := s.rounded.columns[i]
	col.integers++
	if _, ok := integer(value); !ok {
		col.large = true
	}
	s.rounded.columns[i] = col
}

// exactDigits is the largest number of digits for which float64 holds every integer.
const exactDigits = 15

// rounds reports whether a value without blanks around it is an integer that float64 cannot hold.
func rounds(value []byte) bool {
	if len(value) <= exactDigits || !isInteger(value) {
		return false
	}
	digits := string(bytes.TrimLeft(value, "+-0"))
	if n, err := strconv.ParseUint(digits, 10, 63); err == nil {
		return uint64(float64(n)) != n
	}
	f, err := strconv.ParseFloat(digits, 64)
	return err == nil && strconv.FormatFloat(f, 'f', 0, 64) != digits
}

func (r *rounding) set(part string, seen roundedPart) {
	if seen.columns == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.parts == nil {
		r.parts = make(map[string]roundedPart)
	}
	r.parts[part] = seen
}

// doubt reports the counts of all parts, at the first such integer. ok is false if there is none.
func (r *rounding) doubt(parts []converters.Part, schema *schema) (d converters.Doubt, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]roundedColumn, len(schema.kept))
	sum := int64(0)
	for _, p := range parts {
		seen, there := r.parts[p.Name]
		if there && sum == 0 {
			d = converters.Doubt{Part: p.Name, Off: seen.off, Entry: seen.entry}
		}
		for i, c := range seen.columns {
			all[i].integers += c.integers
			all[i].large = all[i].large || c.large
			sum += c.integers
		}
	}
	if sum == 0 {
		return d, false
	}
	d.Text, d.Hint = schema.roundedText(sum, all)
	return d, true
}

// roundedText returns how many integers are rounded in which columns, and the types that keep them exact:
// int64 for all columns if possible, else a type for each of these columns.
func (s *schema) roundedText(sum int64, all []roundedColumn) (text, hint string) {
	var names, types []string
	int64sAlone := s.numeric
	for i, c := range s.kept {
		int64sAlone = int64sAlone && c.exact == int64s && !all[i].large
		if all[i].integers == 0 {
			continue
		}
		exact := texts
		if c.exact == int64s && !all[i].large {
			exact = int64s
		}
		names, types = append(names, c.name), append(types, fmt.Sprintf("%s=%s", shown(c.name), exact))
	}
	hint = "option dtype " + strings.Join(types, ",")
	if int64sAlone {
		hint = "option dtype int64"
	}
	rounded, exactly := "integers beyond 2^53 are rounded", " keeps them exact"
	if sum == 1 {
		rounded, exactly = "integer beyond 2^53 is rounded", " keeps it exact"
	}
	where := "column"
	if len(names) > 1 {
		where = "columns"
	}
	return fmt.Sprintf("%d %s to float64, in the %s %s", sum, rounded, where, list(names)), hint + exactly
}
