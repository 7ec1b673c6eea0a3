package browse

import (
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/browse/internal/find"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// home leads to the one dataset, or lists all.
func home(q *request) error {
	if len(q.sets) == 1 {
		http.Redirect(q.w, q.r, q.sets[0].link("", nil), http.StatusSeeOther)
		return nil
	}
	return q.render(http.StatusOK, "home", page{Title: "Datasets"})
}

// A verdict is what is known of a dataset as a whole.
type verdict struct {
	Manifest *dataset.Manifest // nil: none
	Facts    []fact
	Balance  []balance
	Fields   []fieldCount
	Damaged  string // meta.json: why it could not be read
	Check    *check // the last verification by this server; nil: none
}

// A fact is a line of a list of facts.
type fact struct{ Name, Value string }

// A balance is one line of the account: all that was found is kept or not. Kept samples and fields are written; kept entries
// are in samples, which may be left out in turn.
type balance struct {
	What         string // "entries"
	Found        int64
	Kept, Others int64
	Word         string // of Others: "skipped"
	Why          []reason
}

type reason struct {
	Text string
	N    int64
}

// A fieldCount says how many samples have a field, by the conversion's count of the source.
type fieldCount struct {
	Name    string
	Samples int64
	Lack    int64  // samples without it; -1: not known
	Where   string // an expression for the samples that have it; "": records may not have it
}

// Running reports whether a verification is under way.
func (v verdict) Running() bool { return v.Check != nil && !v.Check.Over() }

func verdictPage(q *request, x *set) error {
	v := verdict{Manifest: x.manifest, Facts: x.facts(), Fields: x.fieldCounts()}
	if x.manifest != nil {
		v.Balance = balances(&x.manifest.Totals)
	}
	if x.metaErr != nil {
		v.Damaged = text.Line(x.metaErr.Error())
	}
	if j := q.jobs.get(verifyName(x)); j != nil {
		v.Check = x.checkOf(j)
	}
	return q.render(http.StatusOK, "verdict", page{Set: x, Tab: "verdict", Title: text.Line(x.Name), Data: v})
}

// facts lists what the manifest and the shards say.
func (x *set) facts() []fact {
	all := []fact{{"Path", text.Line(x.Path)}}
	add := func(name, value string) {
		if value != "" {
			all = append(all, fact{name, text.Line(value)})
		}
	}
	files := x.data.Files()
	add("Samples", counted(x.Len(), "sample")+" in "+counted(int64(len(files)), "shard"))
	add("Records", strings.Join(x.data.Encodings(), ", "))
	m := x.manifest
	if m == nil {
		return all
	}
	add("Size", sizes(m))
	add("Made by", m.Tool+" from "+m.Source.Format)
	add("Finished", m.Created.Format("2006-01-02 15:04:05 UTC"))
	add("Options", optionText(m.Source.Options))
	add("Filter", m.Source.Filter)
	if m.Choice != nil {
		add("Chosen by", m.Choice.String())
	}
	if m.Shuffle != nil {
		add("Order", fmt.Sprintf("shuffled with seed %d", m.Shuffle.Seed))
	}
	add("Plan", "SHA-256 "+m.PlanDigest)
	return all
}

// sizes says how large the shards are.
func sizes(m *dataset.Manifest) string {
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

func optionText(options map[string]string) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		all = append(all, "--"+name+" "+options[name])
	}
	return strings.Join(all, ", ")
}

// balances is the account of a conversion.
func balances(t *dataset.Totals) []balance {
	all := []balance{
		{"entries", t.EntriesRead, t.EntriesRead - t.EntriesSkipped, t.EntriesSkipped, "skipped", reasons(t.Skipped, "")},
		{"samples", t.SamplesFound, t.SamplesWritten, t.SamplesLeftOut, "left out", reasons(t.LeftOutBy, "--")},
		{"fields", t.FieldsFound, t.FieldsWritten, t.FieldsLeftOut, "left out", nil},
	}
	if t.FilterRead > 0 {
		all = append(all, balance{"samples given to the filter", t.FilterRead, t.FilterRead - t.FilterDropped, t.FilterDropped, "dropped", []reason{{"added by it beyond these", t.FilterAdded}}})
	}
	if len(t.Accepted) > 0 {
		all[0].Why = append(all[0].Why, reasons(t.Accepted, "accepted: ")...)
	}
	return all
}

func reasons(counts map[string]int64, prefix string) []reason {
	var all []reason
	for _, why := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, reason{text.Line(prefix + why), counts[why]})
	}
	return all
}

func (x *set) fieldCounts() []fieldCount {
	var all []fieldCount
	for _, f := range x.meta.Fields {
		c := fieldCount{Name: f.Name, Samples: f.Samples, Lack: -1}
		if slices.Contains(x.fields, f.Name) {
			c.Where = find.WhereField(f.Name)
		}
		if x.manifest != nil && x.manifest.Choice == nil && x.manifest.Totals.SamplesFound >= f.Samples {
			c.Lack = x.manifest.Totals.SamplesFound - f.Samples
		}
		all = append(all, c)
	}
	return all
}

// A shownPart is a row of the page of source parts.
type shownPart struct {
	plan.Part
	Number int
}

const partsAtOnce = 500

// partsPage lists the source parts.
func partsPage(q *request, x *set) error {
	all, err := x.parts()
	if err != nil {
		return err
	}
	from, err := q.from(int64(len(all)))
	if err != nil {
		return err
	}
	data := struct {
		Parts             []shownPart
		From, Next, Total int64
		Before            int64
	}{From: from, Total: int64(len(all)), Before: max(0, from-partsAtOnce)}
	for i := from; i < min(from+partsAtOnce, data.Total); i++ {
		data.Parts = append(data.Parts, shownPart{all[i], int(i)})
	}
	data.Next = from + int64(len(data.Parts))
	return q.render(http.StatusOK, "sources", page{Set: x, Tab: "parts", Title: "Source parts of " + text.Line(x.Name), Data: data})
}

// starts returns the number of the first sample of each shard, by the name of its file.
func (x *set) starts() map[string]int64 {
	all, n := make(map[string]int64), int64(0)
	for _, f := range x.data.Files() {
		all[filepath.Base(f.Path)] = n
		n += f.Samples
	}
	return all
}
