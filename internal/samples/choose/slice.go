package choose

import (
	"errors"
	"strconv"
	"strings"
)

// A slice is the ordinals lo, lo+step, … below hi; hi < 0: unlimited.
type slice struct{ lo, hi, step int64 }

func (s slice) holds(i int64) bool {
	return i >= s.lo && (s.hi < 0 || i < s.hi) && (i-s.lo)%s.step == 0
}

// CheckSlice returns an error unless text is a slice for Options.Slice.
func CheckSlice(text string) error {
	_, err := parseSlice(text)
	return err
}

func parseSlice(text string) (slice, error) {
	s := slice{0, -1, 1}
	if text == "" {
		return s, nil
	}
	bad := errors.New("want lo:hi or lo:hi:step, of whole numbers from 0 on, as in 0:1000 or 10::2")
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return s, bad
	}
	for i, to := range []*int64{&s.lo, &s.hi, &s.step}[:len(parts)] {
		if parts[i] == "" {
			continue
		}
		n, err := strconv.ParseUint(parts[i], 10, 63)
		if err != nil {
			return s, bad
		}
		*to = int64(n)
	}
	switch {
	case s.step == 0:
		return s, errors.New("the step is 0")
	case s.hi >= 0 && s.hi <= s.lo:
		return s, errors.New("it holds no sample")
	}
	return s, nil
}
