package faults

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/aisfake"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// TestFaultH1 changes a staged copy between its writing and its reading: in place of the k-th call
// that reads a file of the cache, for k from 0 on, and puts its time back. The conversion must be
// refused, or have what it has undisturbed, and so must the same command again.
func TestFaultH1(t *testing.T) {
	slow(t)
	need.Shell(t)
	t.Parallel()
	all, err := stagings(aisfake.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			t.Logf("H1 [%s] %v", s.name, s.each(t))
		})
	}
}

// A staging is a conversion that stages its input.
type staging struct {
	name  string
	args  []string // without OUT
	stdin string   // a file; "": none
	env   []string
	kept  bool // a run before has left the copies
}

func stagings(server *aisfake.Server) ([]staging, error) {
	all, err := everyFormat()
	if err != nil {
		return nil, err
	}
	files := map[string]string{} // one of each format
	for _, c := range all {
		files[c.name] = c.from[0]
	}
	files["csv"] = filepath.Join(files["csv"], "part-0")
	files["cbor"] = all[3].from[1] // the larger one
	zipped, err := packed()
	if err != nil {
		return nil, err
	}
	server.Bucket("h1", aisfake.Bucket{Provider: "aws", Checksum: true, ETag: true, Modified: true})
	server.Bucket("h1-unsure", aisfake.Bucket{Provider: "aws", ETag: true, Modified: true})
	err = errors.Join(
		putFile(server, "h1", "a.tar", sources[0]), putFile(server, "h1-unsure", "a.tar.gz", zipped[0]),
		filepath.WalkDir(files["folder"], func(name string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(files["folder"], name)
			return errors.Join(err, putFile(server, "h1-unsure", "tree/"+filepath.ToSlash(rel), name))
		}))
	if err != nil {
		return nil, err
	}
	bin := filepath.Join(base, "bin-h1")
	plugin := "#!/bin/sh\nexec cat '" + files["cbor"] + "'\n"
	if err := errors.Join(os.Mkdir(bin, 0o755), os.WriteFile(filepath.Join(bin, "ffconvert-same"), []byte(plugin), 0o755)); err != nil {
		return nil, err
	}
	ais := []string{"AIS_ENDPOINT=" + server.URL, "NO_PROXY=*"}
	how := []string{"--shards", "3", "--progress", "none", "-j1"}
	one := func(name, format string, from ...string) staging {
		return staging{name: name, args: append(append([]string{format}, how...), from...), env: ais}
	}
	stdin := one("stdin", "csv", "-")
	stdin.stdin = files["csv"]
	plugged := one("plugin", "same")
	plugged.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
	again := one("kept", "tar", zipped...)
	again.kept = true
	return []staging{
		one("gzip", "tar", zipped...), again, stdin, plugged, one("pipe", "cbor", "--allow-pipe", "pipe:cat "+files["cbor"]),
		one("object", "tar", "--exact", "ais://h1/a.tar?provider=aws"), one("object-gzip", "tar", "--exact", "ais://h1-unsure/a.tar.gz?provider=aws"),
		one("object-folder", "folder", "ais://h1-unsure/tree?provider=aws"),
	}, nil
}

func putFile(server *aisfake.Server, bucket, key, file string) error {
	data, err := os.ReadFile(file)
	if err == nil {
		server.Put(bucket, key, data)
	}
	return err
}

// each strikes at every call that reads a copy, in every way.
func (s staging) each(t *testing.T) tally {
	t.Helper()
	dir, remove, err := scratch()
	defer remove()
	if err != nil {
		t.Fatal(err)
	}
	none := striker{at: -1}
	want, err := s.convert(dir, &none)
	if err != nil {
		t.Fatal(err)
	}
	if none.seen == 0 {
		t.Fatal("no copy is read")
	}
	n := none.seen * len(strikes)
	var refused sync.Map
	sum := each(t, spread(n, min(n, cases(60, 6))), func(i int, dir string) error {
		x := striker{at: i / len(strikes), how: strikes[i%len(strikes)].do}
		got, err := s.convert(dir, &x)
		out := filepath.Join(dir, "out")
		switch {
		case err == nil && x.done:
			err = got.differ(want)
			if err != nil {
				err = fmt.Errorf("%w: %w", errBad, err)
			}
		case err != nil && x.done && !errors.Is(err, errLost):
			refused.Store(i, true)
			if err = sound(out, want); err == nil {
				x = striker{at: -1}
				if got, err = s.convert(dir, &x); err == nil {
					err = got.differ(want)
				}
			}
		}
		if err != nil {
			return fmt.Errorf("%s at read %d: %w", strikes[i%len(strikes)].name, i/len(strikes), err)
		}
		return nil
	})
	some := false
	refused.Range(func(any, any) bool { some = true; return false })
	if !some {
		t.Error("nothing was refused: no strike has met what is read")
	}
	return sum
}

