package browse

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A Query selects samples. All conditions that are set must hold. The zero value selects all samples.
type Query struct {
	Where  string // an expression, see [choose.CheckWhere]; size is the size of the record
	Shard  string // name of its shard, without directories
	Source string // name of its source part
}

// longestWhere limits an expression in a URL, in bytes: it may be a regular expression that runs for each sample.
const longestWhere = 4096

// parseQuery reads a query from the parameters where, shard and source, and ignores others. Errors are one line, for people.
func parseQuery(v url.Values) (Query, error) {
	q := Query{strings.TrimSpace(v.Get("where")), v.Get("shard"), v.Get("source")}
	if len(q.Where) > longestWhere {
		return Query{}, fmt.Errorf("where: it has %d bytes, %d at most are taken", len(q.Where), longestWhere)
	}
	if err := choose.CheckWhere(q.Where); err != nil {
		return Query{}, fmt.Errorf("where %s: %s", text.Line(q.Where), text.Line(err.Error()))
	}
	return q, nil
}

// Values returns the URL parameters of the query, for parseQuery. Empty conditions are omitted.
func (q Query) Values() url.Values {
	v := make(url.Values)
	for name, text := range map[string]string{"where": q.Where, "shard": q.Shard, "source": q.Source} {
		if text != "" {
			v.Set(name, text)
		}
	}
	return v
}

// whereClass returns an expression for the samples of a class, by its name if expressions support the name.
func whereClass(label int64, name string) string {
	quote := ""
	switch {
	case name == "" || text.Line(name) != name || strings.Contains(name, "'") && strings.Contains(name, `"`):
		return "label=" + strconv.FormatInt(label, 10)
	case strings.Contains(name, "'"):
		quote = `"`
	case strings.ContainsFunc(name, unicode.IsSpace) || strings.ContainsAny(name[:1], `"=<>~`):
		quote = "'"
	}
	return "class=" + quote + name + quote
}

// whereField returns an expression for the samples with a field; "" if expressions do not support the name.
func whereField(name string) string {
	if name == "" || strings.ContainsFunc(name, unicode.IsSpace) || strings.ContainsAny(name, "=!<>~") || strings.ContainsAny(name[:1], `'"`) {
		return ""
	}
	return name + ".size>=0"
}
