package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseLine(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       line
		ok, bad    bool
	}{
		{name: "whole", text: "    x_test.go:12: B2 [csv] cases=7 undetected=0 lost=1 killed=6 # of seven\n", want: line{"B2", "csv", 7, 0, 1, "killed=6"}, ok: true},
		{name: "no part", text: "    x_test.go:12: A1 cases=4152 undetected=0 lost=0\n", want: line{"A1", "", 4152, 0, 0, ""}, ok: true},
		{name: "by itself", text: "F1 cases=9 undetected=0 lost=0 targets=10", want: line{"F1", "", 9, 0, 0, "targets=10"}, ok: true},
		{name: "another", text: "    x_test.go:12: all is well"},
		{name: "a result", text: "ok  	example.org/x	0.01s"},
		{name: "lost is missing", text: "    x_test.go:12: D1 cases=7 undetected=0", bad: true},
		{name: "words", text: "    x_test.go:12: B3 cases=7 undetected=0 lost=0; and more", bad: true},
		{name: "a part with a blank", text: "    x_test.go:12: B3 [a b] cases=7 undetected=0 lost=0", bad: true},
		{name: "beyond all numbers", text: "F1 cases=99999999999999999999 undetected=0 lost=0", bad: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok, err := parseLine(tt.text)
			if got != tt.want || ok != tt.ok || (err != nil) != tt.bad {
				t.Errorf("%+v, %t, %v", got, ok, err)
			}
		})
	}
}

// output writes what go test -json prints of one test.
func output(test, action string, texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		fmt.Fprintf(&b, "{\"Action\":\"output\",\"Package\":\"m/p\",\"Test\":%q,\"Output\":%q}\n", test, text+"\n")
	}
	fmt.Fprintf(&b, "{\"Action\":%q,\"Package\":\"m/p\",\"Test\":%q,\"Elapsed\":1.5}\n", action, test)
	return b.String()
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	const at = "    a_test.go:1: "
	table := []row{{id: "B1", fault: "a fault", cases: 10, parts: []string{"tar", "csv"}}}
	tests := []struct {
		name, events string
		want         string // the verdict
		problem      string
	}{
		{"met", output("TestFaultB1", "pass", at+"B1 [tar] cases=9 undetected=0 lost=0", at+"B1 [csv] cases=1 undetected=0 lost=0"), "met", ""},
		{"in several tests", output("TestX", "pass", at+"B1 [tar] cases=9 undetected=0 lost=0") + output("TestY", "pass", at+"B1 [csv] cases=1 undetected=0 lost=0"), "met", ""},
		{"too few", output("TestX", "pass", at+"B1 [tar] cases=9 undetected=0 lost=0", at+"B1 [csv] cases=0 undetected=0 lost=0"), "MISSED: fewer than 10 cases", ""},
		{"a part is missing", output("TestX", "pass", at+"B1 [tar] cases=10 undetected=0 lost=0"), "MISSED: no line csv", ""},
		{"undetected and lost", output("TestX", "pass", at+"B1 [tar] cases=9 undetected=1 lost=0", at+"B1 [csv] cases=1 undetected=0 lost=2"), "MISSED: 1 undetected; 2 lost", ""},
		{"its test failed", output("TestX", "fail", at+"B1 [tar] cases=9 undetected=0 lost=0", at+"B1 [csv] cases=1 undetected=0 lost=0"), "MISSED: TestX failed", "p TestX failed"},
		{"its test failed early", output("TestFaultB1", "fail", at+"oh"), "MISSED: TestFaultB1 failed", "p TestFaultB1 failed"},
		{"its test was skipped", output("TestFaultB1", "skip", at+"no tmpfs"), "not run: no tmpfs", ""},
		{"nothing", "", "not run: no test prints it", ""},
		{"another test failed", output("TestFaultB1", "pass", at+"B1 [tar] cases=9 undetected=0 lost=0", at+"B1 [csv] cases=1 undetected=0 lost=0") + output("TestZ", "fail"), "met", "p TestZ failed"},
		{"a line of no row", output("TestX", "pass", at+"B9 cases=9 undetected=0 lost=0"), "not run: no test prints it", "a line that belongs to no row: " + strings.TrimSpace(at) + " B9 cases=9 undetected=0 lost=0"},
		{"another shape", output("TestX", "pass", at+"B1 cases=9"), "not run: no test prints it", "not the shape of a row: " + strings.TrimSpace(at) + " B1 cases=9"},
		{"does not build", `{"Action":"build-fail","Package":"m/p"}` + "\n", "not run: no test prints it", "m/p does not build"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSuite(table, io.Discard)
			if err := s.read(strings.NewReader("no event\n" + tt.events)); err != nil {
				t.Fatal(err)
			}
			if got := s.rows[0].verdict(); got != tt.want {
				t.Errorf("verdict %q, want %q", got, tt.want)
			}
			if got := strings.Join(s.problems, "\n"); got != tt.problem {
				t.Errorf("problems %q, want %q", got, tt.problem)
			}
			var b bytes.Buffer
			missed := s.print(&b)
			if (missed == 0) != (tt.want == "met") || strings.Count(b.String(), "\n") != 2 {
				t.Errorf("%d missed; printed %q", missed, &b)
			}
		})
	}
}