// convert converts into out below dir, and returns what is there then. An error is a refusal in
// one line, or is told apart from that by errBad.
func (s staging) convert(dir string, x *striker) (tree, error) {
	prepare := func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Environ(), s.env...)
		if s.stdin != "" {
			cmd.Stdin, _ = os.Open(s.stdin)
		}
	}
	args := append(s.args[:len(s.args):len(s.args)], filepath.Join(dir, "out"))
	if s.kept {
		args = append([]string{args[0], "--cache-dir", filepath.Join(dir, "cache")}, args[1:]...)
		before := append(args[:len(args)-1:len(args)-1], filepath.Join(dir, "before"))
		if r, err := run(before...); err != nil || r.code != 0 {
			return nil, errors.Join(err, fmt.Errorf("the run before: %v", r))
		}
	}
	x.dir = dir
	r, err := superviseWith(prepare, []string{"pread64", "read", "getdents64"}, x.decide, args...)
	switch {
	case err != nil:
		return nil, err
	case r.code == 0:
		return readTree(filepath.Join(dir, "out"))
	case r.clean(3, 4) != nil:
		return nil, fmt.Errorf("%w: %w", errLost, r.clean(3, 4))
	}
	return nil, errors.New(r.String())
}

// errLost means that a failure was not told as it ought to be.
var errLost = errors.New("not told")

// A striker changes a copy in place of the at-th call that reads one.
type striker struct {
	at   int // -1: none
	how  func(b []byte, rng *rand.Rand) []byte
	dir  string
	seen int
	done bool
}

func (x *striker) decide(c *call) verdict {
	path := c.path()
	in := strings.Contains(path, "/cache/") && strings.HasPrefix(path, x.dir+"/") && !strings.HasSuffix(path, "/cache")
	if !in || strings.HasSuffix(path, "/lock") {
		return verdict{}
	}
	if c.kind().name == "getdents64" && !strings.Contains(path, ".tree") {
		return verdict{}
	}
	x.seen++
	if x.seen-1 == x.at {
		x.done = x.strike(path) == nil
	}
	return verdict{}
}

// strike changes a file, or one below a directory, and puts its time back.
func (x *striker) strike(path string) error {
	rng := rand.New(rand.NewPCG(uint64(x.at), 8))
	for st, err := os.Stat(path); err == nil && st.IsDir(); st, err = os.Stat(path) {
		entries, err := os.ReadDir(path)
		if err != nil || len(entries) == 0 {
			return errors.Join(err, errors.New("it is empty"))
		}
		path = filepath.Join(path, entries[rng.IntN(len(entries))].Name())
	}
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	changed := x.how(bytes.Clone(b), rng)
	if changed == nil {
		return os.Remove(path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteAt(changed, 0); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(changed))); err != nil {
		return err
	}
	return os.Chtimes(path, time.Time{}, st.ModTime())
}

// strikes are what is done to a copy.
var strikes = []struct {
	name string
	do   func(b []byte, rng *rand.Rand) []byte
}{
	{"a bit", func(b []byte, rng *rand.Rand) []byte {
		if len(b) > 0 {
			b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
		}
		return b
	}},
	{"four bytes", func(b []byte, rng *rand.Rand) []byte {
		if len(b) > 4 {
			copy(b[rng.IntN(len(b)-4):], "5555")
		}
		return b
	}},
	{"a digit in each block", func(b []byte, rng *rand.Rand) []byte {
		for i := rng.IntN(512); i < len(b); i += 4096 {
			b[i] ^= 1
		}
		return b
	}},
	{"a sector of zeros", func(b []byte, rng *rand.Rand) []byte {
		if at := rng.IntN(len(b)/512 + 1); at*512 < len(b) {
			clear(b[at*512 : min(len(b), at*512+512)])
		}
		return b
	}},
	{"halves swapped", func(b []byte, _ *rand.Rand) []byte {
		h := len(b) / 2
		return append(b[h:2*h:2*h], append(b[:h:h], b[2*h:]...)...)
	}},
	{"cut", func(b []byte, rng *rand.Rand) []byte { return b[:len(b)*2/3] }},
	{"removed", func([]byte, *rand.Rand) []byte { return nil }},
}
