package findings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/text"
)

// An annotation is one workflow command.
type annotation struct {
	Level      string            `json:"level"`
	Properties map[string]string `json:"properties"`
	Message    string            `json:"message"`
}

// parseCommand reads a line as GitHub's runner does (actions/runner, ActionCommand.TryParseV2).
func parseCommand(line string) (a annotation, ok bool) {
	rest, ok := strings.CutPrefix(line, "::")
	if !ok {
		return a, false
	}
	info, message, ok := strings.Cut(rest, "::")
	if !ok {
		return a, false
	}
	data := strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%")
	property := strings.NewReplacer("%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",", "%25", "%")
	a.Message, a.Properties = data.Replace(message), make(map[string]string)
	var list string
	a.Level, list, _ = strings.Cut(info, " ")
	for pair := range strings.SplitSeq(list, ",") {
		if name, value, ok := strings.Cut(pair, "="); ok {
			a.Properties[name] = property.Replace(value)
		}
	}
	return a, true
}

// Whatever the names are, every line but the last is one command, with the file, the rule and the message.
func TestGitHubIsParsed(t *testing.T) {
	t.Parallel()
	for _, s := range append(nasty, "::error::x", "x::set-output name=a::b", "##[set-output name=a;]b", "100%25", "%0A::error::x") {
		r := &Report{Tool: "ffconvert", Rules: rulesOfTest}
		r.Add(Finding{Rule: "truncated", Place: Place{s, 7, s}, Text: s})
		lines := strings.Split(string(write(t, "github", r)), "\n")
		if len(lines) != 3 {
			t.Fatalf("%q: %d lines", s, len(lines))
		}
		a, ok := parseCommand(lines[0])
		wantFile := text.Line(filepath.Clean(s))
		if !ok || a.Level != "error" || a.Properties["file"] != wantFile || a.Properties["title"] != "ffconvert: truncated" || len(a.Properties) != 3 ||
			a.Message != text.Line(clip(r.Found[0].located(), maxMessage)) {
			t.Errorf("%q: %+v", s, a)
		}
		if _, ok := parseCommand(lines[1]); ok {
			t.Errorf("the totals are a command: %q", lines[1])
		}
	}
}

// GitHub shows ten annotations of a level: the tenth counts those that are not written.
func TestGitHubLimit(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		found int64
		lines int
		last  string
	}{
		{0, 0, ""}, {1, 1, "a.tar: 0"}, {10, 10, "a.tar: 9"}, {11, 10, "and 2 more"}, {maxKept + 5, 10, "and 7996 more"},
	} {
		r := &Report{Rules: rulesOfTest}
		for i := range row.found {
			for _, rule := range rulesOfTest {
				r.Add(Finding{Rule: rule.ID, Place: Place{"a.tar", -1, ""}, Text: fmt.Sprint(i)})
			}
		}
		got := make(map[string]int)
		last := make(map[string]string)
		for line := range strings.Lines(string(write(t, "github", r))) {
			if a, ok := parseCommand(strings.TrimSuffix(line, "\n")); ok {
				got[a.Level]++
				last[a.Level] = a.Message
			}
		}
		for _, level := range []string{"error", "warning", "notice"} {
			if got[level] != row.lines || !strings.HasPrefix(last[level], row.last) {
				t.Errorf("%d findings: %d of %s, the last is %q", row.found, got[level], level, last[level])
			}
		}
	}
}

// The commands are those that GitHub's own package for actions prints.
func TestGitHubIsThatOfTheToolkit(t *testing.T) {
	t.Parallel()
	node := need.Tool(t, "node")
	core := need.Node(t, "@actions/core")
	r := &Report{Tool: "ffconvert", Rules: rulesOfTest}
	var want []annotation
	for i, s := range nasty[:9] {
		f := Finding{Rule: rulesOfTest[i%3].ID, Place: Place{s, int64(i), s}, Text: s}
		r.Add(f)
	}
	document := string(write(t, "github", r))
	var ours []string
	for line := range strings.Lines(document) {
		if a, ok := parseCommand(strings.TrimSuffix(line, "\n")); ok {
			want, ours = append(want, a), append(ours, line)
		}
	}
	input, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "print.mjs")
	program := fmt.Sprintf(`import * as core from %q;
import fs from "node:fs";
for (const a of JSON.parse(fs.readFileSync(0, "utf8"))) core[a.level](a.message, {file: a.properties.file, startLine: 1, title: a.properties.title});
`, "file://"+filepath.Join(core, "lib", "core.js"))
	if err := os.WriteFile(script, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, script)
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// The toolkit has another order of properties.
	var theirs []string
	for line := range strings.Lines(string(out)) {
		a, ok := parseCommand(strings.TrimSuffix(line, "\n"))
		if !ok {
			t.Fatalf("not a command: %q", line)
		}
		info, data, _ := strings.Cut(strings.TrimPrefix(line, "::"), "::")
		level, properties, _ := strings.Cut(info, " ")
		parts := make(map[string]string)
		for p := range strings.SplitSeq(properties, ",") {
			name, value, _ := strings.Cut(p, "=")
			parts[name] = value
		}
		theirs = append(theirs, fmt.Sprintf("::%s file=%s,line=%s,title=%s::%s", level, parts["file"], a.Properties["line"], parts["title"], data))
	}
	if strings.Join(ours, "") != strings.Join(theirs, "") || len(ours) != 9 {
		t.Errorf("ours\n%s\ntheirs\n%s", strings.Join(ours, ""), strings.Join(theirs, ""))
	}
}
