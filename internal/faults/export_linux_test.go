package faults

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// exports returns the exports of a dataset that rows disturb, with one worker: to three tars, and to a folder.
func exports(t *testing.T) []conversion {
	t.Helper()
	all, err := bothExports()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var bothExports = sync.OnceValues(func() ([]conversion, error) {
	formats, err := everyFormat()
	if err != nil {
		return nil, err
	}
	from := formats[4].from
	few := []string{filepath.Join(base, "in-formats", "few")}
	if _, err := referenceOf(few[0], []string{"ffr", "--limit", "5", "--shards", "2", "--progress", "none", from[0], few[0]}); err != nil {
		return nil, err
	}
	all := []conversion{
		{name: "export-tar", from: from, args: func(out string) []string { return exportTars(from[0], out) }},
		{name: "export-folder", from: few, files: true, args: func(out string) []string { return exportFolder(few[0], out) }},
	}
	for i := range all {
		out := filepath.Join(base, "reference-"+all[i].name)
		if all[i].want, err = referenceOf(out, all[i].args(out)); err != nil {
			return nil, err
		}
	}
	return all, nil
})

func exportTars(from, out string) []string {
	return []string{"export", "tar", "--shards", "3", "--progress", "none", "-j1", from, filepath.Join(out, "x-%d.tar")}
}

func exportFolder(from, out string) []string {
	return []string{"export", "folder", "--progress", "none", "-j1", from, out}
}

// sound is [sound] of the conversion; in an exported folder files of any name are final.
func (c conversion) sound(out string, old ...tree) error {
	if err := sound(out, append(old, c.want)...); err != nil || !c.files {
		return err
	}
	got, err := readTree(out)
	for name, data := range got {
		if whole, ok := c.want[name]; !strings.HasSuffix(name, "/") && !strings.HasPrefix(name, ".ffconvert/") && (!ok || !bytes.Equal(data, whole)) {
			return fmt.Errorf("a bad %s of %d bytes is %w", name, len(data), errBad)
		}
	}
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

// whole says how an output differs from the reference. An export of tars that cannot remove its working directory has
// written all the same; of a folder it fails, since readers of folders take that for a class.
func (c conversion) whole(out string) error {
	got, err := readTree(out)
	if err != nil {
		return err
	}
	if c.name == "export-tar" {
		return got.withoutScratch().differ(c.want.withoutScratch())
	}
	return got.differ(c.want)
}

// TestExports: the references have what the rows want to lose.
func TestExports(t *testing.T) {
	slow(t)
	t.Parallel()
	all := exports(t)
	for _, name := range []string{"x-0.tar", "x-1.tar", "x-2.tar"} {
		if len(all[0].want[name]) < 10240 {
			t.Errorf("%s has %d bytes", name, len(all[0].want[name]))
		}
	}
	if all[0].want[tarsManifest] == nil || all[1].want[".ffconvert/"] != nil || len(all[1].want) < 8 {
		t.Errorf("%d and %d files", len(all[0].want), len(all[1].want))
	}
}

// TestFaultE6 flips a bit of a dataset that is a source. It is found, before anything has a final name.
func TestFaultE6(t *testing.T) {
	slow(t)
	t.Parallel()
	formats := conversions(t)
	for _, c := range append(formats[4:5:5], exports(t)...) {
		n := cases(300, 10)
		sum := each(t, spread(n, n), func(i int, dir string) error {
			from, files, err := c.copySources(filepath.Join(dir, "in"))
			if err != nil {
				return err
			}
			files = slices.DeleteFunc(files, func(name string) bool { return strings.Contains(name, "/.ffconvert/") }) // readers need none of these
			out, victim := filepath.Join(dir, "out"), files[i%len(files)]
			rng := rand.New(rand.NewPCG(uint64(i), 11))
			if err := edit(victim, flipAny(rng)); err != nil {
				return err
			}
			r, err := run(c.argsOf(from, out)...)
			if err == nil && r.code == 0 {
				err = fmt.Errorf("a flipped bit of %s is %w", filepath.Base(victim), errBad)
			}
			if err == nil {
				err = r.clean(2)
			}
			if err == nil && !strings.Contains(r.stderr, filepath.Base(victim)) {
				err = fmt.Errorf("%v; want it to name %s", r, filepath.Base(victim))
			}
			if err == nil {
				err = c.sound(out)
			}
			return err
		})
		t.Logf("E6 [%s] %v", c.name, sum)
	}
}

// argsOf returns the arguments of the conversion of other sources.
func (c conversion) argsOf(from []string, out string) []string {
	switch c.name {
	case "export-tar":
		return exportTars(from[0], out)
	case "export-folder":
		return exportFolder(from[0], out)
	}
	return formatArgs(c.name, from, out)
}
