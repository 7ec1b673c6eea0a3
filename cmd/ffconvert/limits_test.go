package main

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/test/arrowtest"
	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/parquettest"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// limitsTable reads the first table of SECURITY.md under its heading Limits: the default
// of each flag of each command, as "tar --max-sample-size".
func limitsTable(t *testing.T) map[string]string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(page), "\n## Limits\n")
	if !ok {
		t.Fatal("SECURITY.md has no section Limits")
	}
	table := make(map[string]string)
	row := regexp.MustCompile("(?m)^\\| `(--max [a-z-]+|--cache-size)` \\| ([a-z ]+) \\| `([^`]+)` \\| (.+) \\|$")
	for _, m := range row.FindAllStringSubmatch(section, -1) {
		m[1] = strings.Replace(m[1], "--max ", "--max-", 1) // the flag that it is a name of
		for command := range strings.FieldsSeq(m[2]) {
			if _, twice := table[command+" "+m[1]]; twice {
				t.Errorf("%s of %s stands there twice", m[1], command)
			}
			table[command+" "+m[1]] = m[3]
		}
	}
	return table
}

// SECURITY.md lists each limit of each command with its default, and no other.
func TestSecurityLimits(t *testing.T) {
	t.Parallel()
	want := limitsTable(t)
	if len(want) < 50 {
		t.Fatalf("%d limits are listed", len(want))
	}
	got := make(map[string]string)
	var walk func(c *cobra.Command, top string)
	walk = func(c *cobra.Command, top string) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "max-shards" || f.Name == "max-count" { // how the output is divided
				return
			}
			if strings.HasPrefix(f.Name, "max-") || f.Name == "cache-size" {
				got[top+" --"+f.Name] = f.DefValue
			}
		})
		for _, sub := range c.Commands() {
			walk(sub, top)
		}
	}
	for _, c := range newRootCommand().Commands() {
		walk(c, c.Name())
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if want[name] != got[name] {
			t.Errorf("%s is %s, SECURITY.md has %q", name, got[name], want[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] == "" {
			t.Errorf("SECURITY.md has %s, the program has not", name)
		}
	}
}

// Each limit refuses what is over it, and says which flag it is. Other tests know to the
// byte where the limits are.
func TestSecurityLimitsHold(t *testing.T) {
	t.Parallel()
	need.Time(t, "many hostile inputs, a process each")
	data, err := filepath.Abs(filepath.Join("..", "..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"rows.csv": "1,2\n3,4\n", "a.cbors": "\xa2\x67__key__\x63abc\x61x\x81\x81\x01", "rows.jsonl": "{\"a\": 1}\n", "names.txt": "cat\ndog\n", "pets/cat/a.json": "[[[[[1]]]]]", "zeros": "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var images bytes.Buffer
	file := parquettest.NewWriter(&images)
	file.Group(1, parquettest.Images([][]byte{make([]byte, 20)}, []string{"a"}, []int64{1}, parquettest.Snappy, false)...)
	if err := errors.Join(file.Close(parquettest.ImageSchema(), nil), os.WriteFile(filepath.Join(dir, "a.parquet"), images.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	feather := arrowtest.Write(arrowtest.File, arrowtest.Zstd, arrowtest.Batches([]arrowtest.Image{{Data: make([]byte, 20)}}, 1)...)
	if err := os.WriteFile(filepath.Join(dir, "a.feather"), feather, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "zeros.tgz"), gzipped(t, make([]byte, 20<<20)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"tar", data + "/shards-000.tar", "made"}, {"pack", "pets", "pets.ffr"}} {
		if out := ffconvert(t, dir, args...); out.status != 0 {
			t.Fatal(out)
		}
	}
	tested := map[string]bool{"--max-pixels": true} // by the tests of check
	for _, row := range []struct {
		flag   string
		status int
		args   string
	}{
		{"--max-sample-size=600", 3, "tar DATA/shards-000.tar out"},
		{"--max-sample-size=1", 3, "folder pets out"},
		{"--max-sample-size=15", 3, "csv rows.csv out"},
		{"--max-sample-size=10", 3, "inspect made"},
		{"--max-header-size=1", 3, "tar DATA/tars/python-pax.tar out"},
		{"--max-classes-size=7", 3, "folder --classes names.txt pets out"},
		{"--max-row-size=3", 3, "csv rows.csv out"},
		{"--max-columns=1", 3, "csv rows.csv out"},
		{"--max-item-size=10", 3, "cbor a.cbors out"},
		{"--max-name-size=2", 3, "cbor a.cbors out"},
		{"--max-depth=2", 3, "cbor a.cbors out"},
		{"--max-index-size=10", 3, "mds DATA/mds out"},
		{"--max-line-size=4", 3, "jsonl rows.jsonl out"},
		{"--max-footer-size=10", 3, "parquet a.parquet out"},
		{"--max-page-size=10", 3, "parquet a.parquet out"},
		{"--max-value-size=10", 3, "parquet a.parquet out"},
		{"--max-batch-size=10", 3, "arrow a.feather out"},
		{"--max-value-size=10", 3, "arrow a.feather out"},
		{"--max-decode-size=10", 3, "folder --decode pets out"},
		{"--max-decode-depth=4", 3, "folder --decode pets out"},
		{"--max-names=1", 1, "tar DATA/shards-000.tar DATA/shards-001.tar out"},
		{"--max-names=9", 1, "tar DATA/shards-<000..009>.tar out"},
		{"--cache-size=1000", 3, "tar DATA/tars/shards-000.tgz out"},
		{"--max-ratio=900", 3, "tar zeros.tgz out"},
		{"--max-window=4KiB", 3, "tar DATA/tars/shards-000.tar.zst out"},
		{"--max-keys-size=5", 3, "tar --keys @names.txt DATA/shards-000.tar out"},
		{"--max-samples=11", 3, "verify made"},
		{"--max-samples=11", 3, "inspect made"},
		{"--max-file-size=10", 3, "pack pets out.ffr"},
		{"--max-file-size=10", 3, "ls pets.ffr"},
		{"--max-file-size=10", 3, "cat pets.ffr cat/a.json"},
		{"--max-file-size=10", 3, "unpack pets.ffr out"},
	} {
		name, _, _ := strings.Cut(row.flag, "=")
		tested[name] = true
		args := append([]string{}, strings.Fields(strings.ReplaceAll(row.args, "DATA", data))...)
		args = slices.Insert(args, 1, row.flag)
		out := ffconvert(t, dir, args...)
		if out.status != row.status || !strings.Contains(out.stderr, strings.Replace(name, "--max-", "--max ", 1)) {
			t.Errorf("%s, want status %d and the flag", out, row.status)
		}
		for _, left := range []string{"out", "out.ffr"} {
			if _, err := os.Lstat(filepath.Join(dir, left)); err == nil {
				t.Errorf("%s: %s is left", row.flag, left)
			}
		}
	}
	// Of files and directories there must be more than one.
	if err := os.WriteFile(filepath.Join(dir, "pets/cat/b.json"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tested["--max-files"] = true
	if out := ffconvert(t, dir, "pack", "--max-files=1", "pets", "two.ffr"); out.status != 3 || !strings.Contains(out.stderr, "--max files") {
		t.Error(out)
	}
	if out := ffconvert(t, dir, "pack", "pets", "two.ffr"); out.status != 0 {
		t.Error(out)
	}
	if out := ffconvert(t, dir, "ls", "--max-files=1", "two.ffr"); out.status != 3 || !strings.Contains(out.stderr, "--max files") {
		t.Error(out)
	}
	for limit := range limitsTable(t) {
		if _, name, _ := strings.Cut(limit, " "); !tested[name] {
			t.Errorf("no row is over %s", name)
		}
	}
}

// A limit of nothing is a mistake, not the default.
func TestLimitFlags(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ arg, want string }{
		{"--size=2MiB", "2097152 5"}, {"--size=0", ""}, {"--size=-1", ""}, {"--size=x", ""},
		{"--count=7", "1048576 7"}, {"--count=0", ""}, {"--count=-1", ""}, {"--count=1e3", ""}, {"--count=99999999999999999999", ""},
	} {
		var size int64
		var count int
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.Var(option.MaxSize(&size, 1<<20), "size", "")
		flags.Var(option.Count(&count, 5), "count", "")
		err := flags.Parse([]string{row.arg})
		if got := strings.TrimSpace(sprint(size, count)); (err == nil) != (row.want != "") || err == nil && got != row.want {
			t.Errorf("%s: %s, %v", row.arg, got, err)
		}
	}
}

// A plan keeps what decides the bytes of shards. A limit that is raised for a run that
// goes on is not one of another dataset.
func TestSecurityPlanOptions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.csv"), []byte("1,2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"csv", "--decode", "a.csv", "out"}, {"csv", "--max-columns=2", "--max-row-size=4", "--max-decode-size=7", "--decode", "--max-names=1", "a.csv", "out"}} {
		if out := ffconvert(t, dir, args...); out.status != 0 || strings.Contains(out.stderr, "another dataset") {
			t.Error(out)
		}
	}
	plan, err := os.ReadFile(filepath.Join(dir, "out/.ffconvert/plan"))
	if err != nil || bytes.Contains(plan, []byte("max")) {
		t.Errorf("%s, %v", plan, err)
	}
}

// Each line of the checklist names tests, and all of them are there.
func TestSecurityChecklist(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Checklist\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \| (.+) \|$`).FindAllStringSubmatch(section, -1)
	name := regexp.MustCompile("`([a-z/]+)(\\.Test[A-Za-z0-9]+|/[a-z]+\\.txtar)`")
	if len(rows) < 18 { // the heads and what is below
		t.Fatalf("%d lines", len(rows))
	}
	for _, row := range rows[2:] {
		tests := name.FindAllStringSubmatch(row[2], -1)
		if len(tests) == 0 || len(tests) != strings.Count(row[2], "`")/2 {
			t.Errorf("%s: its tests are %s", row[1], row[2])
		}
		for _, test := range tests {
			if script, ok := strings.CutPrefix(test[2], "/"); ok {
				if _, err := os.Stat(filepath.Join(root, test[1], "testdata", "script", script)); err != nil {
					t.Errorf("%s: %v", row[1], err)
				}
				continue
			}
			files, err := filepath.Glob(filepath.Join(root, test[1], "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			declared := []byte("\nfunc " + test[2][1:] + "(")
			if !slices.ContainsFunc(files, func(file string) bool {
				text, err := os.ReadFile(file)
				return err == nil && bytes.Contains(text, declared)
			}) {
				t.Errorf("%s: there is no %s%s", row[1], test[1], test[2])
			}
		}
	}
}

// A plan that raises a limit is none of ours.
func TestSecurityPlanRaisesNoLimit(t *testing.T) {
	t.Parallel()
	dir := need.Files(t, map[string]string{"a.tar": tarOf(t, "a.jpg", "b.jpg")})
	if out := ffconvert(t, dir, "tar", "a.tar", "out"); out.status != 0 {
		t.Fatal(out)
	}
	name := filepath.Join(dir, "out/.ffconvert/plan")
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := plan.Read(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	plan.Source.Options = map[string]string{"max-sample-size": "1TiB"}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Write(f); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "out/PART_00000.ffr"), 20); err != nil {
		t.Fatal(err)
	}
	if out := ffconvert(t, dir, "repair", "out"); out.status != exitCorrupt || !strings.Contains(out.stderr, `max-sample-size "1TiB": it is a limit`) {
		t.Errorf("%s, want a refusal", out)
	}
}
