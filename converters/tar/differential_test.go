package tar

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// A listing is what a reader makes of the members of a tar.
type listing []line

type line struct {
	typ  byte
	size int64
	name string
}

func (l *listing) add(typ byte, size int64, name string) {
	if typ == typeDirectory { // some keep the slash, GNU keeps the size of a dump directory
		name, size = strings.TrimRight(name, "/"), 0
	}
	*l = append(*l, line{typ, size, name})
}

// ours walks the members, which must be sound.
func ours(t testing.TB, data []byte) (l listing) {
	t.Helper()
	s := memory(Options{}, data)
	f, err := s.open(s.Parts()[0], converters.Cached)
	if err != nil {
		t.Fatal(err)
	}
	var c scan.Window
	c.Reset(f, s.Parts()[0].Size, 0, scan.Sizes{Usual: headerReads})
	var w members
	w.reset(&c, s.Parts()[0], DefaultMaxHeader)
	for {
		var m member
		ok, err := w.next(&m)
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return l
		}
		l.add(m.typ, m.size, string(m.name))
		w.c.Skip(padded(m.size))
	}
}

// A pythonAnswer is what tarfile lists and webdataset's rule groups.
type pythonAnswer struct {
	Error   string
	Members [][3]any
	Samples [][2]any
}

func (a pythonAnswer) listing(t testing.TB) (l listing) {
	t.Helper()
	for _, m := range a.Members {
		typ := m[0].(string)[0]
		switch typ {
		case 0, '7':
			typ = typeRegular
		case typeDumpDir:
			typ = typeDirectory
		}
		l.add(typ, int64(m[1].(float64)), unhex(t, m[2]))
	}
	return l
}

func (a pythonAnswer) contents(t testing.TB) (all []content) {
	t.Helper()
	for _, s := range a.Samples {
		c := content{Key: unhex(t, s[0])}
		for _, f := range s[1].([]any) {
			f := f.([]any)
			c.Fields = append(c.Fields, namedData{unhex(t, f[0]), unhex(t, f[1])})
		}
		all = append(all, c)
	}
	return all
}

