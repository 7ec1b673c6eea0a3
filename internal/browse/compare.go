package browse

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/text"
)

const mostDifferences = 1000 // listed on a page

// A comparison is the differences between two datasets.
type comparison struct {
	How     lookup.CompareOptions
	Totals  lookup.Compared
	Listed  map[string][]difference
	Classes []twoCounts
	Fields  []twoCounts
}

// A difference is a sample that differs. A number is -1 if the dataset does not have the sample.
type difference struct {
	Key  string
	A, B int64
}

// twoCounts is a count of each dataset.
type twoCounts struct {
	Name string
	A, B int64
}

// kindTitle returns the heading for a kind of differences.
func kindTitle(k string) string {
	switch k {
	case "added":
		return "In the second alone"
	case "removed":
		return "In the first alone"
	}
	return "Changed"
}

// comparePage compares the two datasets in the URL.
func comparePage(q *request) error {
	if len(q.sets) < 2 {
		return notFound("Two datasets are compared: ffconvert browse A B.")
	}
	numbers := [2]int{0, 1}
	for i, name := range []string{"a", "b"} {
		if word := q.r.URL.Query().Get(name); word != "" {
			n, err := strconv.Atoi(word)
			if err != nil || n < 0 || n >= len(q.sets) {
				return notFound("There is no such dataset.")
			}
			numbers[i] = n
		}
	}
	a, b := q.sets[numbers[0]], q.sets[numbers[1]]
	j := q.jobs.start(&job{Name: fmt.Sprintf("compare-%d-%d", a.Number, b.Number), say: sayCompared}, false, func(ctx context.Context, j *job) (any, error) {
		return compareSets(ctx, a, b, j)
	})
	data := struct {
		A, B   *set
		Job    *job
		Result *comparison
		Kinds  []string
		Most   int
	}{A: a, B: b, Job: j, Kinds: []string{"removed", "added", "changed"}, Most: mostDifferences}
	if j.await(surveyWait) && j.err == nil {
		data.Job, data.Result = nil, j.result.(*comparison)
	}
	return q.render(http.StatusOK, "compare", page{Tab: "compare", Title: "Compare " + text.Line(a.Name) + " and " + text.Line(b.Name), Data: data})
}

func sayCompared(done, total int64, d time.Duration) string {
	if done < total {
		return saySamples(done, total, d)
	}
	return "comparing " + counted(total, "sample")
}

// compareSets surveys both datasets and compares their samples.
func compareSets(ctx context.Context, a, b *set, j *job) (*comparison, error) {
	c := &comparison{Listed: make(map[string][]difference)}
	sa, err := countSamples(ctx, a.data.Fork(), a.meta.Classes, func(done int64) { j.moved(done, a.Len+b.Len) })
	if err != nil {
		return nil, err
	}
	sb, err := countSamples(ctx, b.data.Fork(), b.meta.Classes, func(done int64) { j.moved(a.Len+done, a.Len+b.Len) })
	if err != nil {
		return nil, err
	}
	c.Classes = pair(classCounts(sa), classCounts(sb))
	c.Fields = pair(fieldNames(a), fieldNames(b))
	if c.How, err = how(a.data, b.data); err != nil {
		return nil, err
	}
	c.Totals, err = lookup.Compare(ctx, a.data.Fork(), b.data.Fork(), c.How, func(d lookup.Difference) error {
		if kind := d.Change(); len(c.Listed[kind]) < mostDifferences {
			c.Listed[kind] = append(c.Listed[kind], differs(d))
		}
		return ctx.Err()
	})
	return c, err
}

// how returns the default comparison of ffconvert diff for two datasets.
func how(a, b *lookup.Dataset) (lookup.CompareOptions, error) {
	var opts lookup.CompareOptions
	for _, d := range []*lookup.Dataset{a, b} {
		keyed, err := d.Fork().Keyed()
		if err != nil {
			return opts, err
		}
		opts.ByNumber = opts.ByNumber || !keyed
	}
	x, y := a.Encodings(), b.Encodings()
	opts.Decode = min(len(x), len(y)) > 0 && !slices.Equal(x, y)
	return opts, nil
}

func differs(d lookup.Difference) difference {
	x := difference{A: -1, B: -1}
	for _, side := range []struct {
		r *lookup.Row
		n *int64
	}{{d.A, &x.A}, {d.B, &x.B}} {
		if side.r == nil {
			continue
		}
		*side.n = side.r.Number
		if side.r.Key != "" {
			x.Key = strings.Clone(shown(side.r.Key)) // clipped: there may be thousands
		}
	}
	return x
}

func classCounts(s *survey) []twoCounts {
	var all []twoCounts
	for _, c := range s.Classes {
		all = append(all, twoCounts{Name: classLabel(c), A: c.Count})
	}
	return all
}

func fieldNames(x *set) []twoCounts {
	var all []twoCounts
	for _, f := range x.meta.Fields {
		all = append(all, twoCounts{Name: f.Name, A: f.Samples})
	}
	return all
}

// pair joins counts by name: the names of a in order, then the names that only b has.
func pair(a, b []twoCounts) []twoCounts {
	at := make(map[string]int)
	var all []twoCounts
	for _, c := range a {
		at[c.Name] = len(all)
		all = append(all, c)
	}
	for _, c := range b {
		i, ok := at[c.Name]
		if !ok {
			i = len(all)
			all = append(all, twoCounts{Name: c.Name})
		}
		all[i].B = c.A
	}
	return all
}
