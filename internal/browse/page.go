package browse

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/verify"
)

//go:embed templates
var templates embed.FS

// pages are the templates, each within the layout, by file name. Parsing takes 4 ms, so only this command does it.
var pages = sync.OnceValue(func() map[string]*template.Template {
	layout := template.Must(template.New("").Funcs(template.FuncMap{
		"name":       shown,
		"comma":      humanize.Comma,
		"bytes":      binary,
		"count":      counted,
		"moment":     func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"int64":      func(n int) int64 { return int64(n) },
		"link":       func(x *set, page string, values url.Values) string { return x.link(page, values) },
		"query":      query,
		"from":       fromQuery,
		"json":       func(v any) (string, error) { b, err := json.Marshal(v); return string(b), err },
		"orders":     func() []string { return classOrders },
		"classLabel": classLabel,
		"kind":       kindTitle,
		"shardSizes": shardSizes,
		"rate":       func(r *verify.Report) string { return humanize.Bytes(uint64(1e6*r.MBPerSecond())) + "/s" },
		"sub":        func(a, b int64) int64 { return a - b },
		"args":       args,
	}).ParseFS(templates, "templates/layout.html", "templates/parts/*.html"))
	files, err := templates.ReadDir("templates")
	if err != nil {
		panic(err)
	}
	all := make(map[string]*template.Template)
	for _, f := range files {
		if name := f.Name(); !f.IsDir() && name != "layout.html" {
			all[strings.TrimSuffix(name, ".html")] = template.Must(template.Must(layout.Clone()).ParseFS(templates, path.Join("templates", name)))
		}
	}
	return all
})

// shownName limits the bytes of a name on a page.
const shownName = 1024

// shown returns a name for a page: unprintable characters are escaped, and a very long name is clipped.
func shown(name string) string {
	if len(name) > shownName {
		return text.Line(strings.ToValidUTF8(name[:shownName], "")) + "… (" + counted(int64(len(name)), "byte") + ")"
	}
	return text.Line(name)
}

func binary(n int64) string { return humanize.IBytes(uint64(max(0, n))) }

func counted(n int64, noun string) string { return humanize.Comma(n) + " " + text.Plural(n, noun) }

// query returns URL parameters from alternating names and values. Empty values are omitted.
func query(pairs ...string) url.Values {
	v := make(url.Values)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	return v
}

// args returns the data for a nested template from alternating names and values.
func args(pairs ...any) map[string]any {
	m := make(map[string]any)
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	return m
}

// A page is the data of the layout around a page.
type page struct {
	Tool  string
	Sets  []*set
	Set   *set   // nil: the page is not about a single dataset
	Tab   string // the page's name in the navigation
	Title string
	Token string // the form token
	Here  string // path and query
	Data  any
}

// render responds with a page. name is the template.
func (q *request) render(status int, name string, p page) error {
	return q.renderAs(status, name, "layout", p)
}

func (q *request) renderAs(status int, name, what string, p page) error {
	p.Tool, p.Sets, p.Token, p.Here = q.opts.Tool, q.sets, q.guard.form, q.r.URL.RequestURI()
	var b bytes.Buffer
	if err := pages()[name].ExecuteTemplate(&b, what, p); err != nil {
		return err
	}
	q.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	q.w.WriteHeader(status)
	_, err := q.w.Write(b.Bytes())
	return gone(err)
}

// A pageError is an error of the request.
type pageError struct {
	status int
	text   string
}

func (e *pageError) Error() string { return e.text }

func notFound(text string) error { return &pageError{http.StatusNotFound, text} }
func refused(text string) error  { return &pageError{http.StatusBadRequest, text} }

// errGone means that the client closed the connection before the response was complete.
var errGone = errors.New("the client is gone")

func gone(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errGone, err)
}

// answer responds to a request by calling do, and shows its error as a page. If do returns an error other than errGone,
// it must not have written anything.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, do func(*request) error) {
	q := &request{s, w.(*writer), r} // wrapped by guard.wrap
	err := do(q)
	if err == nil {
		return
	}
	if errors.Is(err, errGone) || r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // shows the client that the response is incomplete
	}
	var bad *pageError
	status := http.StatusInternalServerError
	switch {
	case errors.As(err, &bad):
		status = bad.status
	case errors.Is(err, lookup.ErrRange):
		status = http.StatusNotFound
	case place.KindOf(err) == place.Refused, place.KindOf(err) == place.Usage:
		status = http.StatusUnprocessableEntity
	case errors.Is(err, context.DeadlineExceeded):
		status = http.StatusServiceUnavailable
	case place.KindOf(err) == 0:
		fmt.Fprintf(s.opts.Log, "%s: %s\n", text.Line(r.URL.Path), text.Line(err.Error()))
	}
	if err := q.render(status, "error", page{Title: http.StatusText(status), Data: lines(err)}); err != nil {
		panic(http.ErrAbortHandler)
	}
}

// local reports whether a URL is a path of this server.
func local(to string) bool {
	u, err := url.Parse(to)
	return err == nil && u.Scheme == "" && u.Host == "" && strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "//") && !strings.Contains(to, `\`)
}
