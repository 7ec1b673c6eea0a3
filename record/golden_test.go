package record

import (
	"bytes"
	"encoding/hex"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the files of testdata/ffrecord")

const goldenDir = "../testdata/ffrecord"

// goldens are the files of testdata/ffrecord: byte for byte what a Writer makes, or damaged in one way.
func goldens(t *testing.T) map[string][]byte {
	three, samples := example(t)
	change := func(f func(b []byte)) []byte {
		b := bytes.Clone(three)
		f(b)
		return b
	}
	return map[string][]byte{
		"three-samples.ffr":       three,
		"no-samples.ffr":          shardOf(t),
		"f3.ffr":                  shardOf(t, f3Samples()...),
		"two-empty.ffr":           shardOf(t, samples[1], samples[1]),
		"refused/unfinished.ffr":  change(func(b []byte) { putHead(b, poison32, poisonN) }),
		"refused/zeroed.ffr":      make([]byte, 12),
		"refused/legacy.ffr":      change(func(b []byte) { clear(b[:4]) }),
		"refused/cut.ffr":         three[:1000],
		"refused/flipped-bit.ffr": change(func(b []byte) { b[50] ^= 4 }),
	}
}

func TestGoldenFiles(t *testing.T) {
	t.Parallel()
	want := goldens(t)
	for name, b := range want {
		path := filepath.Join(goldenDir, name)
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, b) {
			t.Errorf("%s: %v, or other bytes; see -update", name, err)
		}
		r, err := checked(Open(path, Options{}))
		if refused := strings.HasPrefix(name, "refused/") && !strings.Contains(name, "flipped"); (err != nil) != refused {
			t.Errorf("open %s: %v", name, err)
		}
		if err == nil {
			r.Close()
		}
		_, _, err = scan(got, 512, Options{})
		if refused := strings.HasPrefix(name, "refused/"); errors.Is(err, ErrCorrupt) != refused {
			t.Errorf("scan %s: %v", name, err)
		}
	}
	filepath.WalkDir(goldenDir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			t.Error(err)
			return nil
		}
		if rel, _ := filepath.Rel(goldenDir, path); strings.HasSuffix(rel, Ext) && want[filepath.ToSlash(rel)] == nil {
			t.Errorf("%s: nobody vouches for it", rel)
		}
		return nil
	})
}

// The bytes that FFRecord's own definition gives for the example, typed in by hand.
func TestGoldenBytes(t *testing.T) {
	t.Parallel()
	b, samples := example(t)
	head, _ := hex.DecodeString("10ea5431" + "0300000000000000" +
		"86a61036" + "00000000" + "e6c9413b" +
		"3000000000000000" + "3500000000000000" + "3500000000000000")
	if want := append(head, "hello"+strings.Repeat("x", 1000)...); !bytes.Equal(b, want) {
		t.Errorf("header\n%x, want\n%x", b[:48], head)
	}
	if empty := shardOf(t); hex.EncodeToString(empty) != "69df22650000000000000000" {
		t.Errorf("no samples: %x", empty)
	}
	if got, ok := oracle(b); !ok || len(got) != len(samples) {
		t.Error("the oracle disagrees")
	}
}

// The lines of hexadecimal in docs/format.md are those of the files.
func TestGoldenDocs(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	var lines int
	var file []byte
	for _, m := range regexp.MustCompile(`(?m)^    ([0-9a-f]{8})((?: {1,2}[0-9a-f]{2})+) {2,}`).FindAllSubmatch(doc, -1) {
		off, err := strconv.ParseInt(string(m[1]), 16, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := hex.DecodeString(strings.ReplaceAll(string(m[2]), " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if off == 0 && lines == 0 {
			file, _ = example(t)
		} else if off == 0 {
			file = shardOf(t)
		}
		if lines++; !bytes.HasPrefix(file[off:], got) {
			t.Errorf("docs/format.md, line %08x: %x", off, got)
		}
	}
	if lines != 5 {
		t.Errorf("%d lines of hexadecimal", lines)
	}
}
