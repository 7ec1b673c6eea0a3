package scan

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// named gives samples without end; their key is its name.
type named string

func (n *named) Begin(context.Context, *Pass) error { return nil }
func (n *named) Offset() int64                      { return 0 }
func (n *named) End()                               {}
func (n *named) Next(context.Context, int64) ([]converters.Span, error) {
	return []converters.Span{{Entries: 1, Shape: &converters.Sample{Key: string(*n)}}}, nil
}

// A run gets the Reader whose last run ended where it begins. Runs after one another need no more Readers than runs at once.
func TestReaders(t *testing.T) {
	t.Parallel()
	made := 0
	s := New(make([]converters.Part, 2), Format{Reader: func() Reader {
		made++
		n := named(fmt.Sprint(made))
		return &n
	}})
	run := func(part int, first int64) (key string, end func()) {
		next, stop := iter.Pull2(s.Read(t.Context(), converters.Run{Part: part, First: first, Count: 10}))
		sample, err, _ := next()
		if err != nil {
			t.Fatal(err)
		}
		return sample.Key, stop
	}
	one, endOne := run(0, 0)
	two, endTwo := run(1, 40)
	three, endThree := run(0, 40)
	endThree()
	endOne()
	endTwo()
	for _, row := range []struct {
		part  int
		first int64
		want  string
	}{{0, 10, one}, {1, 50, two}, {0, 50, three}, {1, 60, two}, {0, 20, one}, {0, 60, three}} {
		key, end := run(row.part, row.first)
		if end(); key != row.want {
			t.Errorf("part %d, sample %d: Reader %s, want %s", row.part, row.first, key, row.want)
		}
	}
	_, end := run(1, 0)
	if end(); made != 3 {
		t.Errorf("%d Readers, 3 were used at once", made)
	}
}
