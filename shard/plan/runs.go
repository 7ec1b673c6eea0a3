package plan

import (
	"bytes"
	"errors"
	"math"
	"strconv"

	"github.com/ffconvert/ffconvert/converters"
)

// planRuns are the runs of a shard in its line: a JSON array of [part, first, offset, count],
// without spaces. They make up most of a large plan, above all of a shuffled one, and a task
// reads them before it begins, so encoding/json would be too slow (BenchmarkSlice).
type planRuns []converters.Run

func (r planRuns) MarshalJSON() ([]byte, error) {
	text := make([]byte, 0, 2+len(r)*32)
	text = append(text, '[')
	for i := range r {
		if i > 0 {
			text = append(text, ',')
		}
		for j, n := range [...]int64{int64(r[i].Part), r[i].First, r[i].Off, r[i].Count} {
			text = append(text, "[,,,"[j])
			text = strconv.AppendInt(text, n, 10)
		}
		text = append(text, ']')
	}
	return append(text, ']'), nil
}

// UnmarshalJSON accepts only what MarshalJSON writes, no equivalent JSON.
func (r *planRuns) UnmarshalJSON(text []byte) error {
	in := runScanner{text: text}
	runs := make(planRuns, 0, bytes.Count(text, []byte{'['}))
	in.must('[')
	for !in.bad && !in.accept(']') {
		if len(runs) > 0 {
			in.must(',')
		}
		var n [4]int64
		for j := range n {
			in.must("[,,,"[j])
			n[j] = in.number()
		}
		in.must(']')
		runs = append(runs, converters.Run{Part: int(n[0]), First: n[1], Off: n[2], Count: n[3]})
	}
	if in.bad || len(in.text) > 0 {
		return errors.New("its runs are not lists of four numbers")
	}
	*r = runs
	return nil
}

// A runScanner scans a text; after an unexpected byte it stays in error.
type runScanner struct {
	text []byte // not scanned yet
	bad  bool
}

func (s *runScanner) accept(c byte) bool {
	if len(s.text) == 0 || s.text[0] != c {
		return false
	}
	s.text = s.text[1:]
	return true
}

func (s *runScanner) must(c byte) { s.bad = !s.accept(c) || s.bad }

// number scans a number, 0 or more.
func (s *runScanner) number() (n int64) {
	i := 0
	for ; i < len(s.text) && '0' <= s.text[i] && s.text[i] <= '9'; i++ {
		digit := int64(s.text[i] - '0')
		if n > (math.MaxInt64-digit)/10 {
			s.bad = true
			return 0
		}
		n = 10*n + digit
	}
	s.bad = i == 0 || s.bad
	s.text = s.text[i:]
	return n
}
