package tfrecord

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// surveyed is the number of records that decide which features are lists.
const surveyed = 1000

// survey decides which features are lists.
func (s *source) survey() error {
	s.rule.all, s.rule.given = s.opts.AllLists, s.opts.Lists
	counter := s.scanner()
	counter.counting = true
	counted := scan.New(s.Parts(), scan.Format{Open: s.open, Unit: "record", Reader: func() scan.Reader { return counter }})
	for i, p := range s.Parts() {
		if i > 0 && p.Path == "" {
			return &converters.Error{Where: p.Name, Off: -1, Hint: "option exact has all parts here first",
				Err: fmt.Errorf("no part before it has records that show the features, and it is not here yet: %w", fs.ErrNotExist)}
		}
		n, err := s.surveyPart(counted, i)
		if err != nil {
			return err
		}
		if n > 0 {
			break
		}
	}
	s.rule.learn(counter.names)
	return nil
}

// surveyPart counts the values of the features in the first records of a part, and returns the number of records. It
// reads no bytes of values. It ends at damage, which Index reports.
func (s *source) surveyPart(counted *scan.Source, part int) (n int64, err error) {
	if _, err := s.start(part); err != nil {
		return 0, nil
	}
	run := converters.Run{Part: part, Count: surveyed}
	for span, err := range scan.Spans(context.Background(), counted, run) {
		if err != nil {
			return n, err
		}
		if span.Shape != nil {
			n++
		}
	}
	return n, nil
}