func unhex(t testing.TB, v any) string {
	t.Helper()
	b, err := hex.DecodeString(v.(string))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// againstPython wants that a tar that we accept has the members and samples that
// tarfile and webdataset have. It returns how many samples that are, -1 where they differ.
func againstPython(t testing.TB, py *python.Process, name string, data []byte) int {
	t.Helper()
	var answer pythonAnswer
	py.Ask(data, &answer)
	got, err := contents(t, memory(Options{}, data))
	if err != nil || answer.Error != "" {
		t.Errorf("%s: error %v, Python's %q", name, err, answer.Error)
		return -1
	}
	if got, want := ours(t, data), answer.listing(t); !slices.Equal(got, want) {
		t.Errorf("%s: we list\n%+v\nPython lists\n%+v", name, got, want)
		return -1
	}
	if want := answer.contents(t); !slices.EqualFunc(got, want, sameContent) {
		t.Errorf("%s: our samples\n%.2000q\nwebdataset's\n%.2000q", name, got, want)
		return -1
	}
	return len(got)
}

func sameContent(a, b content) bool { return a.Key == b.Key && slices.Equal(a.Fields, b.Fields) }

// gnuTar lists a tar with GNU tar. Its exit status is of no concern: it fails for
// times and owners too.
func gnuTar(t testing.TB, tar string, data []byte) (l listing) {
	t.Helper()
	cmd := exec.Command(tar, "--list", "--verbose", "--numeric-owner", "--quoting-style=c", "--absolute-names", "--file=-")
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC"}
	cmd.Stdin = strings.NewReader(string(data))
	out, _ := cmd.Output()
	for line := range strings.Lines(string(out)) {
		at := strings.IndexByte(line, '"')
		words := strings.Fields(line[:max(at, 0)])
		if at < 0 || len(words) < 3 {
			t.Fatalf("GNU tar says %q", line)
		}
		quoted, err := strconv.QuotedPrefix(line[at:])
		if err != nil {
			t.Fatalf("GNU tar says %q: %v", line, err)
		}
		name, _ := strconv.Unquote(quoted)
		size, _ := strconv.ParseInt(words[2], 10, 64) // of a device it is two numbers
		l.add(gnuType(line[0]), size, name)
	}
	return l
}

func gnuType(c byte) byte {
	switch c {
	case '-', 'C':
		return typeRegular
	case 'd':
		return typeDirectory
	case 'l':
		return typeSymlink
	case 'h':
		return typeHardLink
	case 'c':
		return typeChar
	case 'b':
		return typeBlock
	case 'p':
		return typeFIFO
	}
	return c
}

// randomTree makes files below dir and returns their names in a random order.
func randomTree(t testing.TB, rnd *rand.Rand, dir string) (names []string) {
	t.Helper()
	words := [...]string{"a", "b", "x.y", "grüß", "漢字", "__m__", ".h", "with space", strings.Repeat("long", 30), strings.Repeat("l", 99)}
	suffixes := [...]string{".jpg", ".cls", ".JSON", ".seg.png", "", ".", "..a", ".__bad__", ".__local_path__"}
	seen := map[string]bool{}
	for i := range 1 + rnd.IntN(12) {
		parent := ""
		for range rnd.IntN(4) {
			parent += words[rnd.IntN(len(words))] + "/"
		}
		stem := words[rnd.IntN(len(words))] + fmt.Sprint(i)
		for range 1 + rnd.IntN(3) {
			name := parent + stem + suffixes[rnd.IntN(len(suffixes))]
			if seen[strings.ToLower(name)] {
				continue
			}
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			data := make([]byte, [...]int{0, 1, 511, 512, 513, 3000}[rnd.IntN(6)])
			for i := range data {
				data[i] = byte(rnd.Uint32())
			}
			if err := os.WriteFile(path, data, 0o600); err != nil {
				continue // there is a directory of this name
			}
			seen[strings.ToLower(name)] = true
			names = append(names, name)
			if rnd.IntN(8) == 0 {
				if err := os.Symlink("somewhere", path+".link"); err == nil {
					names = append(names, name+".link")
				}
			}
			if rnd.IntN(8) == 0 && parent != "" && !seen[parent] {
				seen[parent] = true
				names = append(names, strings.TrimSuffix(parent, "/"))
			}
		}
	}
	return names
}

// Random trees, written by three programs in all their formats: our samples are those
// of webdataset.
func TestWritersAgainstPython(t *testing.T) {
	t.Parallel()
	need.Time(t, "thousands of names in tars of other writers")
	python3, gnu, bsd := python.Path(t), gnuTarTool(t), need.Tool(t, "bsdtar")
	script := `import sys, tarfile, os
format, out, dir = sys.argv[1:4]
with tarfile.open(out, "w", format=getattr(tarfile, format)) as t:
    for n in sys.stdin.read().split("\n"):
        try:
            n and t.add(os.path.join(dir, n), n, recursive=False)
        except ValueError as e: # ustar has no place for some names
            pass
`
	writers := map[string]func(out, dir, list string) []string{}
	for _, f := range []string{"PAX_FORMAT", "GNU_FORMAT", "USTAR_FORMAT"} {
		writers["python "+f] = func(out, dir, list string) []string { return []string{python3, "-c", script, f, out, dir} }
	}
	for _, f := range []string{"gnu", "oldgnu", "pax", "ustar", "v7"} {
		writers["gnu "+f] = func(out, dir, list string) []string {
			return []string{gnu, "--format=" + f, "--hard-dereference", "--no-recursion", "-C", dir, "-cf", out, "-T", list}
		}
	}
	for _, f := range []string{"pax", "gnutar", "ustar", "v7"} {
		writers["bsd "+f] = func(out, dir, list string) []string {
			return []string{bsd, "--format=" + f, "-n", "-C", dir, "-cf", out, "-T", list}
		}
	}
	for name, command := range writers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			py := python.Start(t, pythonTar)
			rnd := rand.New(rand.NewPCG(3, uint64(len(name))))
			samples := 0
			for i := range 17 { // 12 writers: 204 datasets
				work := t.TempDir()
				names := randomTree(t, rnd, filepath.Join(work, "tree"))
				list, out := filepath.Join(work, "list"), filepath.Join(work, "out.tar")
				text := strings.Join(names, "\n") + "\n"
				if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				args := command(out, filepath.Join(work, "tree"), list)
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Stdin = strings.NewReader(text)
				cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
				_ = cmd.Run() // ustar and v7 have no place for some names
				data, err := os.ReadFile(out)
				if err != nil {
					t.Fatal(err)
				}
				samples += differ(t, py, fmt.Sprint(i), data)
			}
			if samples == 0 {
				t.Error("no samples at all")
			}
		})
	}
}

// differ compares with Python, unless the random names made a duplicate: that both of
// us refuse, or, for a key that comes back, we alone.
func differ(t *testing.T, py *python.Process, name string, data []byte) int {
	if _, err := listed(t, memory(Options{}, data)); err != nil && strings.Contains(err.Error(), "duplicate") {
		return 0
	}
	return againstPython(t, py, name, data)
}
