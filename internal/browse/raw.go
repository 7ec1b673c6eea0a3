package browse

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/browse/view"
	"github.com/ffconvert/ffconvert/internal/jsonvalue"
)

// wholeRecord stands for the whole record where URLs have the number of a field.
const wholeRecord = "record"

// rawField responds with the bytes of a field, or of the record. The browser displays a short list of formats,
// recognised by their content; all others are downloads. Bytes that do not match their CRC can only be downloaded.
func rawField(q *request, x *set, n int64) error {
	name := q.r.PathValue("field")
	return q.read(x, n, q.sent, func(d *lookup.Dataset, r *lookup.Row, data []byte, damage error) error {
		if name == wholeRecord && data == nil && damage == nil {
			return q.largeRecord(d, r)
		}
		if data == nil {
			return &pageError{http.StatusUnprocessableEntity, lines(errors.Join(damage, errLarge(r)))}
		}
		if name == wholeRecord {
			return q.file(data, fileName(x, n, "record", damage), "")
		}
		s, err := x.decode(d, r, data)
		if err != nil {
			return err
		}
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= len(s.Fields) {
			return notFound(fmt.Sprintf("Sample #%d has no field number %s.", n, name))
		}
		value, err := valueBytes(&s.Fields[i].Value)
		if err != nil {
			return &pageError{http.StatusUnprocessableEntity, lines(err)}
		}
		kind, inline := view.Media(value)
		if !inline || damage != nil {
			kind = ""
		}
		return q.file(value, fileName(x, n, s.Fields[i].Name, damage), kind)
	})
}

func errLarge(r *lookup.Row) error {
	if !r.Placed || r.At.Size <= MaxRecord {
		return nil
	}
	return fmt.Errorf("the record has %s, at most %s are shown", binary(r.At.Size), binary(MaxRecord))
}

// valueBytes returns bytes and text unchanged, other values as JSON.
func valueBytes(v *converters.Value) ([]byte, error) {
	if v.Kind() <= converters.KindText {
		return v.Data(), nil
	}
	return jsonvalue.Append(nil, v)
}

// fileName returns a name for a download, from characters without special meaning in any file system.
func fileName(x *set, n int64, field string, damage error) string {
	name := fmt.Sprintf("%s-%d-%s", x.Name, n, field)
	if damage != nil {
		name += ".damaged"
	}
	return strings.Map(func(r rune) rune {
		if r < 128 && strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-", r) {
			return r
		}
		return '_'
	}, strings.TrimLeft(name, "."))
}

// save makes the response a download.
func (q *request) save(name string) {
	h := q.w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
}

// file responds with bytes, or the requested range. kind is the content type if a browser may display them.
func (q *request) file(data []byte, name, kind string) error {
	if kind == "" {
		q.save(name)
	} else {
		q.w.Header().Set("Content-Type", kind)
		q.w.Header().Set("Content-Security-Policy", "default-src 'none'; sandbox")
	}
	http.ServeContent(q.w, q.r, "", time.Time{}, bytes.NewReader(data))
	return nil
}

// largeRecord responds with a record that is not held in memory. Its CRC must have been compared.
func (q *request) largeRecord(d *lookup.Dataset, r *lookup.Row) error {
	q.save("record-" + strconv.FormatInt(r.Number, 10))
	q.w.Header().Set("Content-Length", strconv.FormatInt(r.At.Size, 10))
	records := d.Records()
	defer records.Close()
	return gone(records.Copy(q.ctx(), q.w, r))
}

// keysFile responds with the keys of the samples that the query finds, in the format of --keys.
func keysFile(q *request, x *set) error {
	query, err := parseQuery(q.r.URL.Query())
	if err != nil {
		return refused(err.Error())
	}
	q.save("keys.txt")
	q.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if _, err := x.search.keys(q.ctx(), query, q.w); err != nil {
		if q.w.begun {
			return gone(err)
		}
		q.w.Header().Del("Content-Disposition")
		return err
	}
	return nil
}

// thumbnail responds with a small picture of a sample, or with an icon if there is none; the sample's page shows the
// reason.
func thumbnail(q *request, x *set, n int64) error {
	small, kind, err := q.thumbs.Make(q.ctx(), func() (picture []byte, err error) {
		err = q.read(x, n, q.held, func(d *lookup.Dataset, r *lookup.Row, data []byte, damage error) error {
			if damage != nil || data == nil {
				return errors.Join(damage, errLarge(r))
			}
			s, err := x.decode(d, r, data)
			if err != nil {
				return err
			}
			c := view.CardOf(s)
			if c.Kind != view.KindImage {
				return notFound("The sample has no picture.")
			}
			picture = bytes.Clone(s.Fields[c.Index].Value.Data())
			return nil
		})
		return picture, err
	})
	if err != nil {
		if q.ctx().Err() != nil {
			return gone(err)
		}
		if small, err = static.ReadFile("static/none.svg"); err != nil {
			return err
		}
		kind = "image/svg+xml"
	}
	q.w.Header().Set("Content-Type", kind)
	q.w.Header().Set("Cache-Control", "private, max-age=3600")
	_, err = q.w.Write(small)
	return gone(err)
}
