package packed

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
)

// hostile are last samples of a file with two files before them.
func hostile() []struct {
	name, last string
	want       error
	why        string
} {
	deep := dict("x", 0, "y", 1)
	for range 2047 {
		deep = dict(strings.Repeat("d", 2), deep)
	}
	return []struct {
		name, last string
		want       error
		why        string
	}{
		{"an ordinary sample", "hello", ErrNotPacked, "does not begin"},
		{"an empty sample", "", ErrNotPacked, "does not begin"},
		{"part of the prefix", prefix[:8], ErrNotPacked, "does not begin"},
		{"the prefix alone", prefix, errMalformed, "wanted"},
		{"os.system", prefix + "\x80\x02cos\nsystem\nX\x04\x00\x00\x00true\x85R.", errMalformed, `"system" from "os"`},
		{"posix.system", prefix + "\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R.", errMalformed, `"system" from "posix"`},
		{"BUILD", prefix + "\x80\x04\x8c\x0bcollections\x8c\x0bOrderedDict\x93)R}b.", errMalformed, "0x62"},
		{"NEWOBJ", prefix + "\x80\x04\x8c\x0bcollections\x8c\x0bOrderedDict\x93)\x81.", errMalformed, "0x81"},
		{"directory in itself", prefix + "\x80\x04}\x94\x8c\x01ah\x00s.", errMalformed, "two places"},
		{"name of 8 EiB", prefix + "\x80\x04}\x8d\xff\xff\xff\xff\xff\xff\xff\x7fa", errMalformed, "names have"},
		{"a million levels", prefix + "\x80\x02" + strings.Repeat("}X\x01\x00\x00\x00d", 1e6) + "}" + strings.Repeat("s", 1e6) + ".", errMalformed, "in each other"},
		{"path too long", namesOf(deep), errMalformed, "4095"},
		{"one file missing", namesOf(dict("a", 0)), errMalformed, "sample 1 has no name"},
		{"first file missing", namesOf(dict("a", 1)), errMalformed, "sample 0 has no name"},
		{"no names", namesOf(dict()), errMalformed, "sample 0 has no name"},
		{"index out of range", namesOf(dict("a", 0, "b", 1, "c", 2)), errMalformed, "sample 2 of 2"},
		{"huge index", namesOf(dict("a", 0, "b", 1<<62)), errMalformed, "of 2 files"},
		{"negative index", namesOf(dict("a", 0, "b", -1)), errMalformed, "sample -1"},
		{"index twice", namesOf(dict("a", 0, "b", 0)), errMalformed, "another file"},
		{"index twice, apart", namesOf(dict("a", 0, "d", dict("b", 1, "c", 0))), errMalformed, "another file"},
		{"name twice", namesOf(dict("a", 0, "a", 1)), errMalformed, "twice"},
		{"file and directory of a name", namesOf(dict("a", 0, "a", dict("b", 1))), errMalformed, "twice"},
		{"no name", namesOf(dict("", 0, "b", 1)), errMalformed, "not the name"},
		{"the directory itself", namesOf(dict(".", 0, "b", 1)), errMalformed, "not the name"},
		{"the parent", namesOf(dict("..", dict("a", 0, "b", 1))), errMalformed, "not the name"},
		{"the parent further down", namesOf(dict("a", 0, "d", dict("..", 1))), errMalformed, "not the name"},
		{"the root", namesOf(dict("/", 0, "b", 1)), errMalformed, "not the name"},
		{"a path", namesOf(dict("a/b", 0, "b", 1)), errMalformed, "not the name"},
		{"an absolute path", namesOf(dict("/etc/passwd", 0, "b", 1)), errMalformed, "not the name"},
		{"a NUL", namesOf(dict("a\x00", 0, "b", 1)), errMalformed, "not the name"},
		{"not UTF-8", namesOf(dict("a\xff", 0, "b", 1)), errMalformed, "UTF-8"},
		{"bytes after the end", namesOf(dict("a", 0, "b", 1)) + "\x00", errMalformed, "follow"},
		{"no end", strings.TrimSuffix(namesOf(dict("a", 0, "b", 1)), "."), errMalformed, "left"},
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range hostile() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f, err := Open(onDisk(t, shard(t, "1", "2", c.last)), record.Options{})
			if err == nil {
				f.Close()
				t.Fatal("accepted")
			}
			var placed *place.Error
			if !errors.Is(err, c.want) || !errors.As(err, &placed) || !strings.Contains(err.Error(), "sample 2") || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%v: want %v, a word of %q", err, c.want, c.why)
			}
			if len(err.Error()) > 500 || strings.ContainsAny(err.Error(), "\n\x00") || !utf8.ValidString(err.Error()) {
				t.Errorf("not one line of text: %q", err)
			}
		})
	}
	t.Run("every cut of the names", func(t *testing.T) {
		t.Parallel()
		whole := namesOf(dict("a", 0, "d", dict("e", dict(), "f", 1)))
		for i := range whole {
			if root, _, err := parseNames(whole[:i], 2); err == nil {
				t.Errorf("accepted when cut at %d: %v", i, root)
			}
		}
	})
	for name, c := range map[string]struct {
		path string
		want error
	}{
		"no samples":        {onDisk(t, shard(t)), ErrNotPacked},
		"a directory":       {t.TempDir(), ErrNotPacked},
		"no file":           {filepath.Join(t.TempDir(), "no.ffr"), fs.ErrNotExist},
		"an empty file":     {onDisk(t, nil), record.ErrTruncated},
		"not a shard":       {onDisk(t, []byte(strings.Repeat("text", 100))), record.ErrCorrupt},
		"names over limits": {onDisk(t, shard(t, namesOf(dict()))), record.ErrTooLarge},
	} {
		opts := record.Options{}
		if c.want == record.ErrTooLarge {
			opts.MaxSample = 20
		}
		if f, err := Open(c.path, opts); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
}

