package find

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/internal/text"
)

// KeysFile is the name of a list of keys in commands.
const KeysFile = "keys.txt"

// Command returns the command that makes a dataset of the samples that q finds, for a shell. path is the dataset, as it
// was opened. exact: the line is all that is needed. Otherwise why says what an expression cannot ask for, and line names
// [KeysFile], which must have been written by [Searcher.Keys]; line is "" if no command makes this dataset.
func (s *Searcher) Command(q Query, path string) (line string, exact bool, why string) {
	f, err := s.filter(q)
	if err != nil {
		return "", false, err.Error()
	}
	if f.first == f.end {
		return "", false, "no sample has the field " + strconv.Quote(q.Field)
	}
	if q.Shard != "" && filepath.Base(path) != q.Shard {
		path = filepath.Join(path, q.Shard)
	}
	if strings.HasPrefix(path, "-") || strings.HasPrefix(path, "@") || strings.Contains(path, "::") {
		path = "./" + path
	}
	words := []string{"ffconvert", "ffr", path, "subset/"}
	where, cannot := f.expression()
	if cannot != "" {
		keyed, err := s.keyed()
		switch {
		case err != nil:
			return "", false, err.Error()
		case !keyed:
			return "", false, cannot + ", and the samples have no keys that a list could name"
		}
		return strings.Join(text.ShellWords(append(words, "--keys", "@"+KeysFile)), " "), false, cannot
	}
	if where != "" {
		words = append(words, "--where", where)
	}
	return strings.Join(text.ShellWords(words), " "), true, ""
}

// expression returns the expression for --where of the filter without its shard, or the reason if none can say it.
func (f *filter) expression() (where, cannot string) {
	var all []string
	add := func(format string, a any) { all = append(all, fmt.Sprintf(format, a)) }
	switch f.labeled {
	case oneLabel:
		add("label=%d", f.label)
	case noLabel:
		return "", "an expression cannot ask for samples without a class"
	}
	switch {
	case f.sources != nil:
		return "", "an expression cannot ask for a source part"
	case f.field != "":
		return "", "an expression cannot ask for a field of records that are copied"
	}
	if f.Prefix != "" {
		if !utf8.ValidString(f.Prefix) || strings.ContainsRune(f.Prefix, utf8.RuneError) {
			return "", "an expression cannot ask for bytes that are not UTF-8"
		}
		add("key~^%s", literal(f.Prefix))
	}
	if f.Min > 0 {
		add("size>=%d", f.Min)
	}
	if f.Max > 0 {
		add("size<=%d", f.Max)
	}
	return strings.Join(all, " and "), ""
}

// literal returns the regular expression of a text, without spaces, quotes and control characters.
func literal(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\'' || r == '"' || r > unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsDigit(r), !unicode.IsGraphic(r), r == ' ':
			fmt.Fprintf(&b, `\x{%x}`, r)
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return b.String()
}
