package cliflag

import (
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
)

// withReasons adds to the error of a dataset without samples why its entries were skipped.
func withReasons(e *convert.EmptyError) error {
	var why []string
	if e.LeftOut > 0 {
		why = append(why, "left out "+terminal.Counted(e.LeftOut, "sample")+" without a field, by --missing skip")
	}
	if len(e.NotChosen) > 0 {
		why = append(why, "left out "+terminal.LeftOutText(e.NotChosen))
	}
	rest := make(map[string]int64)
	for reason, n := range e.Skipped {
		rest[reason] = n
	}
	for _, row := range whyEmpty {
		if n := rest[row.reason]; n > 0 {
			why = append(why, terminal.Counted(n, row.noun)+" "+row.text)
			delete(rest, row.reason)
		}
	}
	if len(rest) > 0 {
		why = append(why, "skipped "+terminal.SkippedText(rest))
	}
	if why == nil {
		return e
	}
	return fmt.Errorf("%w: %s", e, strings.Join(why, "; "))
}

// whyEmpty explains reasons of skipping, and what to do about them.
var whyEmpty = []struct{ reason, noun, text string }{
	{"file outside a class", "file", "outside a class, which is a directory of files: --flat makes a record of each file"},
	{"extension not selected", "file", "of other suffixes than --ext selects"},
	{"name without key", "member", "without a key: a name has a dot behind its key, as 0001.jpg has"},
	{"header line", "header", "and no rows"},
}
