package findings

import (
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/text"
)

// nastyMarkdown are names that mean something in Markdown or HTML.
var nastyMarkdown = []string{
	"`", "``", "```", "a`b``c", "` `", "`</code><img src=x onerror=alert(1)>", "x` <script>alert(1)</script> `y", "```\n# head\n```",
	"|", `\|`, `\\|`, "a | b | c |", "\n| a | b |\n| - | - |", "**bold** _it_ ~~no~~", "# head", "- item", "1. item", "> quote", "---",
	"[x](javascript:alert(1))", "![x](https://example.com/x.png)", "[x]: https://example.com", "<https://example.com>", "https://example.com", "www.example.com",
	"me@example.com", "@everyone", "#1", "GH-1", "&lt;b&gt;", "&#60;b&#62;", "<!--", "<details>", "<b>", "$x$", "$`x`$", ":tada:", "[^1]", "\t", `\`, `\\`, "`\\`", "==x==",
}

// rendered is what GitHub's own renderer makes of a document: the names of its elements, and the texts of its code spans.
func rendered(t *testing.T, document []byte) (elements map[string]int, code []string, paragraphs string) {
	t.Helper()
	cmd := exec.Command(need.Tool(t, "cmark-gfm"), "--unsafe", "-e", "table", "-e", "autolink", "-e", "strikethrough", "-e", "tasklist", "-e", "footnotes")
	cmd.Stdin = bytes.NewReader(document)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	elements = make(map[string]int)
	var all strings.Builder
	for n := range root.Descendants() {
		switch {
		case n.Type == html.ElementNode:
			elements[n.Data]++
			if n.Data == "code" {
				if n.FirstChild == nil || n.FirstChild != n.LastChild {
					t.Errorf("a code span without text alone: %s", out)
					continue
				}
				code = append(code, n.FirstChild.Data)
			}
		case n.Type == html.CommentNode:
			elements["comment"]++
		case n.Type == html.TextNode && n.Parent.Data != "code":
			all.WriteString(n.Data)
		}
	}
	return elements, code, all.String()
}

// No name becomes an element, breaks the table, or is changed.
func TestMarkdownIsInert(t *testing.T) {
	t.Parallel()
	r := &Report{Tool: "ffconvert check", Rules: rulesOfTest}
	want := []string{"ffconvert check"}
	for _, s := range slices.Concat(nasty, nastyMarkdown) {
		f := Finding{Rule: "truncated", Place: Place{s, 1, s}, Text: s, Hint: s}
		r.Files = append(r.Files, File{Name: s})
		r.Add(f)
		want = append(want, "truncated", clip(text.Line(f.located()), maxItem))
	}
	elements, code, _ := rendered(t, write(t, "markdown", r))
	if !slices.Equal(code, want) {
		for i := range min(len(code), len(want)) {
			if code[i] != want[i] {
				t.Errorf("code span %d is\n%q, want\n%q", i, code[i], want[i])
			}
		}
		t.Errorf("%d code spans, want %d", len(code), len(want))
	}
	n := len(r.Found)
	wantElements := map[string]int{"html": 1, "head": 1, "body": 1, "h3": 1, "table": 1, "thead": 1, "tbody": 1, "tr": 2, "th": 7, "td": 7, "ul": 1,
		"li": n, "strong": n, "code": 2*n + 1}
	if fmt.Sprint(elements) != fmt.Sprint(wantElements) {
		t.Errorf("elements %v\nwant     %v", elements, wantElements)
	}
}

// The renderer of the test would show an injection.
func TestMarkdownRendererSeesElements(t *testing.T) {
	t.Parallel()
	for document, element := range map[string]string{"https://example.com": "a", "<script>x</script>": "script", "<!-- x -->": "comment", "![x](y)": "img"} {
		if elements, _, _ := rendered(t, []byte(document)); elements[element] != 1 {
			t.Errorf("%q: %v", document, elements)
		}
	}
}

// A code span of one name alone gives the name back.
func TestCodeSpan(t *testing.T) {
	t.Parallel()
	var document strings.Builder
	var want []string
	for _, s := range slices.Concat(nasty, nastyMarkdown) {
		document.WriteString("- **x** " + codeSpan(s) + "\n")
		want = append(want, clip(text.Line(s), maxItem))
	}
	if _, code, _ := rendered(t, []byte(document.String())); !slices.Equal(code, want) {
		t.Errorf("%q\nwant\n%q", code, want)
	}
}

// The largest summary is one that GitHub takes: less than 1 MiB.
func TestMarkdownIsBounded(t *testing.T) {
	t.Parallel()
	r := &Report{Tool: "ffconvert", Rules: rulesOfTest}
	long := Place{strings.Repeat("`", 5000), 1, strings.Repeat("x", 60000)}
	for range maxKept + 1 {
		for _, rule := range rulesOfTest {
			r.Add(Finding{Rule: rule.ID, Place: long, Text: "y"})
		}
	}
	document := write(t, "markdown", r)
	if len(document) > 1<<20 || strings.Count(string(document), "\n- **") != 3*(maxItems+1) || !strings.Contains(string(document), "- **note** and 7,901 more\n") {
		t.Errorf("%d bytes, the end is %q", len(document), document[len(document)-100:])
	}
}
