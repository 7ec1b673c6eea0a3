package shard

import (
	"errors"
	"testing"
)

func TestParseTask(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text string
		want Task
		fits bool
	}{
		{"0/1", Task{0, 1}, true},
		{"3/40", Task{3, 40}, true},
		{"39/40", Task{39, 40}, true},
		{"40/40", Task{}, false},
		{"-1/40", Task{}, false},
		{"0/0", Task{}, false}, // what a script makes of a variable that is not set, not the whole
		{"0/-1", Task{}, false},
		{"3", Task{}, false},
		{"3/", Task{}, false},
		{"/40", Task{}, false},
		{"", Task{}, false},
		{"3/40/2", Task{}, false},
		{"a/b", Task{}, false},
		{"1e3/4000", Task{}, false},
		{"3/99999999999999999999", Task{}, false},
	} {
		got, err := ParseTask(row.text)
		if row.fits != (err == nil) || row.fits && got != row.want || !row.fits && !errors.Is(err, ErrTask) {
			t.Errorf("%q: %+v, %v", row.text, got, err)
		}
	}
}
