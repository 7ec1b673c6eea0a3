package browse

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/browse/view"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

const (
	cardsAtOnce = 60
	searchTime  = 400 * time.Millisecond // of one request; the page then requests the samples after these
	cardRecord  = 4 << 20                // bytes of a record that is decoded for its card
	cardRecords = 32 << 20               // total bytes of the records that are decoded for one response
)

// A grid is the page of samples.
type grid struct {
	Query   Query
	Values  url.Values // the query's URL parameters
	Suggest []string   // expressions
	Shards  []string
	Cards   cards
	Command string // makes a dataset of these samples
	Why     string // why Command needs a list of keys
	Some    bool   // the query excludes some samples
	Problem string // why the page has no cards: the query is wrong, or a file is damaged
	Beyond  int64  // the first sample of the shard after the damaged one; 0: none
}

// cards are the cards of some samples.
type cards struct {
	Set    *set
	Values url.Values
	Cards  []card
	From   int64 // the first sample that was examined
	Next   int64 // the first sample that was not
	Total  int64

	Unknown int64  // samples that could not be compared with the query
	Problem string // the reason for the first of them
}

// fromQuery returns a query that starts at sample from.
func fromQuery(values url.Values, from int64) url.Values {
	v := maps.Clone(values)
	if v == nil {
		v = make(url.Values)
	}
	v.Set("from", strconv.FormatInt(from, 10))
	return v
}

// A card is one sample in the grid.
type card struct {
	lookup.Row
	Name    string // its key, or its number
	Class   string
	Shows   view.Card
	Damaged string // why its record cannot be decoded
	Link    string
	Picture string // URL of its thumbnail
}

// rowName names a sample by its key, or its number.
func rowName(r *lookup.Row) string {
	if r.Key == "" {
		return "#" + strconv.FormatInt(r.Number, 10)
	}
	return shown(r.Key)
}

const (
	mostClasses = 2000 // suggested for the filter
	mostShards  = 2000
)

func gridPage(q *request, x *set) error {
	query, c, err := q.search(x)
	status, problem := http.StatusOK, ""
	beyond := int64(0)
	if wrong := (*pageError)(nil); errors.As(err, &wrong) || errors.Is(err, errUnknown) {
		status, problem, err = http.StatusBadRequest, lines(err), nil
	} else if err != nil && place.KindOf(err) != place.None { // an error of the dataset, perhaps of one shard
		status, problem, beyond, err = http.StatusUnprocessableEntity, lines(err), x.nextShard(c.From), nil
	}
	if err != nil {
		return err
	}
	g := grid{Problem: problem, Beyond: beyond, Query: query, Values: query.Values(), Cards: c, Some: query != Query{}}
	g.Suggest, g.Shards = x.suggestions(), x.shardNames()
	if problem == "" {
		g.Command, g.Why = x.search.command(query, x.Path)
	}
	return q.render(status, "grid", page{Set: x, Tab: "grid", Title: "Samples of " + text.Line(x.Name), Data: g})
}

// moreCards responds with only the cards, for a script that adds them to the grid.
func moreCards(q *request, x *set) error {
	_, c, err := q.search(x)
	if err != nil {
		return err
	}
	return q.renderAs(http.StatusOK, "grid", "cards", page{Set: x, Data: c})
}

// search finds the samples of the query in the URL.
func (q *request) search(x *set) (Query, cards, error) {
	c := cards{Set: x, Total: x.Len}
	values := q.r.URL.Query()
	query, err := parseQuery(values)
	if err != nil {
		return query, c, refused(err.Error())
	}
	c.Values = query.Values()
	if c.From, err = q.from(x.Len); err != nil {
		return query, c, err
	}
	found, err := x.search.page(q.ctx(), query, c.From, cardsAtOnce, searchTime)
	if err != nil {
		return query, c, err
	}
	c.Next, c.Unknown = found.Next, found.Unknown
	if found.Problem != nil {
		c.Problem = text.Line(found.Problem.Error())
	}
	c.Cards, err = q.cardsOf(x, found.Rows, c.Values)
	return query, c, err
}

// from returns the parameter from: the first sample of a list.
func (q *request) from(end int64) (int64, error) {
	word := q.r.URL.Query().Get("from")
	if word == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil || n < 0 || n > end {
		return 0, refused(fmt.Sprintf("from must be a number from 0 to %d.", end))
	}
	return n, nil
}

// cardsOf makes the cards of rows. It decodes records up to the limits.
func (q *request) cardsOf(x *set, rows []lookup.Row, values url.Values) ([]card, error) {
	d := x.data.Fork()
	records := d.Records()
	defer records.Close()
	left := int64(cardRecords)
	if err := q.held.Acquire(q.ctx(), MaxRecord); err != nil {
		return nil, err
	}
	defer q.held.Release(MaxRecord)
	var all []card
	var guess view.Kind // the last known kind, assumed for records that are not decoded
	for i := range rows {
		c := card{Row: rows[i], Link: x.link("sample/"+strconv.FormatInt(rows[i].Number, 10), values)}
		if c.Labeled {
			c.Class = x.class(c.Label)
		}
		switch {
		case c.At.Size > min(left, cardRecord) && (guess != "" || c.At.Size > MaxRecord):
			c.Shows.Kind = guess
		default:
			left = max(0, left-c.At.Size)
			x.show(q.ctx(), d, records, &c)
			if c.Damaged == "" {
				guess = c.Shows.Kind
			}
		}
		if c.Shows.Kind == view.KindImage {
			c.Picture = x.link("thumb/"+strconv.FormatInt(c.Number, 10), query("crc", fmt.Sprintf("%08x", c.At.CRC)))
		}
		c.Name = rowName(&c.Row)
		all = append(all, c)
	}
	return all, q.ctx().Err()
}

// show fills a card from the sample's record.
func (x *set) show(ctx context.Context, d *lookup.Dataset, records *lookup.Records, c *card) {
	data, err := records.Read(ctx, &c.Row)
	if err != nil {
		c.Damaged = err.Error()
		return
	}
	s, err := x.decode(d, &c.Row, data)
	if err != nil {
		c.Damaged = err.Error()
		return
	}
	if c.Row.Key == "" {
		c.Row.Key = string(append([]byte(nil), s.Key...))
	}
	c.Shows = view.CardOf(s)
}

// nextShard returns the number of the first sample in the shard after the one with sample n, 0 after the last shard.
func (x *set) nextShard(n int64) int64 {
	first := int64(0)
	for _, f := range x.data.Files() {
		if first > n {
			return first
		}
		first += f.Samples
	}
	return 0
}

// suggestions returns expressions for the classes and fields.
func (x *set) suggestions() []string {
	var all []string
	for i, name := range x.meta.Classes[:min(mostClasses, len(x.meta.Classes))] {
		all = append(all, whereClass(int64(i), name))
	}
	for _, name := range x.fields {
		if where := whereField(name); where != "" {
			all = append(all, where)
		}
	}
	return all
}

func (x *set) shardNames() []string {
	var all []string
	for _, f := range x.data.Files() {
		if len(all) == mostShards {
			break
		}
		all = append(all, filepath.Base(f.Path))
	}
	return all
}
