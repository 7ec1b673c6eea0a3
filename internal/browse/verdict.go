package browse

import (
	"fmt"
	"net/http"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// home redirects to the only dataset, or lists all.
func home(q *request) error {
	if len(q.sets) == 1 {
		http.Redirect(q.w, q.r, q.sets[0].link("", nil), http.StatusSeeOther)
		return nil
	}
	return q.render(http.StatusOK, "home", page{Title: "Datasets"})
}

func verdictPage(q *request, x *set) error {
	data := struct {
		Manifest *dataset.Manifest // nil: none
		Fields   plan.FieldCounts  // of the source, counted by the conversion
		Damaged  string            // why meta.json could not be read
		Job      *job              // the last verification by this server; nil: none
	}{x.Manifest, x.meta.Fields, text.Line(x.metaErr), q.jobs.get(verifyName(x))}
	return q.render(http.StatusOK, "verdict", page{Set: x, Tab: "verdict", Title: text.Line(x.Name), Data: data})
}

// shardSizes formats the sizes of the shards.
func shardSizes(m *dataset.Manifest) string {
	least, most := m.Shards[0].Bytes, m.Shards[0].Bytes
	for _, s := range m.Shards {
		least, most = min(least, s.Bytes), max(most, s.Bytes)
	}
	all := binary(m.Totals.Bytes)
	if len(m.Shards) == 1 {
		return all
	}
	return fmt.Sprintf("%s; shards of %s to %s", all, binary(least), binary(most))
}

const partsAtOnce = 500

// partsPage lists the source parts.
func partsPage(q *request, x *set) error {
	all, err := x.search.Sources()
	if err != nil {
		return err
	}
	from, err := q.from(int64(len(all)))
	if err != nil {
		return err
	}
	data := struct {
		Parts             []plan.Part
		From, Next, Total int64
		Before            int64
	}{From: from, Total: int64(len(all)), Before: max(0, from-partsAtOnce)}
	data.Next = min(from+partsAtOnce, data.Total)
	data.Parts = all[from:data.Next]
	return q.render(http.StatusOK, "sources", page{Set: x, Tab: "parts", Title: "Source parts of " + text.Line(x.Name), Data: data})
}
