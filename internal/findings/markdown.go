package findings

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/internal/text"
)

// GitHub accepts a job summary of 1 MiB per step. 100 findings for each of three levels, with messages of maxItem
// bytes, are smaller.
const (
	maxItems = 100
	maxItem  = 1000
)

// writeMarkdown writes a heading, the scope, a table of totals and a list of findings, in GitHub's Markdown. Names and
// messages are code spans, in which GitHub recognises no markup, link, mention or HTML; the table has only numbers.
func writeMarkdown(w io.Writer, r *Report) error {
	var samples, size int64
	for _, f := range r.Files {
		samples += f.Samples
		size += f.Bytes
	}
	failed := r.Count(Error)
	verdict := cmp.Or(r.Verdict, "sound")
	if failed > 0 {
		verdict = text.Count(failed, "error")
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "### %s: %s\n\n", codeSpan(r.Tool), verdict)
	if r.Scope != "" {
		fmt.Fprintf(b, "%s\n\n", codeSpan(r.Scope))
	}
	fmt.Fprintf(b, "| %ss | samples | size | seconds | errors | warnings | notes |\n", cmp.Or(r.Unit, "file"))
	fmt.Fprintln(b, "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	fmt.Fprintf(b, "| %s | %s | %s | %.1f | %s | %s | %s |\n", humanize.Comma(int64(len(r.Files))), humanize.Comma(samples), humanize.Bytes(uint64(max(0, size))),
		r.Seconds, humanize.Comma(failed), humanize.Comma(r.Count(Warning)), humanize.Comma(r.Count(Note)))
	if len(r.Found) > 0 {
		fmt.Fprintln(b)
	}
	for _, l := range levels {
		more := r.list(l.Level, maxItems, func(f *Finding) {
			fmt.Fprintf(b, "- **%s** %s %s\n", l.Level, codeSpan(f.Rule), codeSpan(f.located()))
		})
		if more > 0 {
			fmt.Fprintf(b, "- **%s** and %s more\n", l.Level, humanize.Comma(more))
		}
	}
	return b.Flush()
}

// codeSpan returns a text as a code span: on one line, at most maxItem bytes. Its fence is longer than
// any run of backticks in the text.
func codeSpan(s string) string {
	s = clip(text.Line(s), maxItem)
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	// Markdown removes one space at each end, unless there is nothing else.
	if s == "" || s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' || s[len(s)-1] == ' ' {
		s = " " + s + " "
	}
	return fence + s + fence
}
