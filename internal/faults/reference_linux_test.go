package faults

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// The tests named TestReference… carry the names of faults that the reference implementation,
// HFAiLab/ffrecord 1.4.0, is known to have: these are of its writer. docs/reliability.md lists them.

// own makes a directory for one test.
func own(t *testing.T) string {
	t.Helper()
	dir, remove, err := scratch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(remove)
	return dir
}

// A sniper answers one of the calls that it looks for with an errno.
type sniper struct {
	errno  syscall.Errno
	at     int // from 0
	target func(c *call) bool
	seen   int
}

func (s *sniper) decide(c *call) verdict {
	if !s.target(c) {
		return verdict{}
	}
	if s.seen++; s.seen-1 != s.at {
		return verdict{}
	}
	return verdict{errno: s.errno}
}

// shoot converts while a sniper is there. A conversion that was hit must fail cleanly and leave
// nothing under these names, nor a manifest; one that was not must be as any other.
func (s *sniper) shoot(dir string, calls []string, names ...string) (r result, err error) {
	out := filepath.Join(dir, fmt.Sprint("out-", s.at))
	r, err = supervise(calls, s.decide, convert(out, "-j3")...)
	if err != nil || s.seen <= s.at {
		return r, errors.Join(err, identical(out))
	}
	err = errors.Join(r.clean(4), half(out))
	for _, name := range append(names, "manifest.json") {
		if _, missing := os.Lstat(filepath.Join(out, name)); !errors.Is(missing, fs.ErrNotExist) {
			err = errors.Join(err, fmt.Errorf("%s is there: %v", name, missing))
		}
	}
	return r, err
}

// on says that a call is about a file whose name ends so.
func on(c *call, name, suffix string) bool {
	return c.kind().name == name && strings.HasSuffix(c.path(), suffix)
}

// The reference does not look at the results of the writes that make its header. Here a conversion
// would end well, or a shard have its name, though one of these writes has failed.
func TestReferenceHeaderWritesUnchecked(t *testing.T) {
	t.Parallel()
	need.Time(t, "the defects of another writer, in full size")
	want, err := reference()
	if err != nil {
		t.Fatal(err)
	}
	const shard = "PART_00001.ffr"
	payload := 12 + 12*binary.LittleEndian.Uint64(want[shard][4:])
	hits := 0
	for at := 0; ; at++ {
		s := sniper{errno: []syscall.Errno{unix.ENOSPC, unix.EIO}[at%2], at: at, target: func(c *call) bool {
			return on(c, "pwrite64", "/"+shard+".tmp") && c.args[3] < payload
		}}
		r, err := s.shoot(own(t), []string{"pwrite64"}, shard)
		if err != nil {
			t.Errorf("%v at write %d of the header: %v: %v", unix.ErrnoName(s.errno), at, r, err)
		}
		if s.seen <= at {
			break
		}
		hits++
	}
	if hits != 4 { // the poison head, the CRCs, the offsets, the head
		t.Errorf("%d writes make the header", hits)
	}
}

// The reference does not look at the result of close, by which network file systems tell that what
// was written is lost. Here a conversion would end well, or the file have its name.
func TestReferenceCloseUnchecked(t *testing.T) {
	t.Parallel()
	need.Time(t, "the defects of another writer, in full size")
	for _, row := range []struct{ tmp, name string }{
		{"PART_00000.ffr.tmp", "PART_00000.ffr"},
		{"PART_00002.ffr.tmp", "PART_00002.ffr"},
		{"PART_00001.arrow.tmp", "index/PART_00001.arrow"},
		{"meta.json.tmp", "meta.json"},
		{"manifest.json.tmp", "manifest.json"},
	} {
		s := sniper{errno: unix.EIO, target: func(c *call) bool { return on(c, "close", "/"+row.tmp) && !c.reads() }}
		if r, err := s.shoot(own(t), []string{"close"}, row.name); err != nil || s.seen == 0 {
			t.Errorf("closing %s fails: %v: %v", row.tmp, r, err)
		}
	}
}