// No hostile file costs more than a few times its size. Not parallel: it counts all
// allocations.
func TestOpenMemory(t *testing.T) {
	for _, c := range hostile() {
		file := onDisk(t, shard(t, "1", "2", c.last))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Open(file, record.Options{})
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20+uint64(20*len(c.last)) {
			t.Errorf("%s: %d bytes allocated for a file of %d", c.name, got, len(c.last))
		}
	}
}

// Flip every bit of a packed folder, and cut it at every byte: no name ever has other
// bytes than it was packed with.
func TestFlips(t *testing.T) {
	t.Parallel()
	want := tree{"a": "first", "d/empty": "", "d/b": "second", "e/": ""}
	sound := readFile(t, pack(t, want.folder(t)))
	file := onDisk(t, sound)
	accepted := 0
	check := func(what string, i int, data []byte) {
		must(t, os.WriteFile(file, data, 0o600))
		f, err := Open(file, record.Options{})
		if err != nil {
			return
		}
		defer f.Close()
		accepted++
		for name, content := range want {
			if strings.HasSuffix(name, "/") {
				continue
			}
			if got, err := f.ReadFile(name); err == nil && string(got) != content {
				t.Errorf("%s %d: %s became %q", what, i, name, got)
			} else if err != nil && !errors.Is(err, record.ErrChecksum) {
				t.Errorf("%s %d: %v", what, i, err)
			}
		}
	}
	for i := range 8 * len(sound) {
		data := []byte(string(sound))
		data[i/8] ^= 1 << (i % 8)
		check("bit", i, data)
	}
	if payload := 8 * len("first"+"second"); accepted != payload {
		t.Errorf("opened %d times, want %d: for a flip of each bit of a file", accepted, payload)
	}
	for i := range sound {
		check("cut", i, sound[:i])
	}
	if payload := 8 * len("first"+"second"); accepted != payload {
		t.Error("a cut file was opened")
	}
	t.Logf("packed folder of %d bytes: %d bit flips, %d cuts, none gave other bytes", len(sound), 8*len(sound), len(sound))
}
