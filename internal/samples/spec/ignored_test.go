package spec

import (
	"slices"
	"testing"
)

// A key without a meaning is a warning with the line of the first and a count, and what has a meaning is kept.
func TestIgnored(t *testing.T) {
	t.Parallel()
	s, err := Parse("x.yaml", []byte("random_shuffle: true\nrandom_seed: 7\nepoch: 9\ndatasets:\n- {shards: a, perepoch: 10}\n- shards: b\n  perepoch: 20\n  shuffle: 100\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Asked["shuffle"] != "true" || s.Asked["seed"] != "7" {
		t.Errorf("%+v", s)
	}
	var got []string
	for _, d := range s.Doubts {
		got = append(got, d.Part+": "+d.Text)
	}
	want := []string{
		"x.yaml: epoch (line 3) has no meaning for a converted dataset: it says how samples are read in training",
		"x.yaml: perepoch (line 5, and 1 more) has no meaning for a converted dataset: it draws shards anew each epoch, and a converted dataset has the samples of all; fraction: and repeat: draw once",
		"x.yaml: shuffle (line 8) has no meaning for a converted dataset: it is for the whole dataset; give it beside dataset:",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if s, err = Parse("x.yaml", []byte("seed: -1\ndataset:\n- shards: a\n")); err != nil || s.Asked["seed"] != "" {
		t.Errorf("%+v, %v", s, err)
	}
}
