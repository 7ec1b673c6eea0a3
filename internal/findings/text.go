package findings

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/internal/text"
)

func writeText(w io.Writer, r *Report) error {
	b := bufio.NewWriter(w)
	for i := range r.Found {
		f := &r.Found[i]
		fmt.Fprintf(b, "%s: ", r.rule(f).Level)
		if f.File != "" {
			fmt.Fprintf(b, "%s: ", name(f.File))
		}
		fmt.Fprintf(b, "%s [%s]\n", f.message(), text.Line(f.Rule))
	}
	fmt.Fprintln(b, r.totals())
	return b.Flush()
}

// message returns a finding on one line, without level, file and rule.
func (f *Finding) message() string {
	var b strings.Builder
	if f.Offset >= 0 {
		fmt.Fprintf(&b, "offset %d: ", f.Offset)
	}
	if f.Entry != "" {
		fmt.Fprintf(&b, "%q: ", f.Entry)
	}
	b.WriteString(text.Line(f.Text))
	if f.Count > 1 {
		fmt.Fprintf(&b, "; %d times", f.Count)
	}
	if f.Hint != "" {
		fmt.Fprintf(&b, " (%s)", text.Line(f.Hint))
	}
	return b.String()
}

// totals returns the last line: 12 files, 120 samples: 1 error, 2 warnings, 0 notes.
func (r *Report) totals() string {
	samples := int64(0)
	for _, f := range r.Files {
		samples += f.Samples
	}
	line := fmt.Sprintf("%s, %s: %s, %s, %s", text.Count(int64(len(r.Files)), cmp.Or(r.Unit, "file")), text.Count(samples, "sample"),
		text.Count(r.Count(Error), "error"), text.Count(r.Count(Warning), "warning"), text.Count(r.Count(Note), "note"))
	if r.More > 0 {
		line += fmt.Sprintf("; %d of them not listed", r.More)
	}
	if r.Scope != "" {
		line += "; " + r.Scope
	}
	return line
}

// allFiles is printed for a finding without a file.
const allFiles = "all files"

// name returns a file name for printing. It quotes a name that could be mistaken for the text
// around it. Different names give different results.
func name(s string) string {
	if s == "" || s[0] == '"' || text.Line(s) != s || strings.TrimSpace(s) != s || strings.Contains(s, ": ") {
		return strconv.Quote(s)
	}
	return s
}

// maxMessage is the longest message in JUnit and SARIF, in bytes. The name of an entry may have 64 KiB, and GitHub
// refuses documents of more than 10 MB (compressed).
const maxMessage = 2000

// clip shortens a message to about limit bytes. It cuts the middle: the place is at the start, the hint at the end.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit/2], "") + "…" + strings.ToValidUTF8(s[len(s)-limit/2:], "")
}
