package features

import (
	"fmt"
	"io/fs"

	"github.com/ffconvert/ffconvert/converters"
)

// surveyed is the number of records that decide which features are lists.
const surveyed = 1000

// survey decides which features are lists.
func (s *Source) survey() error {
	s.rule.all, s.rule.given = s.opts.AllLists, s.opts.Lists
	var seen names
	for i, p := range s.parts {
		if i > 0 && p.Path == "" {
			return &converters.Error{Where: p.Name, Off: -1, Hint: "have all parts here first",
				Err: fmt.Errorf("no part before it has records that show the features, and it is not here yet: %w", fs.ErrNotExist)}
		}
		n, err := s.surveyPart(i, &seen)
		if err != nil {
			return err
		}
		if n > 0 {
			break
		}
	}
	s.rule.learn(seen)
	return nil
}

// surveyPart counts the values of the features in the first records of a part, and returns the number of records. It
// reads no bytes of values. It stops at damage, which Index reports.
func (s *Source) surveyPart(part int, seen *names) (int64, error) {
	start, err := s.start(part)
	if err != nil {
		return 0, nil
	}
	f, size, err := s.openPart(part, converters.ForIndex)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var sc scanner
	sc.indexing(s, f, s.parts[part], size, start)
	sc.counting = true
	sc.names = *seen
	for n := range int64(surveyed) {
		ok, err := sc.next()
		if *seen = sc.names; err != nil || !ok {
			return n, nil
		}
	}
	return surveyed, nil
}
