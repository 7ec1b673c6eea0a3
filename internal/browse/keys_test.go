package browse

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
)

// keyed is a fixture of samples with these keys; the first half has the class 1.
func keyed(keys ...string) *fixture {
	return &fixture{parts: 1, sample: func(i int) converters.Sample {
		s := converters.Sample{Key: fmt.Sprintf("key/%d", i), Fields: []converters.Field{{Name: "txt", Value: converters.Bytes([]byte("x"))}}}
		if i < len(keys) {
			s.Key = keys[i]
		}
		if i < samples/2 {
			s.Fields = append(s.Fields, converters.Field{Name: "cls", Value: converters.Bytes([]byte("1"))})
		}
		return s
	}}
}

// A list is refused, and nothing of it is written, where it would choose other samples.
func TestKeysRefused(t *testing.T) {
	t.Parallel()
	one := Query{Where: "label=1"}
	for _, row := range []struct {
		name string
		x    *fixture
		q    Query
		want string
	}{
		{"line break", keyed("a", "b\nc"), one, "sample 1 has a line break in its key"},
		{"carriage return", keyed("a\r"), one, "sample 0 has a carriage return"},
		{"no key", keyed("a", ""), one, "sample 1 has no key"},
		{"key of another class", keyed("a", fmt.Sprintf("key/%d", samples-1)), one, fmt.Sprintf("sample %d has the same key as sample 1,", samples-1)},
		{"no keys at all", &fixtures[3], Query{}, "have no keys"},
		{"others", &fixtures[4], Query{}, "have no keys"},
		{"none", keyed(), Query{Where: "label=12"}, "there are none"},
		{"unknown part", keyed(), Query{Source: "dog"}, `source part "dog"`},
	} {
		s := row.x.searcher(t, row.x.made(t))
		var out strings.Builder
		_, err := s.keys(t.Context(), row.q, &out)
		if err == nil || !strings.Contains(err.Error(), row.want) || out.Len() > 0 || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; %d bytes", row.name, err, out.Len())
		}
		if !errors.Is(err, errList) && !errors.Is(err, errUnknown) {
			t.Errorf("%s: the error is of another kind: %v", row.name, err)
		}
	}
}

// What a list has is what a reader of it takes, whatever the keys begin and end with.
func TestKeys(t *testing.T) {
	t.Parallel()
	x := keyed("\ufeffmark", " space ", "a\rb", "#7", "@file", "-flag", "\u2028")
	s := x.searcher(t, x.made(t))
	name := filepath.Join(t.TempDir(), keysName)
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	n, err := s.keys(t.Context(), Query{Where: "label=1"}, f)
	if err := errors.Join(err, f.Close()); err != nil || n != samples/2 {
		t.Fatal(n, err)
	}
	listed, err := choose.ReadKeys(name, 0)
	if err != nil || listed.N != samples/2 {
		t.Fatalf("%+v, %v", listed, err)
	}
	c, err := choose.New(choose.Options{Keys: listed}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := c.Part("x")
	for i := range samples {
		s := x.sample(i)
		if reason, err := p.Leave(&s); err != nil || (reason == "") != (i < samples/2) {
			t.Errorf("%q: %q, %v", s.Key, reason, err)
		}
	}
	full := &failing{left: 100}
	if _, err := s.keys(t.Context(), Query{}, full); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
}

type failing struct{ left int }

func (w *failing) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// However few keys are held at once, a sample with a key of the list is found.
func TestKeysHeld(t *testing.T) {
	t.Parallel()
	x := keyed(fmt.Sprintf("key/%d", samples-1))
	s := x.searcher(t, x.made(t))
	f, err := s.filter(Query{Where: "label=1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{1, 7, samples / 2, samples} {
		l := s.newList(f, most)
		if err := l.choose(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := l.checkOthers(t.Context()); !errors.Is(err, errList) {
			t.Errorf("%d at once: %v", most, err)
		}
		l = s.newList(f, most)
		if err := l.choose(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.chosen.set(samples - 1)
		if err := l.checkOthers(t.Context()); err != nil {
			t.Errorf("%d at once: %v", most, err)
		}
	}
}
