package store

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// emulated is our store over the server, as STORAGE_EMULATOR_HOST names it.
func (g *fakeGoogle) emulated(t *testing.T) *gsStore {
	t.Helper()
	s, err := newGS(Options{LookupEnv: environment(map[string]string{"STORAGE_EMULATOR_HOST": hostOf(t, g.URL)})}, loopbackClient(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	return s.(*gsStore)
}

func TestGSRanges(t *testing.T) {
	g := newFakeGoogle(t)
	s := g.emulated(t)
	g.put(t, "digits", "0123456789")
	o, err := s.stat(t.Context(), "gs://train-data/digits")
	if err != nil {
		t.Fatal(err)
	}
	want := Object{
		URL: "gs://train-data/digits", Size: 10, Version: "1", Modified: time.Date(2024, 5, 6, 7, 8, 9, 123e6, time.UTC),
		Sum: Sum{"crc32c", hex.EncodeToString(sumOf("crc32c", "0123456789"))},
	}
	if o != want {
		t.Errorf("%+v", o)
	}
	for _, row := range []struct {
		off, n int64
		want   string
	}{{0, -1, "0123456789"}, {0, 1, "0"}, {3, 4, "3456"}, {7, -1, "789"}, {8, 100, "89"}} {
		r, err := s.open(t.Context(), o, row.off, row.n)
		if got := textOf(t, r, err); got != row.want || r.Off != row.off || r.Size != 10 || r.Version != "1" {
			t.Errorf("%d, %d: %q %+v", row.off, row.n, got, r)
		}
	}
	if _, err := s.open(t.Context(), o, 20, 5); !errors.Is(err, ErrChanged) {
		t.Errorf("past the end: %v", err)
	}
	g.put(t, "digits", "9876543210")
	if _, err := s.open(t.Context(), o, 0, 5); !errors.Is(err, ErrChanged) {
		t.Errorf("overwritten: %v", err)
	}
	g.put(t, "empty", "")
	o, err = s.stat(t.Context(), "gs://train-data/empty")
	if err != nil || o.Size != 0 {
		t.Errorf("%+v %v", o, err)
	}
	r, err := s.open(t.Context(), o, 0, -1)
	if got := textOf(t, r, err); got != "" {
		t.Errorf("%q", got)
	}
}

// What is stored compressed comes as it is stored.
func TestGSCompressed(t *testing.T) {
	g := newFakeGoogle(t)
	s := g.emulated(t)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte("plain text"))
	z.Close()
	g.objects["a.gz"] = fakeObject{data: b.Bytes(), generation: 4, gzip: true}
	o, err := s.stat(t.Context(), "gs://train-data/a.gz")
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.open(t.Context(), o, 0, -1)
	if got := textOf(t, r, err); got != b.String() || r.N != o.Size {
		t.Errorf("%q", got)
	}
}

func TestGSNames(t *testing.T) {
	g := newFakeGoogle(t)
	s := g.emulated(t)
	names := []string{"a b", "a+b", "a#b", "a?b=c&d", "100%", "%41", "é日本🐟", "a/b//c", "../up", ".", "..", "a;b,c:d@e$f!'()*", "\\\""}
	for _, name := range names {
		g.put(t, name, "text of "+name)
	}
	s.pageSize = 3
	var inOrder []string
	for o, err := range objectsOf(t.Context(), s, "gs://train-data/") {
		if err != nil {
			t.Fatal(err)
		}
		inOrder = append(inOrder, strings.TrimPrefix(o.URL, "gs://train-data/"))
		found, err := s.stat(t.Context(), o.URL)
		if err != nil || found != o {
			t.Errorf("list and stat differ: %+v %+v %v", o, found, err)
		}
		r, err := s.open(t.Context(), o, 0, -1)
		if got := textOf(t, r, err); got != "text of "+inOrder[len(inOrder)-1] {
			t.Errorf("%q", got)
		}
	}
	slices.Sort(names)
	if !slices.Equal(inOrder, names) {
		t.Errorf("%q", inOrder)
	}
}

func TestGSList(t *testing.T) {
	g := newFakeGoogle(t)
	s := g.emulated(t)
	s.pageSize = 7
	var want, got []string
	for i := range 50 {
		name := fmt.Sprintf("part-%03d", i)
		g.put(t, name, "")
		want = append(want, "gs://train-data/"+name)
	}
	g.put(t, "other", "")
	for o, err := range objectsOf(t.Context(), s, "gs://train-data/part-") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, o.URL)
	}
	if !slices.Equal(got, want) || len(g.asked) != 8 {
		t.Errorf("%d pages: %q", len(g.asked), got)
	}
}
