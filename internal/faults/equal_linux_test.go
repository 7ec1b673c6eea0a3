package faults

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// equals are conversions whose first two shards have equal bytes, and whose third is another but
// for the last of them.
var equals = sync.OnceValues(func() ([]conversion, error) {
	in := filepath.Join(base, "in-equal")
	if err := os.MkdirAll(in, 0o755); err != nil {
		return nil, err
	}
	var names []string
	for i, from := range []string{sources[0], sources[0], sources[1]} {
		names = append(names, filepath.Join(in, fmt.Sprintf("%d.tar", i)))
		data, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(names[i], data, 0o644)
		}
		if err != nil {
			return nil, err
		}
	}
	file := func(name, text string) string {
		name = filepath.Join(in, name)
		os.WriteFile(name, []byte(text), 0o644) // the conversion finds that it is missing
		return name
	}
	rows := file("rows.csv", "1,2\n1,2\n3,4\n")
	items := file("items.cbors", "\x82\x01\x02\x82\x01\x02\x82\x01\x03")
	spec := file("spec.yaml", fmt.Sprintf("dataset:\n- shards: %s\n  repeat: 3\n", names[0]))
	var all []conversion
	for _, from := range [][]string{{"csv", rows}, append([]string{"tar", "--whole-parts"}, names...), {"cbor", items}, {"spec", spec}} {
		c := conversion{name: from[0], args: func(out string) []string {
			return append(append([]string{from[0], "--shards", "3", "--progress", "none", "-j1"}, from[1:]...), out)
		}}
		out := filepath.Join(base, "reference-equal-"+c.name)
		var err error
		if c.want, err = referenceOf(out, c.args(out)); err != nil {
			return nil, err
		}
		if !bytes.Equal(c.want["PART_00000.ffr"], c.want["PART_00001.ffr"]) {
			return nil, fmt.Errorf("%s: its shards are not equal", c.name)
		}
		all = append(all, c)
	}
	return all, nil
})

// equalCases are what is done to a dataset that has shards of equal bytes, and whether verify
// must still call it sound.
var equalCases = []struct {
	name  string
	sound bool
	do    func(out string) error
}{
	{"nothing", true, func(string) error { return nil }},
	{"equal shards swapped", true, func(out string) error { return exchange(out, "PART_00000.ffr", "PART_00001.ffr") }},
	{"one damaged", false, func(out string) error {
		return harm(out, "PART_00001.ffr", func(b []byte) []byte { b[len(b)-1] ^= 1; return b })
	}},
	{"one missing", false, func(out string) error { return os.Remove(filepath.Join(out, "PART_00001.ffr")) }},
	{"stopped after the first line of the journal", false, func(out string) error {
		err := harm(out, ".ffconvert/journal", func(b []byte) []byte {
			return bytes.Join(bytes.SplitAfter(b, []byte{'\n'})[:2], nil)
		})
		if err == nil {
			err = os.Remove(filepath.Join(out, "manifest.json"))
		}
		return err
	}},
}

// exchange swaps two files.
func exchange(out, a, b string) error {
	for _, step := range [][2]string{{a, "aside"}, {b, a}, {"aside", b}} {
		if err := os.Rename(filepath.Join(out, step[0]), filepath.Join(out, step[1])); err != nil {
			return err
		}
	}
	return nil
}

// TestFaultH8 verifies, repairs, swaps and resumes datasets in which shards have equal bytes.
func TestFaultH8(t *testing.T) {
	slow(t)
	t.Parallel()
	all, err := equals()
	if err != nil {
		t.Fatal(err)
	}
	n := len(all) * len(equalCases)
	sum := each(t, spread(n, n), func(i int, dir string) error {
		c, harmed := all[i/len(equalCases)], equalCases[i%len(equalCases)]
		out := filepath.Join(dir, "out")
		if err := os.CopyFS(out, os.DirFS(filepath.Join(base, "reference-equal-"+c.name))); err != nil {
			return err
		}
		if err := harmed.do(out); err != nil {
			return err
		}
		if err := equalCase(c, out, harmed.sound, i); err != nil {
			return fmt.Errorf("%s: %s: %w", c.name, harmed.name, err)
		}
		return nil
	})
	t.Logf("H8 %v", sum)
}

// equalCase verifies, mends by repair or by the same command, in turn, and verifies again.
func equalCase(c conversion, out string, sound bool, i int) error {
	r, err := run("verify", "--progress", "none", out)
	switch {
	case err != nil:
		return err
	case sound != (r.code == 0):
		return fmt.Errorf("%w: sound is %v: %v", errBad, !sound, r)
	case strings.Contains(r.stdout, "it is the dataset's shard"):
		return fmt.Errorf("%w as swapped: %v", errBad, r)
	}
	args := repairArgs(out)
	if _, err := os.Stat(filepath.Join(out, "manifest.json")); err != nil && i%2 == 0 {
		args = c.args(out)
	}
	if err := complete(out, c.want, args); err != nil {
		return err
	}
	if r, err = run("verify", "--progress", "none", out); err == nil && r.code != 0 {
		err = fmt.Errorf("mended, but verify says %v", r)
	}
	return err
}
