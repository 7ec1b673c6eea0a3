package main

import (
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/internal/test/aisfake"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/internal/test/versitygw"
)

func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else each command waits a second at its end, under the race detector
	stage.Guard()
	testscript.Main(m, map[string]func(){"ffconvert": patientMain, "ffheld": heldMain, "ffclean": cleanMain})
}

// patientMain is main for tests of what a stopped run leaves and says: a busy machine may need longer than stop.Patience to come to that.
func patientMain() {
	stage.Guard()
	os.Exit(run(os.Args[1:], time.Minute))
}

func TestScripts(t *testing.T) {
	t.Parallel()
	data, err := filepath.Abs(filepath.Join("..", "..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv("DATA", data)
			env.Setenv("EVENTS", filepath.Join(filepath.Dir(data), "cmd", "ffconvert", "testdata", "python", "events.py"))
			env.Setenv("EXAMPLES", filepath.Join(filepath.Dir(data), "examples"))
			env.Vars = append(env.Vars, offline...)
			env.Values[scriptTest{}] = env.T().(testing.TB) // testscript gives the methods of *testing.T
			env.Values[s3Servers{}] = map[string]*versitygw.Server{}
			env.Values[webServers{}] = servers{}
			env.Values[aisServer{}] = new(*aisfake.Server)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"need":    needTools,
			"status":  status,
			"head":    head,
			"flip":    flip,
			"hex":     writeHex,
			"collide": collide,
			"same":    same,

			"sameshards":  sameShards,
			"samedataset": sameDataset,
			"s3":          s3,
			"s3more":      s3more,
			"s3tree":      s3tree,
			"ais":         ais,
			"aisput":      aisPut,
			"web":         web,
			"sent":        sent,
			"requested":   requested,
		},
	})
}

// needTools skips the script where something is missing: need sh gzip versitygw
func needTools(ts *testscript.TestScript, _ bool, args []string) {
	t := ts.Value(scriptTest{}).(testing.TB)
	for _, name := range args {
		switch name {
		case "cbor2":
			python.Path(t, "cbor2", "numpy")
		case "PIL":
			python.Path(t, "PIL")
		case "sh":
			need.Shell(t)
		case "versitygw":
			versitygw.Need(t)
		default:
			need.Tool(t, name)
		}
	}
}

// status runs a command and asserts its exit status, and one line of standard error
// where it is not 0: status 3 ffconvert tar x out
func status(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(*exec.ExitError)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
	if text := withoutProgress(ts.ReadFile("stderr")); want != 0 && strings.Count(text, "\n") != 1 {
		ts.Fatalf("want one line of error, got %q", text)
	}
}

// withoutProgress leaves out what a run that goes on says before it does so, and the progress of one that takes more than five seconds.
func withoutProgress(stderr string) string { return progressLine.ReplaceAllString(stderr, "") }

var progressLine = regexp.MustCompile(`(?m)^([0-9,]+ of [0-9,]+ shards? kept, [0-9,]+ to write|[a-z +]+: .*, elapsed [0-9].*)\n`)

// head keeps the first n bytes of a file; a negative n drops the last ones.
func head(ts *testscript.TestScript, _ bool, args []string) {
	name := ts.MkAbs(args[1])
	n, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	st, err := os.Stat(name)
	ts.Check(err)
	if n < 0 {
		n += st.Size()
	}
	ts.Check(os.Truncate(name, n))
}

// same asserts that two datasets have the same shards, indexes, meta.json and plan: same a b
func same(ts *testscript.TestScript, _ bool, args []string) {
	sameFiles(ts, args, "*.ffr", "index/*", "meta.json", ".ffconvert/plan")
}

// sameDataset asserts that two datasets are the same in all that a conversion leaves, but for
// the times in the manifest and the journal: samedataset a b
func sameDataset(ts *testscript.TestScript, _ bool, args []string) {
	same(ts, false, args)
	var texts [2]string
	var names [2][]string
	for i, arg := range args {
		dir := ts.MkAbs(arg)
		texts[i] = regexp.MustCompile(`"(created|sha256)": "[^"]*"`).ReplaceAllString(ts.ReadFile(filepath.Join(dir, "manifest.json")), "")
		ts.Check(filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			rel, _ := filepath.Rel(dir, path)
			names[i] = append(names[i], rel)
			return err
		}))
	}
	if texts[0] != texts[1] {
		ts.Fatalf("%s/manifest.json differs", args[1])
	}
	if !slices.Equal(names[0], names[1]) {
		ts.Fatalf("%q, want %q", names[1], names[0])
	}
}

func sameFiles(ts *testscript.TestScript, args []string, patterns ...string) {
	a, b := ts.MkAbs(args[0]), ts.MkAbs(args[1])
	for _, pattern := range patterns {
		want, err := filepath.Glob(filepath.Join(a, pattern))
		ts.Check(err)
		got, err := filepath.Glob(filepath.Join(b, pattern))
		ts.Check(err)
		if len(want) == 0 || len(got) != len(want) {
			ts.Fatalf("%d files %s, want %d", len(got), pattern, len(want))
		}
		for _, name := range want {
			rel, err := filepath.Rel(a, name)
			ts.Check(err)
			if ts.ReadFile(name) != ts.ReadFile(filepath.Join(b, rel)) {
				ts.Fatalf("%s differs", rel)
			}
		}
	}
}

// writeHex makes a file of bytes: hex file 0aff 01
func writeHex(ts *testscript.TestScript, _ bool, args []string) {
	data, err := hex.DecodeString(strings.Join(args[1:], ""))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

// collide changes five bytes of a file so that its CRC-32 stay: collide offset file
func collide(ts *testscript.TestScript, _ bool, args []string) {
	at, err := strconv.Atoi(args[0])
	ts.Check(err)
	name := ts.MkAbs(args[1])
	shardtest.Collide(ts.Value(scriptTest{}).(testing.TB), filepath.Dir(name), filepath.Base(name), at)
}

// flip flips a bit of a file: flip offset file
func flip(ts *testscript.TestScript, _ bool, args []string) {
	at, err := strconv.Atoi(args[0])
	ts.Check(err)
	name := ts.MkAbs(args[1])
	data, err := os.ReadFile(name)
	ts.Check(err)
	data[at] ^= 1
	ts.Check(os.WriteFile(name, data, 0o644))
}

// Every command has an example, says its exit statuses, and documents every flag.
func TestHelp(t *testing.T) {
	t.Parallel()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Example == "" || !strings.Contains(c.Long, "EXIT STATUS") || c.Short == "" {
			t.Errorf("%s: no example, no short help, or no EXIT STATUS in its long one", c.CommandPath())
		}
		if c.Name() != "browse" && !strings.Contains(c.Long, "\n  6    the datasets differ: diff alone\n") {
			t.Errorf("%s: its help does not have status 6", c.CommandPath())
		}
		for _, f := range strings.Split(c.Flags().FlagUsages(), "\n") {
			if f != "" && len(strings.Fields(f)) < 4 {
				t.Errorf("%s: flag without words: %q", c.CommandPath(), f)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand())
}
