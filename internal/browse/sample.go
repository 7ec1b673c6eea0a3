package browse

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sync/semaphore"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/browse/view"
	"github.com/ffconvert/ffconvert/internal/text"
)

// decode returns the fields of a record. If its encoding is unknown there is one field, with all bytes.
func (x *set) decode(d *lookup.Dataset, r *lookup.Row, data []byte) (*converters.Sample, error) {
	s, err := d.Decode(r, data)
	if errors.Is(err, lookup.ErrNoFields) {
		return &converters.Sample{Key: r.Key, Fields: []converters.Field{{Name: decode.RawField, Value: converters.Bytes(data)}}}, nil
	}
	return s, err
}

// read calls use with the record of sample n, within the memory limit of room. damage is an error of the record; data
// is nil if the record is too large.
func (q *request) read(x *set, n int64, room *semaphore.Weighted, use func(d *lookup.Dataset, r *lookup.Row, data []byte, damage error) error) error {
	d := x.data.Fork()
	r, err := d.Row(n, true)
	if err != nil { // an error of the index: the record may be valid
		var again error
		if r, again = d.Row(n, false); again != nil {
			return err
		}
	}
	damage := err
	records := d.Records()
	defer records.Close()
	if err := records.Locate(q.ctx(), r); err != nil {
		return use(d, r, nil, errors.Join(damage, err))
	}
	if r.At.Size > MaxRecord {
		return use(d, r, nil, errors.Join(damage, records.Copy(q.ctx(), io.Discard, r)))
	}
	if err := room.Acquire(q.ctx(), r.At.Size); err != nil {
		return err
	}
	defer room.Release(r.At.Size)
	data, err := records.Read(q.ctx(), r)
	return use(d, r, data, errors.Join(damage, err))
}

// A sample is the data of a sample's page.
type sample struct {
	lookup.Row
	Shard  string
	InIt   int64 // number within the shard
	Class  string
	Part   string // source part; "": unknown
	Fields []view.Field
	More   int            // number of fields that are not shown
	Hex    []view.HexLine // bytes of a record without fields
	Large  bool           // the record is too large to show
	Damage string
	Values url.Values // the query of the previous page
	Before int64      // the previous sample of the query; -1: none
	Next   int64
}

const hexBytes = 4096 // of a record shown as bytes

func samplePage(q *request, x *set, n int64) error {
	query, err := parseQuery(q.r.URL.Query())
	if err != nil {
		return refused(err.Error())
	}
	s := sample{Values: query.Values()}
	err = q.read(x, n, q.held, func(d *lookup.Dataset, r *lookup.Row, data []byte, damage error) error {
		s.Row = *r
		s.fill(x, d, data, damage)
		s.Row.Key = strings.Clone(s.Row.Key)
		return nil
	})
	if err != nil {
		return err
	}
	s.Before, s.Next = q.neighbours(x, query, n)
	return q.render(http.StatusOK, "sample", page{Set: x, Tab: "grid", Title: rowName(&s.Row) + " of " + text.Line(x.Name), Data: &s})
}

// fill sets the data of the record.
func (s *sample) fill(x *set, d *lookup.Dataset, data []byte, damage error) {
	s.Shard = filepath.Base(s.Row.Shard)
	s.InIt = s.Number - x.first[s.Shard]
	if s.Labeled {
		s.Class = x.class(s.Label)
	}
	if s.Source >= 0 {
		if parts, err := x.search.Sources(); err == nil && s.Source < len(parts) {
			s.Part = parts[s.Source].Name
			if parts[s.Source].Names != "" { // the part is many files: the offset is not within one
				s.SourceOff = -1
			}
		}
	}
	s.Large = data == nil && s.Placed && s.At.Size > MaxRecord
	decoded, err := (*converters.Sample)(nil), error(nil)
	if data != nil {
		if decoded, err = x.decode(d, &s.Row, data); err != nil {
			damage = errors.Join(damage, err)
		}
	}
	if damage != nil {
		s.Damage = lines(damage)
	}
	if decoded == nil {
		s.Hex = view.Hex(data, hexBytes)
		return
	}
	s.Row.Key = cmp.Or(s.Row.Key, decoded.Key)
	s.Fields = view.Fields(decoded)
	s.More = len(decoded.Fields) - len(s.Fields)
}

// lines joins the texts of errors with semicolons.
func lines(err error) string {
	return shown(option().ReplaceAllString(strings.ReplaceAll(err.Error(), "\n", "; "), "--$1"))
}

// option matches an option of a library; the command's flag has the same name.
var option = text.Pattern(`\boption ([a-z])`)

// neighbours returns the previous and the next sample of a query before and after n, -1 if none is found in time.
func (q *request) neighbours(x *set, query Query, n int64) (before, next int64) {
	if query == (Query{}) {
		next = n + 1
		if next == x.Len {
			next = -1
		}
		return n - 1, next
	}
	next = -1
	if found, err := x.search.page(q.ctx(), query, n+1, 1, searchTime); err == nil && len(found.Rows) > 0 {
		next = found.Rows[0].Number
	}
	if before, err := x.search.before(q.ctx(), query, n, searchTime); err == nil {
		return before, next
	}
	return -1, next
}

// findSample redirects to the sample with a key, or a number.
func findSample(q *request, x *set) error {
	var err error
	key := q.r.URL.Query().Get("key")
	n := int64(-1)
	if number, ok := strings.CutPrefix(key, "#"); ok {
		if n, err = strconv.ParseInt(number, 10, 64); err != nil || n < 0 || n >= x.Len {
			n = -1
		}
	}
	d := x.data.Fork()
	if n < 0 && !x.Keyed() {
		return notFound(fmt.Sprintf("%s has no index of keys: name a sample by its number, #0 to #%d.", shown(x.Name), x.Len-1))
	}
	if n < 0 {
		for r, err := range d.Find(q.ctx(), key, false) {
			if err != nil {
				return err
			}
			n = r.Number
			break
		}
	}
	if n < 0 {
		near, err := d.Near(q.ctx(), key)
		if err != nil {
			return err
		}
		text := fmt.Sprintf("No sample of %s has the key %q.", shown(x.Name), shown(key))
		if near != "" {
			text += fmt.Sprintf(" Did you mean %q?", shown(near))
		}
		return notFound(text)
	}
	http.Redirect(q.w, q.r, x.link("sample/"+strconv.FormatInt(n, 10), nil), http.StatusSeeOther)
	return nil
}
