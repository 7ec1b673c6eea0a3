// Package find finds the samples of a dataset that a person asks for: by class, field, size, shard, source part and
// the begin of the key.
//
//	q, err := find.Parse(url.Query())
//	s := find.NewSearcher(dataset, meta)
//	page, err := s.Page(ctx, q, 0, 60, 400*time.Millisecond)
//	line, exact, why := s.Command(q, "out") // the command that makes a dataset of these samples
package find

import (
	"fmt"
	"math"
	"net/url"
	"strconv"

	"github.com/dustin/go-humanize"
)

// A Query says which samples are wanted. All conditions that are set must hold. The zero value wants all samples.
type Query struct {
	Class  string // name or number of a class; "#7" is number 7 even if a class is named 7; "-": samples without a class
	Field  string // name of a field that the sample has
	Shard  string // name of its shard, without directories
	Source string // name of its source part, or "#7", the row of "sources" in the manifest
	Prefix string // of the key
	Min    int64  // least size of the record in bytes
	Max    int64  // largest size of the record in bytes; 0: unlimited
}

const (
	noClass = "-" // Query.Class

	longestWord = 4096 // bytes of a text in a query: a prefix becomes a regular expression
)

// texts are the parameters that are texts.
func (q *Query) texts() map[string]*string {
	return map[string]*string{"class": &q.Class, "field": &q.Field, "shard": &q.Shard, "source": &q.Source, "prefix": &q.Prefix}
}

// Parse reads a query from the parameters class, field, min, max, shard, source and prefix. Sizes may have units, as in
// 16KiB. Other parameters are passed over. Errors are one line, for people.
func Parse(v url.Values) (Query, error) {
	var q Query
	for name, to := range q.texts() {
		*to = v.Get(name)
		if len(*to) > longestWord {
			return Query{}, fmt.Errorf("%s: it has %d bytes, %d at most are taken", name, len(*to), longestWord)
		}
	}
	var err error
	if q.Min, err = parseSize("min", v.Get("min")); err != nil {
		return Query{}, err
	}
	if q.Max, err = parseSize("max", v.Get("max")); err != nil {
		return Query{}, err
	}
	if q.Max > 0 && q.Min > q.Max {
		return Query{}, fmt.Errorf("min: %s is more than max, %s", formatSize(q.Min), formatSize(q.Max))
	}
	return q, nil
}

func parseSize(name, text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 { // exact
		return n, nil
	}
	n, err := humanize.ParseBytes(text)
	if err != nil || n > math.MaxInt64 {
		return 0, fmt.Errorf("%s: %.60q is not a number of bytes, as in 4096 or 16KiB", name, text)
	}
	return int64(n), nil
}

// formatSize returns a size that parseSize reads as the same number.
func formatSize(n int64) string {
	unit := 0
	for unit < 4 && n > 0 && n%1024 == 0 {
		n /= 1024
		unit++
	}
	return strconv.FormatInt(n, 10) + [...]string{"", "KiB", "MiB", "GiB", "TiB"}[unit]
}

// Values returns the parameters of the query, for Parse. What is not set is left out.
func (q Query) Values() url.Values {
	v := make(url.Values)
	for name, text := range q.texts() {
		if *text != "" {
			v.Set(name, *text)
		}
	}
	if q.Min > 0 {
		v.Set("min", formatSize(q.Min))
	}
	if q.Max > 0 {
		v.Set("max", formatSize(q.Max))
	}
	return v
}

// Empty reports whether all samples are wanted.
func (q Query) Empty() bool { return q == Query{} }
