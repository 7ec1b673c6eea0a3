package bucket

import (
	"context"
	"iter"
	"strings"

	"github.com/ffconvert/ffconvert/internal/store"
)

// A queried store adds a query to the URLs of all objects: the token of a container, or the provider of an ais: bucket. It
// is for reading.
type queried struct {
	store.Store
	query string
}

// withQuery splits the query off the URL of a dataset. The store adds it to the URL of each file.
func withQuery(url string, s store.Store) (string, store.Store) {
	rest, _ := store.SplitProvider(url)
	if scheme, _, _ := strings.Cut(url, ":"); strings.HasPrefix(strings.ToLower(scheme), "http") {
		url, _, _ = strings.Cut(url, "#")
		rest, _, _ = strings.Cut(url, "?")
	}
	if rest == url {
		return url, s
	}
	return rest, queried{s, url[len(rest):]}
}

func (q queried) Stat(ctx context.Context, url string) (store.Object, error) {
	o, err := q.Store.Stat(ctx, url+q.query)
	o.URL = url
	return o, err
}

func (q queried) List(ctx context.Context, prefix string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		for o, err := range q.Store.List(ctx, prefix+q.query) {
			o.URL = strings.TrimSuffix(o.URL, q.query)
			if !yield(o, err) {
				return
			}
		}
	}
}

func (q queried) Read(ctx context.Context, o store.Object, p []byte, off int64) error {
	o.URL += q.query
	return q.Store.Read(ctx, o, p, off)
}

func (q queried) Fetch(ctx context.Context, o store.Object, into store.File, progress func(n int64)) error {
	o.URL += q.query
	return q.Store.Fetch(ctx, o, into, progress)
}
