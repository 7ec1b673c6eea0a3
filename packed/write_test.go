package packed

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/verify"
)

// The bytes of a small packed folder, put together by hand.
func TestLayout(t *testing.T) {
	t.Parallel()
	dir := tree{".h": "hid", "a.txt": "A", "d/x": "", "e/": ""}.folder(t)
	names := "piouhjgbr" +
		"\x80\x04\x8c\x0bcollections\x8c\x0bOrderedDict\x93\x94)R" +
		"\x8c\x02.hK\x00s" +
		"\x8c\x05a.txtK\x01s" +
		"\x8c\x01dh\x00)R\x8c\x01xK\x02ss" +
		"\x8c\x01eh\x00)Rs."
	samples := []string{"hid", "A", "", names}
	table := binary.LittleEndian.AppendUint64(nil, uint64(len(samples)))
	for _, s := range samples {
		table = binary.LittleEndian.AppendUint32(table, crc32.ChecksumIEEE([]byte(s)))
	}
	off := 12 + 12*len(samples)
	for _, s := range samples {
		table = binary.LittleEndian.AppendUint64(table, uint64(off))
		off += len(s)
	}
	want := binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(table))
	want = append(append(want, table...), strings.Join(samples, "")...)
	if got := readFile(t, pack(t, dir)); string(got) != string(want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// Files that are read ahead and files that are read alone are packed in order.
func TestSizes(t *testing.T) {
	t.Parallel()
	want := tree{}
	for i, size := range []int{0, 1, files.MaxAhead - 2, files.MaxAhead - 1, files.MaxAhead, 3 * files.MaxAhead, 5, 2 * files.MaxAhead, 0} {
		for j := range 20 {
			want[fmt.Sprintf("%d/%02d", i, j)] = strings.Repeat(string(rune('a'+i+j)), size+j%2)
			if size > files.MaxAhead && j == 1 {
				break
			}
		}
	}
	f := open(t, pack(t, want.folder(t)))
	if n := f.Totals().Files; n != int64(len(want)) {
		t.Errorf("%d files, want %d", n, len(want))
	}
	for name, data := range want {
		if got, err := f.ReadFile(name); err != nil || string(got) != data {
			t.Errorf("%s: %d bytes, error %v; want %d bytes", name, len(got), err, len(data))
		}
	}
}

// The same names and contents give the same bytes, whatever else differs, and the report
// and verify agree on them.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	a, b := small().folder(t), small().folder(t)
	err := filepath.WalkDir(b, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			err = errors.Join(os.Chmod(name, 0o600), os.Chtimes(name, time.Unix(1, 0), time.Unix(2, 0)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "b.ffr")
	report, err := Write(t.Context(), b, file, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if string(readFile(t, pack(t, a))) != string(readFile(t, file)) {
		t.Error("other bytes")
	}
	var bytes int64
	for _, content := range small() {
		bytes += int64(len(content))
	}
	if want := (Totals{Files: 12, Dirs: 15, Bytes: bytes}); report.Totals != want {
		t.Errorf("report %+v, want %+v", report.Totals, want)
	}
	if report.Verify == nil || report.Verify.Samples != 13 || report.Verify.Bytes != report.Shard.Size {
		t.Errorf("verified %+v", report.Verify)
	}
	again, err := verify.Files(t.Context(), []verify.Target{{Path: file, Want: &verify.Expect{
		Name: "b.ffr", Samples: 13, Bytes: report.Shard.Size, HeaderCRC: report.Shard.HeaderCRC,
	}}}, verify.Options{})
	if err != nil || again.Err() != nil {
		t.Error(err, again)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o600 != 0o600 || info.Size() != report.Shard.Size {
		t.Error(info, err)
	}
	if got := list(t, filepath.Dir(file)); !slices.Equal(got, []string{"b.ffr"}) {
		t.Errorf("left %q", got)
	}
}

// An empty folder is a sound one.
func TestEmptyFolder(t *testing.T) {
	t.Parallel()
	f := open(t, pack(t, t.TempDir()))
	if f.Totals() != (Totals{}) {
		t.Errorf("%+v", f.Totals())
	}
	same(t, treeOf(t, f), tree{})
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir, out string) // changes a sound folder dir, or the directory out of FILE
		file string                              // default out.ffr
		opts WriteOptions
		want error // nil: only with the hint's option
		hint string
	}{
		{name: "another extension", file: "out.tar", want: errUnsupported},
		{name: "no directory for it", file: "no/out.ffr", want: fs.ErrNotExist},
		{name: "it exists", make: func(t *testing.T, dir, out string) { tree{"out.ffr": "old"}.make(t, out) }, want: fs.ErrExist, hint: "option overwrite"},
		{name: "it is a directory", make: func(t *testing.T, dir, out string) { tree{"out.ffr/": ""}.make(t, out) },
			opts: WriteOptions{Overwrite: true}, want: fs.ErrExist},
		{name: "no folder", make: func(t *testing.T, dir, out string) { must(t, os.RemoveAll(dir)) }, want: fs.ErrNotExist},
		{name: "a file, no folder", make: func(t *testing.T, dir, out string) {
			must(t, os.RemoveAll(dir))
			must(t, os.WriteFile(dir, nil, 0o600))
		}, want: errAny},
		{name: "a link to nothing", make: func(t *testing.T, dir, out string) { must(t, os.Symlink("nowhere", dir+"/l")) }, want: errUnsupported},
		{name: "a link to itself", make: func(t *testing.T, dir, out string) { must(t, os.Symlink("l", dir+"/l")) }, want: errAny},
		{name: "a link to the parent", make: func(t *testing.T, dir, out string) { must(t, os.Symlink("..", dir+"/a/b/l")) }, want: errUnsupported},
		{name: "a link to the root", make: func(t *testing.T, dir, out string) { must(t, os.Symlink(".", dir+"/l")) }, want: errUnsupported},
		{name: "two links in a ring", make: func(t *testing.T, dir, out string) {
			must(t, os.Symlink("../val", dir+"/a/l"))
			must(t, os.Symlink("../a", dir+"/val/l"))
		}, want: errUnsupported},
		{name: "a link out", make: func(t *testing.T, dir, out string) {
			tree{"secret": "s"}.make(t, out)
			must(t, os.Symlink(out+"/secret", dir+"/l"))
		}, want: errUnsupported, hint: "option follow-outside"},
		{name: "a linked directory out", make: func(t *testing.T, dir, out string) {
			tree{"d/secret": "s"}.make(t, out)
			rel, err := filepath.Rel(dir, out+"/d")
			must(t, err)
			must(t, os.Symlink(rel, dir+"/l"))
		}, want: errUnsupported, hint: "option follow-outside"},
		{name: "a name that is not UTF-8", make: func(t *testing.T, dir, out string) { tree{"val/\xff": ""}.make(t, dir) }, want: errUnsupported},
		{name: "a large file", opts: WriteOptions{MaxFile: 9999}, want: errLimit, hint: "option max-file-size"},
		{name: "a path too long", make: func(t *testing.T, dir, out string) {
			root, err := os.OpenRoot(dir)
			must(t, err)
			defer root.Close()
			must(t, root.MkdirAll(strings.Repeat(longName+"/", 17), 0o755))
		}, want: errLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			dir, out := base+"/in", base+"/out"
			must(t, os.Mkdir(dir, 0o755))
			must(t, os.Mkdir(out, 0o755))
			small().make(t, dir)
			if c.make != nil {
				c.make(t, dir, out)
			}
			before := list(t, out)
			file := filepath.Join(out, "out.ffr")
			if c.file != "" {
				file = filepath.Join(out, c.file)
			}
			_, err := Write(t.Context(), dir, file, c.opts)
			if err == nil || c.want != errAny && !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if strings.Contains(err.Error(), "\n") || !utf8.ValidString(err.Error()) {
				t.Errorf("not one line of text: %q", err)
			}
			var placed *place.Error
			if errors.As(err, &placed) && (placed.Hint == "") != (c.hint == "") || c.hint != "" && !strings.Contains(err.Error(), c.hint) {
				t.Errorf("%v: hint %q wanted", err, c.hint)
			}
			if got := list(t, out); !slices.Equal(got, before) {
				t.Errorf("left %q", got)
			}
			if c.hint == "" {
				return
			}
			report, err := Write(t.Context(), dir, file, WriteOptions{Overwrite: true, FollowOutside: true, MaxFile: 10_000})
			if err != nil {
				t.Fatalf("with the options: %v", err)
			}
			f := open(t, file)
			if f.Totals() != report.Totals {
				t.Errorf("%+v, want %+v", f.Totals(), report.Totals)
			}
		})
	}
}

var errAny = errors.New("any error")

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// FILE in the folder would be packed itself the next time.
func TestWriteIntoItself(t *testing.T) {
	t.Parallel()
	dir := small().folder(t)
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dir, link))
	for _, file := range []string{dir + "/out.ffr", dir + "/val/out.ffr", link + "/out.ffr", dir + "/val/../out.ffr"} {
		if _, err := Write(t.Context(), dir, file, WriteOptions{}); !errors.Is(err, errUnsupported) {
			t.Errorf("%s: %v", file, err)
		}
	}
	if _, err := Write(t.Context(), link, link+"/out.ffr", WriteOptions{}); !errors.Is(err, errUnsupported) {
		t.Error(err)
	}
	same(t, treeOf(t, os.DirFS(dir)), small())
}