// The reference never calls fsync: after a loss of power a file may have its name and size, and zeros
// for bytes. Here a file would get its name while it has bytes that were not synced, or its
// directory would not be synced before the manifest vouches for it.
func TestReferenceNoFsync(t *testing.T) {
	t.Parallel()
	need.Time(t, "the defects of another writer, in full size")
	for _, row := range []struct {
		name string
		args func(dir string) []string
		want []string // files that must have got their names
	}{
		{"one worker", func(dir string) []string { return convert(dir, "-j1") },
			[]string{"PART_00000.ffr", "PART_00001.ffr", "PART_00002.ffr", "index/PART_00002.arrow", "meta.json", "manifest.json", ".ffconvert/plan"}},
		{"three workers", func(dir string) []string { return convert(dir, "-j3") },
			[]string{"PART_00000.ffr", "PART_00001.ffr", "PART_00002.ffr"}},
		{"pack", func(dir string) []string { return packing(filepath.Join(dir, "x.ffr")) }, []string{"x.ffr"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := own(t)
			w := promises{dir: dir, dirty: map[string]bool{}, loose: map[string]bool{}, named: map[string]bool{}}
			if r, err := supervise(writing, w.decide, row.args(dir)...); err != nil || r.code != 0 {
				t.Fatal(r, err)
			}
			for name := range w.loose {
				t.Errorf("%s has its name in a directory that was not synced", name)
			}
			for _, name := range w.wrong {
				t.Error(name)
			}
			for _, name := range row.want {
				if !w.named[name] {
					t.Errorf("%s was never renamed from a temporary name", name)
				}
			}
			files, err := readTree(dir)
			if err != nil {
				t.Fatal(err)
			}
			for name := range files {
				if base := filepath.Base(name); !strings.HasSuffix(name, "/") && base != "journal" && base != "lock" && !w.named[name] {
					t.Errorf("%s was written under its final name", name)
				}
			}
		})
	}
}

// packing returns the arguments that put the sources into one file.
func packing(file string, flags ...string) []string {
	return append(append([]string{"pack", "--progress", "none"}, flags...), filepath.Join(base, "in"), file)
}

// promises follows what of a directory would survive a loss of power.
type promises struct {
	dir   string
	dirty map[string]bool // written to since they were synced
	loose map[string]bool // renamed since their directories were synced
	named map[string]bool // renamed
	wrong []string
}

func (p *promises) decide(c *call) verdict {
	name, ok := strings.CutPrefix(c.path()+"/", p.dir+"/")
	if !ok {
		return verdict{}
	}
	name = strings.TrimSuffix(name, "/") // "" is the directory
	switch c.kind().name {
	case "write", "pwrite64", "fallocate", "ftruncate":
		p.dirty[name] = true
	case "fsync":
		delete(p.dirty, name)
		for file := range p.loose {
			if dirOf(file) == name {
				delete(p.loose, file)
			}
		}
	case "renameat", "renameat2", "linkat":
		to := strings.TrimPrefix(c.target(), p.dir+"/")
		if p.dirty[name] {
			p.wrong = append(p.wrong, to+" gets its name before it is synced")
		}
		if to == "manifest.json" && len(p.loose) > 0 {
			p.wrong = append(p.wrong, fmt.Sprintf("the manifest vouches for %v, whose names were not synced", p.loose))
		}
		p.named[to], p.loose[to] = true, true
	}
	return verdict{}
}

// The reference opens the final name with O_TRUNC and then begins to write: what was there is gone
// before anything can take its place, and readers of the directory see a half. Here the name of a
// shard would be opened for writing, or have other bytes than the old or the new file.
func TestReferenceFinalNameTruncatedFirst(t *testing.T) {
	t.Parallel()
	need.Time(t, "the defects of another writer, in full size")
	for _, row := range []struct {
		name         string
		first, again func(dir string) []string
		absent       bool // another dataset: its shards go before the new ones come
	}{
		{"the same command", func(dir string) []string { return convert(dir) }, func(dir string) []string { return convert(dir) }, false},
		{"another encoding", func(dir string) []string { return convert(dir) },
			func(dir string) []string { return convert(dir, "--overwrite", "--encode", "raw:jpg") }, true},
		{"pack", func(dir string) []string { return packing(dir + "/x.ffr") }, func(dir string) []string { return packing(dir+"/x.ffr", "--overwrite") }, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := own(t)
			if r, err := run(row.first(dir)...); err != nil || r.code != 0 {
				t.Fatal(r, err)
			}
			finals, err := filepath.Glob(dir + "/*.ffr")
			if err != nil || len(finals) == 0 {
				t.Fatal(finals, err)
			}
			states := map[string][][]byte{} // that a name was seen in, one after the other
			infos := map[string]fs.FileInfo{}
			wrong := map[string]bool{}
			look := func(c *call) verdict {
				const writes = unix.O_TRUNC | unix.O_WRONLY | unix.O_RDWR
				if c.kind().name == "openat" && c.args[2]&writes != 0 && strings.HasSuffix(c.path(), ".ffr") {
					wrong["opened for writing"] = true
				}
				for _, name := range finals {
					info, err := os.Stat(name)
					if old := infos[name]; err == nil && old != nil && os.SameFile(old, info) && old.Size() == info.Size() && old.ModTime().Equal(info.ModTime()) {
						continue
					}
					infos[name] = info
					data, err := os.ReadFile(name)
					if err != nil && !(row.absent && errors.Is(err, fs.ErrNotExist)) {
						wrong[err.Error()] = true
					}
					if seen := states[name]; err == nil && (len(seen) == 0 || !bytes.Equal(seen[len(seen)-1], data)) {
						states[name] = append(seen, data)
					}
				}
				return verdict{}
			}
			if r, err := supervise(append(slices.Clone(writing), "close"), look, row.again(dir)...); err != nil || r.code != 0 {
				t.Fatal(r, err)
			}
			for what := range wrong {
				t.Error(what)
			}
			for _, name := range finals {
				last, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				seen := states[name] // the old file, and the new one where it took its place before the end
				if len(seen) == 0 || len(seen) > 2 || len(seen) == 2 && !bytes.Equal(seen[1], last) {
					t.Fatalf("%s was seen in %d states", name, len(seen))
				}
				if !row.absent && !bytes.Equal(seen[0], last) {
					t.Errorf("%s has other bytes than before", name)
				}
			}
		})
	}
}

