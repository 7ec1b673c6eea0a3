package findings

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/ffconvert/ffconvert/internal/text"
)

// maxAnnotations is the number of annotations per level: GitHub shows at most 10 of a level per step.
const maxAnnotations = 10

// writeGitHub writes one workflow command per finding, which GitHub Actions shows as an annotation, then the line of
// totals. A line that begins with "::" is one command, whatever its text. If a level has more than maxAnnotations
// findings, its last annotation counts the rest.
func writeGitHub(w io.Writer, r *Report) error {
	b := bufio.NewWriter(w)
	for _, l := range levels {
		limit := int64(maxAnnotations)
		if r.Count(l.Level) > limit {
			limit--
		}
		more := r.list(l.Level, limit, func(f *Finding) {
			properties := "line=1,"
			if f.File != "" {
				properties = "file=" + githubProperty(path.Clean(filepath.ToSlash(f.File))) + "," + properties
			}
			title := strings.TrimPrefix(r.Tool+": ", ": ") + f.Rule
			fmt.Fprintf(b, "::%s %stitle=%s::%s\n", l.command, properties, githubProperty(title), githubData(clip(f.located(), maxMessage)))
		})
		if more > 0 {
			fmt.Fprintf(b, "::%s title=%s::and %d more, which the format text lists\n", l.command, githubProperty(r.Tool), more)
		}
	}
	fmt.Fprintln(b, githubData(r.totals()))
	return b.Flush()
}

// located returns a finding on one line, with its file: GitHub shows no file for an annotation whose file is not in the
// repository.
func (f *Finding) located() string {
	return name(cmp.Or(f.File, allFiles)) + ": " + f.message()
}

// githubData escapes the message of a workflow command, as @actions/core does; text.Line has escaped
// line breaks.
func githubData(s string) string { return strings.ReplaceAll(text.Line(s), "%", "%25") }

// githubProperty escapes the value of a property of a workflow command.
func githubProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(githubData(s))
}