// A link is packed as what it leads to.
func TestLinks(t *testing.T) {
	t.Parallel()
	dir := tree{"a/x": "1", "b/y": "2"}.folder(t)
	for name, to := range map[string]string{"file": "a/x", "dir": "a", "b/again": "../a/x", "b/a": "../a", "two": "dir"} {
		must(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	same(t, treeOf(t, open(t, pack(t, dir))), tree{"a/x": "1", "b/y": "2", "file": "1", "dir/x": "1", "b/again": "1", "b/a/x": "1", "two/x": "1"})
}

// A file that is not what it was when it was listed is never packed.
func TestChanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(t *testing.T, file string)
	}{
		{"longer", func(t *testing.T, file string) { must(t, os.WriteFile(file, []byte("hello!"), 0o600)) }},
		{"shorter", func(t *testing.T, file string) { must(t, os.Truncate(file, 4)) }},
		{"empty", func(t *testing.T, file string) { must(t, os.Truncate(file, 0)) }},
		{"as long, another time", func(t *testing.T, file string) {
			must(t, os.WriteFile(file, []byte("HELLO"), 0o600))
			must(t, os.Chtimes(file, time.Time{}, time.Now().Add(time.Second)))
		}},
		{"gone", func(t *testing.T, file string) { must(t, os.Remove(file)) }},
		{"another file", func(t *testing.T, file string) {
			must(t, os.WriteFile(file+"2", []byte("HELLO"), 0o600))
			must(t, os.Chtimes(file+"2", time.Time{}, time.Unix(1, 0)))
			must(t, os.Rename(file+"2", file))
		}},
		{"a directory", func(t *testing.T, file string) { must(t, errors.Join(os.Remove(file), os.Mkdir(file, 0o755))) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, out := small().folder(t), t.TempDir()
			src, err := openSource(dir, WriteOptions{})
			must(t, err)
			defer src.close()
			must(t, src.scan(t.Context()))
			c.change(t, filepath.Join(dir, "a.txt"))
			_, err = src.write(t.Context(), filepath.Join(out, "out.ffr"), WriteOptions{Progress: silent{}})
			var placed *place.Error
			if !errors.As(err, &placed) || placed.Entry != "a.txt" {
				t.Fatalf("no place: %v", err)
			}
			if !errors.Is(err, errChanged) {
				t.Error(err)
			}
			if got := list(t, out); len(got) > 0 {
				t.Errorf("left %q", got)
			}
		})
	}
}

