package export

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A template is the name of tars with a verb for their number: "train-%06d.tar".
type template struct {
	dir          string // directory of the tars
	whole        string // the template as the user named it
	before, last string // parts of the name before and after the number
	width        int    // least number of digits, filled with zeros; -1: the template has no number
}

// tarSuffix is the end of all names of tars: another one would suggest a shard, or compression.
const tarSuffix = ".tar"

// verb matches the verb for the number.
var verb = text.Pattern(`%(0?[0-9]*)d`)

func parseTemplate(name string) (t template, err error) {
	t.dir, t.whole = filepath.Dir(name), name
	base := filepath.Base(name)
	if !strings.HasSuffix(name, tarSuffix) || base == tarSuffix {
		return t, place.Options("%s: want the name of a tar, such as train-%%06d.tar", name)
	}
	if strings.Contains(t.dir, "%") && verb().MatchString(t.dir) {
		return t, place.Options("%s: the number of a tar belongs into its name, not into a directory", name)
	}
	at := verb().FindAllStringSubmatchIndex(base, -1)
	t.before, t.width = base, -1
	switch {
	case len(at) > 1:
		return t, place.Options("%s: want one %%d, it has %d", name, len(at))
	case len(at) == 1:
		digits := base[at[0][2]:at[0][3]]
		t.before, t.last = base[:at[0][0]], base[at[0][1]:]
		if t.width, err = strconv.Atoi("0" + digits); err != nil || t.width > 20 || digits != "" && digits[0] != '0' {
			return t, place.Options("%s: want %%d or a number of digits with zeros, such as %%06d", name)
		}
	}
	if strings.Contains(t.before+t.last, "%") {
		return t, place.Options("%s: want %%d, such as %%06d, and no other %%", name)
	}
	if strings.HasPrefix(t.before, ".") {
		return t, place.Options("%s: the name of a tar does not begin with a dot", name)
	}
	return t, nil
}

// names returns the names of n tars in the directory. Sorting them as strings gives the order of the tars.
func (t *template) names(n int) ([]string, error) {
	if t.width < 0 {
		if n > 1 {
			return nil, place.Options("%s: the samples make %d tars, and the name has no place for a number: want %%06d in it, or option shards 1", t.whole, n)
		}
		return []string{t.before}, nil
	}
	digits := len(strconv.Itoa(n - 1))
	if t.width > 0 && digits > t.width {
		return nil, place.Options("%s: the samples make %d tars, whose numbers need %%0%dd", t.whole, n, digits)
	}
	width := max(t.width, digits)
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s%0*d%s", t.before, width, i, t.last)
	}
	return names, nil
}

// pattern returns a pattern, for the source format tar, that matches n tars.
func (t *template) pattern(n int) string {
	if t.width < 0 {
		return t.before
	}
	width := max(t.width, len(strconv.Itoa(n-1)))
	if n == 1 {
		return fmt.Sprintf("%s%0*d%s", t.before, width, 0, t.last)
	}
	return fmt.Sprintf("%s{%0*d..%0*d}%s", t.before, width, 0, width, n-1, t.last)
}

// again returns the command of a manifest, which names the tars next to it, with their directory.
func (t *template) again(m *Manifest) string {
	tars := t.pattern(len(m.Files))
	return strings.Replace(m.Again, quoted(tars), quoted(filepath.Join(t.dir, tars)), 1)
}

// manifest returns the name of the manifest next to the tars: train-%06d.tar has train.export.json.
func (t *template) manifest() string {
	stem := t.before
	if t.width < 0 {
		stem = strings.TrimSuffix(stem, tarSuffix)
	}
	if stem = strings.Trim(stem, "-_. "); stem == "" {
		return "export.json"
	}
	return stem + ".export.json"
}