// TestTimeOfARow: each test counts once, whatever it prints.
func TestTimeOfARow(t *testing.T) {
	t.Parallel()
	s := newSuite([]row{{id: "B1"}}, io.Discard)
	const text = "    a_test.go:1: B1 cases=9 undetected=0 lost=0"
	if err := s.read(strings.NewReader(output("TestX", "pass", text, text) + output("TestY", "pass", text) + output("TestZ", "pass"))); err != nil {
		t.Fatal(err)
	}
	if got := s.rows[0]; got.took != 3*time.Second || got.sum().cases != 27 {
		t.Errorf("%v, %d cases", got.took, got.sum().cases)
	}
}

// TestRows: the table itself. Rows come in order, once, and say what they are.
func TestRows(t *testing.T) {
	t.Parallel()
	for i, r := range rows {
		if i > 0 && rows[i-1].id >= r.id || r.fault == "" || len(r.fault) > 48 || r.target == "" || r.cases < 1 {
			t.Errorf("row %d: %+v", i, r)
		}
		parts := slices.Clone(r.parts)
		slices.Sort(parts)
		if len(slices.Compact(parts)) != len(r.parts) {
			t.Errorf("%s: a part stands there twice", r.id)
		}
	}
}

// TestPage: the page has a place for the table, and keeps the rest of itself.
func TestPage(t *testing.T) {
	t.Parallel()
	const page = "../../../docs/reliability.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	same, err := replaceTable(page, "x")
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := bytes.Cut(text, []byte(tableBegins))
	if !bytes.HasPrefix(same, before) || !bytes.Contains(same, []byte(tableBegins+"\nx\n"+tableEnds)) {
		t.Errorf("replaced: %s", same)
	}
}

func TestReplaceTable(t *testing.T) {
	t.Parallel()
	page := filepath.Join(t.TempDir(), "page.md")
	for _, tt := range []struct{ text, want string }{
		{"a\n" + tableBegins + "old\n" + tableEnds + "b\n", "a\n" + tableBegins + "\nnew\n\n" + tableEnds + "b\n"},
		{"a\n" + tableBegins, ""},
		{tableEnds + tableBegins, ""},
		{"", ""},
	} {
		if err := os.WriteFile(page, []byte(tt.text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := replaceTable(page, "new\n")
		if string(got) != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q: %q, %v", tt.text, got, err)
		}
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	s := newSuite([]row{{id: "B1", fault: "a fault", target: "survived", cases: 10, parts: []string{"tar", "csv"}}, {id: "B2", fault: "another", target: "too", cases: 1}}, io.Discard)
	for _, text := range []string{"B1 [tar] cases=1200 undetected=0 lost=0", "B1 [csv] cases=34 undetected=0 lost=0", "B2 cases=5 undetected=1 lost=2"} {
		s.line("x", text)
	}
	const want = "Commit `abc`, on a machine: 1,239 cases, 1 undetected, 2 lost, in 1m0s.\n\n" +
		"| row | fault | cases | undetected | lost | target | |\n| --- | --- | ---: | ---: | ---: | --- | --- |\n" +
		"| B1 | a fault | 1,234 (tar 1,200, csv 34) | 0 | 0 | survived | met |\n" +
		"| B2 | another | 5 | 1 | 2 | too | MISSED: 1 undetected; 2 lost |\n"
	if got := s.markdown("abc", "a machine", time.Minute); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestFileSystem(t *testing.T) {
	t.Parallel()
	const mounts = "/dev/a / ext4 rw 0 0\nnone /tmp tmpfs rw 0 0\nnone /tmp/x/y xfs rw 0 0\n"
	for path, want := range map[string]string{"/tmp": "tmpfs", "/tmp/x": "tmpfs", "/tmp/x/y/z": "xfs", "/tmpx": "ext4", "/": "ext4"} {
		if got := fileSystem(mounts, path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