// A calls function is a Progress that is called at each step.
type calls func()

func (c calls) Start(string, int64) { c() }
func (c calls) Add(int64, int64)    { c() }

// Cancelled at any step, Write leaves nothing and Extract neither; the file that was to be
// replaced stays.
func TestCancel(t *testing.T) {
	t.Parallel()
	need.Time(t, "a stop at many places")
	dir, base := small().folder(t), t.TempDir()
	file := filepath.Join(base, "out.ffr")
	must(t, os.WriteFile(file, []byte("old"), 0o600))
	steps := 0
	for ; ; steps++ {
		err := cancelAt(t, steps, func(ctx context.Context, p Progress) error {
			_, err := Write(ctx, dir, file, WriteOptions{Overwrite: true, Progress: p})
			return err
		})
		if err == nil {
			break
		}
		if got := list(t, base); !slices.Equal(got, []string{"out.ffr"}) || string(readFile(t, file)) != "old" {
			t.Fatalf("step %d: left %q", steps, got)
		}
	}
	if steps < 13 {
		t.Errorf("done after %d steps", steps)
	}
	f := open(t, file)
	for steps = 0; ; steps++ {
		dst := filepath.Join(base, "dst")
		err := cancelAt(t, steps, func(ctx context.Context, p Progress) error {
			_, err := f.Extract(ctx, dst, ExtractOptions{Progress: p})
			return err
		})
		if err == nil {
			break
		}
		if got := list(t, base); !slices.Equal(got, []string{"out.ffr"}) {
			t.Fatalf("step %d: left %q", steps, got)
		}
	}
	if steps < 12 {
		t.Errorf("done after %d steps", steps)
	}
}

// cancelAt cancels work at a step. The error is context.Canceled, or nil if it was done
// before that.
func cancelAt(t *testing.T, step int, work func(context.Context, Progress) error) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := work(ctx, calls(func() {
		if step--; step < 0 {
			cancel()
		}
	}))
	switch {
	case err != nil && !errors.Is(err, context.Canceled):
		t.Fatal(err)
	case err == nil && step < -1: // the last step is too late to be stopped
		t.Fatalf("cancelled %d steps ago, and not stopped", -step)
	}
	return err
}

// A file that changes into another one with Overwrite is replaced as a whole.
func TestOverwrite(t *testing.T) {
	t.Parallel()
	file := pack(t, tree{"a": "1"}.folder(t))
	old := open(t, file)
	if _, err := Write(t.Context(), tree{"b": "22"}.folder(t), file, WriteOptions{Overwrite: true}); err != nil {
		t.Fatal(err)
	}
	same(t, treeOf(t, open(t, file)), tree{"b": "22"})
	same(t, treeOf(t, old), tree{"a": "1"}) // who has it open keeps it
}

// The largest sample is held once, however many there are.
func TestWriteBuffer(t *testing.T) {
	t.Parallel()
	tr := tree{}
	for i := range 50 {
		tr[fmt.Sprint(i)] = strings.Repeat("x", i*10_000)
	}
	f := open(t, pack(t, tr.folder(t)))
	same(t, treeOf(t, f), tr)
	if _, err := Open(f.path, record.Options{MaxSample: 1000}); !errors.Is(err, record.ErrTooLarge) {
		t.Errorf("opened with a smaller limit: %v", err)
	}
}