// The reference makes its files with mode 0700: executable, and for its owner alone. Here a file
// would have another mode than 0644 less the umask, a directory another than 0755 less it.
func TestReferenceMode0700(t *testing.T) {
	need.Time(t, "the defects of another writer, in full size")
	need.Shell(t)
	t.Parallel()
	for _, umask := range []fs.FileMode{0, 0o022, 0o027, 0o077} {
		dir := own(t)
		files := 0
		for _, args := range [][]string{convert(filepath.Join(dir, "out")), packing(filepath.Join(dir, "x.ffr"))} {
			shell := []string{"-c", fmt.Sprintf(`umask %#o; exec "$@"`, umask), "sh", program()}
			if r, err := execute("sh", append(shell, args...)...); err != nil || r.code != 0 {
				t.Fatal(r, err)
			}
		}
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || name == dir {
				return err
			}
			info, err := d.Info()
			want := 0o644 &^ umask
			if d.IsDir() {
				want = fs.ModeDir | 0o755&^umask
			} else {
				files++
			}
			if err == nil && info.Mode() != want {
				t.Errorf("umask %#o: %s has mode %v, want %v", umask, name, info.Mode(), want)
			}
			return err
		})
		if err != nil || files < 10 {
			t.Errorf("umask %#o: %d files, %v", umask, files, err)
		}
	}
}

// The reference's dump() waits for its workers and does not ask how they ended: a dataset lacks the
// shards of those that failed, and the program ends well. Here a conversion of which one worker
// cannot write or read would end with 0, or leave a manifest.
func TestReferenceFailedWorkerIgnored(t *testing.T) {
	t.Parallel()
	need.Time(t, "the defects of another writer, in full size")
	for i, source := range sources {
		shard := fmt.Sprintf("PART_%05d.ffr", i)
		tmp := "/" + shard + ".tmp"
		begun := false // Index has read all sources by then
		for _, row := range []struct {
			does, names string
			errno       syscall.Errno
			target      func(c *call) bool
		}{
			{"writes " + shard, shard, []syscall.Errno{unix.ENOSPC, unix.EIO, unix.EDQUOT}[i], func(c *call) bool {
				return on(c, "pwrite64", tmp) && c.args[3] > 0
			}},
			{"syncs " + shard, shard, unix.EIO, func(c *call) bool { return on(c, "fsync", tmp) }},
			{"reads " + source, filepath.Base(source), unix.EIO, func(c *call) bool {
				begun = begun || c.kind().name == "pwrite64"
				return begun && (on(c, "read", source) || on(c, "pread64", source))
			}},
		} {
			s := sniper{errno: row.errno, target: row.target}
			r, err := s.shoot(own(t), []string{"pwrite64", "fsync", "read", "pread64"})
			if err != nil || s.seen == 0 || !strings.Contains(r.stderr, row.names) {
				t.Errorf("%v when a worker %s: %v: %v", unix.ErrnoName(row.errno), row.does, r, err)
			}
		}
	}
}
