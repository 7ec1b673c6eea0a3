package browse

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/internal/samples/spec"
	"github.com/ffconvert/ffconvert/internal/text"
)

// words are those that a shell makes of a command line.
func words(t *testing.T, line string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "bash", "-c", "set -- "+line+`; printf '%s\0' "$@"`).Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// run runs a command in a directory, and returns the dataset that it makes.
func run(t *testing.T, line, dir string) string {
	t.Helper()
	if text.Line(line) != line {
		t.Errorf("a line with control characters: %q", line)
	}
	all := words(t, line)
	if len(all)%2 != 0 || !slices.Equal([]string{all[0], all[1], all[3]}, []string{"ffconvert", "ffr", "subset/"}) {
		t.Fatalf("words %q", all)
	}
	f, _ := format.Named("ffr")
	c := &convert.Conversion{Reader: f.Reader(), Sources: all[2:3], Out: filepath.Join(dir, all[3])}
	for i := 4; i < len(all); i += 2 {
		switch all[i] {
		case "--where":
			c.Choice.Where = all[i+1]
		case "--keys":
			k, err := choose.ReadKeys(filepath.Join(dir, strings.TrimPrefix(all[i+1], "@")), 0)
			if err != nil {
				t.Fatal(err)
			}
			c.Choice.Keys = k
		default:
			t.Fatalf("option %q", all[i])
		}
	}
	if _, err := c.Write(t.Context()); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return c.Out
}

// records are the records of a dataset, sorted; of those samples alone if numbers is not nil.
func records(t *testing.T, path string, numbers []int64) []string {
	t.Helper()
	d, err := lookup.Open(path, lookup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	err = d.WalkRecords(t.Context(), nil, func(r *lookup.Row, data []byte) error {
		if _, found := slices.BinarySearch(numbers, r.Number); found || numbers == nil {
			all = append(all, r.Key+"\x00"+string(data))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// The command of a query makes a dataset of the samples that a page shows, with its list of keys where it needs one.
func TestCommand(t *testing.T) {
	t.Parallel()
	for _, x := range fixtures {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			path := x.made(t)
			s := x.searcher(t, path)
			listed := 0
			for i, x := range queries {
				q := x.Query
				if testing.Short() && i%5 > 0 {
					continue
				}
				line, why := s.command(q, path)
				p, err := s.page(t.Context(), q, 0, 10*samples, 0)
				if err != nil || len(p.Rows) == 0 {
					continue
				}
				dir := t.TempDir()
				switch {
				case line == "":
					if keyed, _ := s.keyed(); keyed {
						t.Errorf("%+v: %s", q, why)
					}
					continue
				case why != "":
					var list bytes.Buffer
					n, err := s.keys(t.Context(), q, &list)
					if errors.Is(err, errList) && strings.Contains(err.Error(), "has the same key") && list.Len() == 0 {
						continue // TestKeys compares these
					}
					if err := cmp.Or(err, os.WriteFile(filepath.Join(dir, keysName), list.Bytes(), 0o644)); err != nil || n != int64(len(p.Rows)) {
						t.Fatalf("%+v: %d keys, %v", q, n, err)
					}
					listed++
				}
				var numbers []int64
				for _, r := range p.Rows {
					numbers = append(numbers, r.Number)
				}
				if got, want := records(t, run(t, line, dir), nil), records(t, path, numbers); !slices.Equal(got, want) {
					t.Errorf("%+v: %s makes %d samples, want %d", q, line, len(got), len(want))
				}
			}
			if listed < x.lists && !testing.Short() {
				t.Errorf("%d commands need a list, want %d", listed, x.lists)
			}
		})
	}
}

// A mixture, whose sources have records of other fields each, is searched by what its records have.
func TestMixture(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := "dataset:\n- shards: ../../testdata/shards-000.tar\n  fields: image,cls\n  rename: [image=jpg;png]\n- shards: ../../testdata/shards-001.tar\n"
	parsed, err := spec.Parse("mixture.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "out")
	if _, err := (&convert.Conversion{Spec: parsed, Out: path}).Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	x := fixture{}
	s := x.searcher(t, path)
	m1, err := dataset.ReadManifest(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []meant{has("image"), has("jpg"), has("json"), has("cls"), {Query{Source: m1.Sources[1].Name, Where: "label=1"}, label(1)}} {
		q := x.Query
		p, err := s.page(t.Context(), q, 0, 1000, 0)
		if err != nil || p.Unknown > 0 {
			t.Fatal(err, p.Problem)
		}
		var got []int64
		for _, r := range p.Rows {
			got = append(got, r.Number)
		}
		if want := wanted(t, s, x); !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%+v: %v, want %v", q, got, want)
		}
		line, why := s.command(q, path)
		var list bytes.Buffer
		home := t.TempDir()
		if _, err := s.keys(t.Context(), q, &list); err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		if err := os.WriteFile(filepath.Join(home, keysName), list.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, want := records(t, run(t, line, home), nil), records(t, path, got); !slices.Equal(got, want) {
			t.Errorf("%+v: %s (%s) makes %d samples, want %d", q, line, why, len(got), len(want))
		}
	}
}
