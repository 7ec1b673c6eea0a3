package browse

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/internal/text"
)

const (
	surveyWait    = 150 * time.Millisecond // before a page shows progress instead of the result
	classesAtOnce = 500
	chartClasses  = 5000 // bars of the chart
)

// surveyed returns the survey of a dataset, which is made once, or nil and the job that makes it.
func (q *request) surveyed(x *set) (*survey, *job) {
	j := q.jobs.start(&job{Name: fmt.Sprintf("survey-%d", x.Number), say: saySamples}, false, func(ctx context.Context, j *job) (any, error) {
		return countSamples(ctx, x.data.Fork(), x.meta.Classes, func(done int64) { j.moved(done, x.Len) })
	})
	if !j.await(surveyWait) || j.err != nil {
		return nil, j
	}
	return j.result.(*survey), nil
}

func saySamples(done, total int64, _ time.Duration) string {
	if total == 0 {
		return "beginning"
	}
	return fmt.Sprintf("%s of %s looked at", humanize.Comma(done), counted(total, "sample"))
}

// classesPage shows the number of samples of each class.
func classesPage(q *request, x *set) error {
	from, err := q.from(1 << 40)
	if err != nil {
		return err
	}
	data := struct {
		Job                       *job
		Survey                    *survey
		Classes                   []classCount
		Most                      int64
		Rare, Empty               int
		Order, Find               string
		From, Before, Next, Total int64
		Chart                     []chartBar
	}{Order: q.r.URL.Query().Get("order"), Find: q.r.URL.Query().Get("name"), From: from, Before: max(0, from-classesAtOnce)}
	data.Survey, data.Job = q.surveyed(x)
	if s := data.Survey; s != nil {
		for _, c := range s.Classes {
			data.Most = max(data.Most, c.Count)
			if c.Count == 0 {
				data.Empty++
			} else if c.Rare {
				data.Rare++
			}
		}
		data.Chart = classBars(x, s)
		all := slices.Clone(s.Classes)
		if data.Find != "" {
			all = slices.DeleteFunc(all, func(c classCount) bool {
				return !strings.Contains(strings.ToLower(classLabel(c)), strings.ToLower(data.Find))
			})
		}
		switch data.Order {
		case "count":
			slices.SortStableFunc(all, func(a, b classCount) int { return cmp.Compare(b.Count, a.Count) })
		case "rare":
			slices.SortStableFunc(all, func(a, b classCount) int { return cmp.Compare(a.Count, b.Count) })
		case "name":
			slices.SortStableFunc(all, func(a, b classCount) int { return cmp.Compare(a.Name, b.Name) })
		default:
			data.Order = "number"
		}
		data.Total = int64(len(all))
		from = min(from, data.Total)
		data.Next = min(from+classesAtOnce, data.Total)
		data.Classes = all[from:data.Next]
	}
	return q.render(http.StatusOK, "classes", page{Set: x, Tab: "classes", Title: "Classes of " + text.Line(x.Name), Data: data})
}

// classOrders are the orders of the list of classes, the default first.
var classOrders = []string{"number", "name", "count", "rare"}

// classLabel returns the name of a class, or its number if it has no name.
func classLabel(c classCount) string {
	return cmp.Or(c.Name, strconv.FormatInt(c.Label, 10))
}

// A chartBar is a bar of a chart, with a link to a page.
type chartBar struct {
	From  float64 `json:"from"` // start on the axis
	To    float64 `json:"to"`
	Count int64   `json:"count"`
	Name  string  `json:"name"`
	Link  string  `json:"link"`
}

func classBars(x *set, s *survey) []chartBar {
	var all []chartBar
	for i, c := range s.Classes[:min(chartClasses, len(s.Classes))] {
		all = append(all, chartBar{float64(i), float64(i + 1), c.Count, text.Line(classLabel(c)), x.link("grid", query("where", x.WhereClass(c.Label)))})
	}
	return all
}

// sizesPage shows the sizes of records and shards.
func sizesPage(q *request, x *set) error {
	data := struct {
		Job        *job
		Survey     *survey
		Chart      []chartBar
		ShardChart []chartBar
		Most       int64
		Shards     []shardSize
		Least      int64
	}{}
	data.Survey, data.Job = q.surveyed(x)
	if s := data.Survey; s != nil {
		for _, b := range s.Sizes {
			// A range that is selected in the chart takes the first comparison of one bar and the second of another.
			where := fmt.Sprintf("size>=%d and size<=%d", b.From, max(b.From, b.To-1))
			data.Chart = append(data.Chart, chartBar{float64(b.From), float64(b.To), b.Count, binary(b.From) + " to " + binary(b.To), x.link("grid", query("where", where))})
		}
		for i, b := range s.Shards {
			data.Most = max(data.Most, b.Bytes)
			if i == 0 || b.Bytes < data.Least {
				data.Least = b.Bytes
			}
			if i < chartClasses {
				data.ShardChart = append(data.ShardChart, chartBar{float64(i), float64(i + 1), b.Bytes, b.Name, x.link("grid", query("shard", b.Name))})
			}
		}
		data.Shards = s.Shards[:min(classesAtOnce, len(s.Shards))]
	}
	return q.render(http.StatusOK, "sizes", page{Set: x, Tab: "sizes", Title: "Sizes of " + text.Line(x.Name), Data: data})
}
