package faults

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/ffconvert/ffconvert/internal/test/wholetest"
)

// A heldFile is one file of a container: the field suffix of the sample key.
type heldFile struct {
	key, suffix string
	data        []byte
}

// TestFaultI6 cuts and empties a picture, a sound, a film or JSON inside a sound container. The conversion counts and names it, and
// nothing else; with --damaged skip that sample alone is missing, with error there is no dataset.
func TestFaultI6(t *testing.T) {
	slow(t)
	t.Parallel()
	files := wholetest.Files()
	suffixes := slices.Sorted(maps.Keys(files))
	containers := []string{"tar", "folder", "cbor"}
	const cuts = 10 // the first leaves nothing
	n := len(suffixes) * len(containers) * cuts
	sum := each(t, spread(n, 21), func(i int, dir string) error {
		suffix, container, cut := suffixes[i%len(suffixes)], containers[i/len(suffixes)%len(containers)], i/len(suffixes)/len(containers)
		var all []heldFile
		for k := range 5 {
			for _, s := range suffixes {
				all = append(all, heldFile{fmt.Sprintf("k%d", k), s, files[s]})
			}
		}
		at := slices.IndexFunc(all, func(m heldFile) bool { return m.key == fmt.Sprintf("k%d", cut%5) && m.suffix == suffix })
		all[at].data = all[at].data[:len(all[at].data)*cut/cuts]
		if err := damagedIn(container, dir, all, at); err != nil {
			return fmt.Errorf("%s in a %s, cut at %d of %d: %w", suffix, container, len(all[at].data), len(files[suffix]), err)
		}
		return nil
	})
	t.Logf("I6 %v", sum)
}

// damagedIn converts members in a container, of which the one at is not whole.
func damagedIn(container, dir string, all []heldFile, at int) error {
	in, err := contain(container, dir, all)
	if err != nil {
		return err
	}
	out, bad := filepath.Join(dir, "out"), all[at]
	args := append([]string{container}, in...)
	r, err := run(append(args, out)...)
	if err != nil {
		return err
	}
	if r.code != 0 || !strings.Contains(r.stderr, fmt.Sprintf("; 1 field not whole: %s: field %q: ", bad.key, bad.suffix)) {
		return fmt.Errorf("%w: %v", errBad, r)
	}
	if r, err = run("get", out, bad.key, bad.suffix); err != nil || r.code != 0 || r.stdout != string(bad.data) {
		return errors.Join(err, fmt.Errorf("%w: the field is another one: %v", errBad, r))
	}
	skipped := filepath.Join(dir, "skipped")
	if r, err = run(append(args, "--damaged", "skip", skipped)...); err != nil || r.code != 0 || !strings.HasSuffix(r.stderr, "left out 1 sample (--damaged: 1)\n") {
		return errors.Join(err, fmt.Errorf("%w: %v", errBad, r))
	}
	if r, err = run("ls", skipped); err != nil || strings.Count(r.stdout, "\n") != 4 || strings.Contains(r.stdout, bad.key) {
		return errors.Join(err, fmt.Errorf("%w: it has %q", errBad, r.stdout))
	}
	refused := filepath.Join(dir, "refused")
	if r, err = run(append(args, "--damaged", "error", "--progress", "none", refused)...); err != nil || r.code != 3 || !strings.Contains(r.stderr, bad.key) {
		return errors.Join(err, fmt.Errorf("%w: %v", errBad, r))
	}
	if _, err := os.Stat(refused); err == nil {
		return fmt.Errorf("%w: it is refused, and something is there", errBad)
	}
	return nil
}

// contain puts members into a container and returns the arguments that convert it.
func contain(container, dir string, all []heldFile) ([]string, error) {
	in := filepath.Join(dir, "in")
	switch container {
	case "folder":
		err := os.Mkdir(in, 0o755)
		for _, m := range all {
			err = errors.Join(err, os.WriteFile(filepath.Join(in, m.key+"."+m.suffix), m.data, 0o644))
		}
		return []string{"--flat", "--group", in}, err
	case "cbor":
		var b bytes.Buffer
		for each := range slices.Chunk(all, 7) {
			sample := map[string]any{"__key__": each[0].key}
			for _, m := range each {
				sample[m.suffix] = m.data
			}
			item, err := cbor.Marshal(sample)
			if err != nil {
				return nil, err
			}
			b.Write(item)
		}
		return []string{"--encode", "msgpack", in}, os.WriteFile(in, b.Bytes(), 0o644)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range all {
		if err := w.WriteHeader(&tar.Header{Name: m.key + "." + m.suffix, Size: int64(len(m.data)), Mode: 0o644}); err != nil {
			return nil, err
		}
		w.Write(m.data)
	}
	return []string{in}, errors.Join(w.Close(), os.WriteFile(in, b.Bytes(), 0o644))
}
