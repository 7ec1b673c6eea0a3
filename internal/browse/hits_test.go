package browse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/place"
)

// A meant is a query of the tests, and what it means of a sample with a record of size bytes, without the shard and the source.
type meant struct {
	Query
	holds func(r *lookup.Row, size int64, s *converters.Sample) bool
}

// wanted are the samples that a query means, found by decoding all of them.
func wanted(t *testing.T, s *searcher, q meant) []int64 {
	t.Helper()
	d := s.d.Fork()
	var sources []string
	if d.Ours() {
		m, err := dataset.ReadManifest(d.Dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range m.Sources {
			sources = append(sources, p.Name)
		}
	}
	var all []int64
	err := d.WalkRecords(t.Context(), nil, func(r *lookup.Row, data []byte) error {
		x, err := d.Decode(r, data)
		if err == nil && (q.Shard == "" || filepath.Base(r.Shard) == q.Shard) && (q.Source == "" || r.Source >= 0 && sources[r.Source] == q.Source) && q.holds(r, int64(len(data)), x) {
			all = append(all, r.Number)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func every(*lookup.Row, int64, *converters.Sample) bool { return true }

func label(n int64) func(r *lookup.Row, _ int64, _ *converters.Sample) bool {
	return func(r *lookup.Row, _ int64, _ *converters.Sample) bool { return r.Labeled && r.Label == n }
}

func class(n int64) meant { return meant{Query{Where: whereClass(n, classNames[n])}, label(n)} }

// key is a query for the begin of a key.
func key(expr, prefix string) meant {
	return meant{Query{Where: "key~" + expr}, func(r *lookup.Row, _ int64, _ *converters.Sample) bool { return strings.HasPrefix(r.Key, prefix) }}
}

// sized is a query for the size of the record.
func sized(where string, from, to int64) meant {
	return meant{Query{Where: where}, func(_ *lookup.Row, size int64, _ *converters.Sample) bool { return from <= size && size <= to }}
}

// has is a query for the samples that have a field.
func has(name string) meant {
	return meant{Query{Where: whereField(name)}, func(_ *lookup.Row, _ int64, s *converters.Sample) bool { _, ok := s.Field(name); return ok }}
}

// in is a query within a shard, a source part, or both.
func in(shard, source string, q meant) meant {
	q.Shard, q.Source = shard, source
	return q
}

// both is a query for which two hold.
func both(a, b meant) meant {
	return meant{Query{Where: a.Where + "  and " + b.Where}, func(r *lookup.Row, size int64, s *converters.Sample) bool {
		return a.holds(r, size, s) && b.holds(r, size, s)
	}}
}

var (
	all     = meant{holds: every}
	caption = meant{Query{Where: "caption=text"}, has("caption").holds}
	long    = meant{Query{Where: "jpg.size>=250"}, func(_ *lookup.Row, _ int64, s *converters.Sample) bool {
		v, ok := s.Field("jpg")
		return ok && v.Len() >= 250
	}}
)

// queries are asked of each fixture; not all of them find samples.
var queries = []meant{
	all, class(0), class(1), class(2), class(3), class(4), {Query{Where: "label=4"}, label(4)}, {Query{Where: "label=12"}, label(12)}, {Query{Where: "class=none"}, label(12)},
	sized("size>=100", 100, 1<<40), sized("size<=200", 0, 200), sized("size>99 and size<201", 100, 200), sized("size>1TiB", 1<<41, 1<<42), sized("size>0 and size<1GiB", 1, 1<<30-1),
	has("jpg"), has("caption"), has("cls"), has("image"), has("bin"), has("none"), caption, long,
	key(`"^it's"`, "it's"), key("'^two words/'", "two words/"), key(`^quo"te`, `quo"te`), key("'^tab\t'", "tab\t"), key(`^esc\x1b`, "esc\x1b"), key("^größe/1", "größe/1"), key(`^\$\(id\)`, "$(id)"), key(`^a\.`, "a."), key(`^a\xff`, "a\xff"),
	in("", "part-0", all), in("PART_00001.ffr", "", all), in("PART_00001.ffr", "", has("jpg")), in("PART_00001.ffr", "", both(sized("size>=90", 90, 1<<40), class(3))),
	in("", "part-1", both(class(2), sized("size<=300", 0, 300))), both(has("caption"), both(key("^a", "a"), sized("size>=200", 200, 1<<40))), both(class(2), key("^größe", "größe")), in("PART_00000.ffr", "", has("caption")),
}

// hitsOf returns all samples that a query finds, in pages of so many.
func hitsOf(t *testing.T, s *searcher, x meant, most int) (all []int64, err error) {
	t.Helper()
	q := x.Query
	for from := int64(0); from < s.d.Len(); {
		p, err := s.page(t.Context(), q, from, most, time.Hour)
		if err != nil {
			return nil, err
		}
		if p.Next <= from || len(p.Rows) > most || p.Unknown > 0 || p.Next < s.d.Len() && len(p.Rows) < most {
			t.Fatalf("%+v from sample %d: %d rows, next %d, %d unknown: %v", q, from, len(p.Rows), p.Next, p.Unknown, p.Problem)
		}
		for i := range p.Rows {
			want, err := s.d.Fork().Row(p.Rows[i].Number, true)
			if err != nil || want.Key != p.Rows[i].Key || want.Label != p.Rows[i].Label || want.Source != p.Rows[i].Source || p.Rows[i].At.Size == 0 && s.shards[0].name == "" {
				t.Fatalf("row %+v, want %+v, %v", p.Rows[i], want, err)
			}
			all = append(all, p.Rows[i].Number)
		}
		from = p.Next
	}
	return all, nil
}

// Pages have all samples of a query once, whatever the dataset, and however large they are.
func TestPage(t *testing.T) {
	t.Parallel()
	for _, x := range fixtures {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			s := x.searcher(t, x.made(t))
			found := 0
			for _, q := range queries {
				for _, most := range []int{7, 1000} {
					got, err := hitsOf(t, s, q, most)
					if errors.Is(err, errUnknown) {
						if q.Shard == "" && q.Source == "" {
							t.Errorf("%+v: %v", q.Query, err)
						}
						continue
					}
					if err != nil {
						t.Fatalf("%+v: %v", q.Query, err)
					}
					want := wanted(t, s, q)
					if !slices.Equal(got, want) {
						t.Errorf("%+v: %d samples %v, want %d %v", q.Query, len(got), got, len(want), want)
					}
					checkBefore(t, s, q.Query, want)
					if len(got) > 0 {
						found++
					}
				}
			}
			if found /= 2; found < x.finds {
				t.Errorf("%d queries find something, want %d", found, x.finds)
			}
		})
	}
}

// A field of records that cannot be decoded is refused; what their index has is compared.
func TestOpaque(t *testing.T) {
	t.Parallel()
	opaque := fixtures[4]
	opaque.records = ""
	s := opaque.searcher(t, opaque.made(t))
	if _, err := s.page(t.Context(), has("jpg").Query, 0, 5, 0); !errors.Is(err, lookup.ErrNoFields) {
		t.Errorf("a field of opaque records: %v", err)
	}
	if p, err := s.page(t.Context(), Query{Where: "size>0"}, 0, 5, 0); err != nil || len(p.Rows) != 5 {
		t.Errorf("sizes of opaque records: %d rows, %v", len(p.Rows), err)
	}
}

// checkBefore compares what is found before some samples.
func checkBefore(t *testing.T, s *searcher, q Query, all []int64) {
	t.Helper()
	for _, n := range []int64{0, 1, 77, samples - 1, samples, samples + 9} {
		want := int64(-1)
		for _, m := range all {
			if m < n {
				want = m
			}
		}
		if got, err := s.before(t.Context(), q, n, time.Hour); err != nil || got != want {
			t.Errorf("%+v: before sample %d: %d, %v; want %d", q, n, got, err, want)
		}
	}
}

// A single shard is searched as a dataset, with the counts of its own.
func TestPageShard(t *testing.T) {
	t.Parallel()
	x := &fixtures[0]
	s := x.searcher(t, filepath.Join(x.made(t), "PART_00002.ffr"))
	for _, q := range []meant{all, class(2), has("jpg"), has("caption"), has("none"), in("PART_00002.ffr", "", sized("size>=200", 200, 1<<40))} {
		got, err := hitsOf(t, s, q, 50)
		if want := wanted(t, s, q); err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v: %v, %v; want %v", q.Query, got, err, want)
		}
	}
	if _, err := s.page(t.Context(), Query{Shard: "PART_00000.ffr"}, 0, 5, 0); !errors.Is(err, errUnknown) {
		t.Error(err)
	}
}

// A page ends with its budget and with its context, and the next one goes on there.
func TestPageBudget(t *testing.T) {
	t.Parallel()
	x := &fixtures[0]
	s := x.searcher(t, x.made(t))
	captions := has("caption") // each sample takes a while
	q := captions.Query
	var all []int64
	n := 0
	for from := int64(0); from < samples; n++ {
		p, err := s.page(t.Context(), q, from, 1000, time.Nanosecond)
		if err != nil || p.Next <= from || p.Looked != p.Next-from {
			t.Fatalf("from %d: %+v, %v", from, p, err)
		}
		for _, r := range p.Rows {
			all = append(all, r.Number)
		}
		from = p.Next
	}
	if want := wanted(t, s, captions); !slices.Equal(all, want) || n < samples {
		t.Errorf("%d pages have %v, want %v", n, all, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, q := range []Query{q, {}, has("none").Query} {
		if _, err := s.page(ctx, q, 0, 1000, 0); !errors.Is(err, context.Canceled) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if n, err := s.before(t.Context(), Query{Where: "key~^none and caption=text"}, samples, time.Nanosecond); n != -1 || err != nil {
		t.Error(n, err)
	}
	if p, err := s.page(t.Context(), Query{}, samples+5, 10, 0); err != nil || len(p.Rows) > 0 || p.Next != samples {
		t.Errorf("past the end: %+v, %v", p, err)
	}
}

// Damage of an index, of a record, and of a header is told on one line; a damaged record does not hide others.
func TestPageDamage(t *testing.T) {
	t.Parallel()
	x := &fixtures[0]
	dir := x.made(t)
	s := x.searcher(t, dir)
	row, err := s.d.Fork().Row(30, true)
	if err == nil {
		err = s.d.Records().Locate(t.Context(), row)
	}
	if err != nil {
		t.Fatal(err)
	}
	flip(t, row.Shard, row.At.Off+3)
	p, err := s.page(t.Context(), Query{Where: "caption=text"}, 0, 1000, 0)
	want := slices.DeleteFunc(wantedCaptions(), func(n int64) bool { return n == 30 })
	if err != nil || p.Unknown != 1 || place.KindOf(p.Problem) != place.Corrupt || len(p.Rows) != len(want) {
		t.Errorf("%d rows, want %d; %d unknown, %v, %v", len(p.Rows), len(want), p.Unknown, p.Problem, err)
	}
	if _, err := s.keys(t.Context(), Query{Where: "caption=text"}, new(strings.Builder)); place.KindOf(err) != place.Corrupt {
		t.Errorf("keys of damaged samples: %v", err)
	}
	index := filepath.Join(dir, "index", "PART_00001.arrow")
	if err := os.Truncate(index, 600); err != nil {
		t.Fatal(err)
	}
	for _, q := range []Query{{Where: "label=2"}, {Shard: "PART_00001.ffr"}, {}} {
		_, err := s.page(t.Context(), q, 100, 1000, 0)
		if place.KindOf(err) != place.Corrupt || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "PART_00001.arrow") {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if p, err := s.page(t.Context(), Query{Where: "label=2"}, 0, 5, 0); err != nil || len(p.Rows) != 5 {
		t.Errorf("samples before the damage: %v", err)
	}
}

func wantedCaptions() (all []int64) {
	for i := int64(0); i < samples; i += 3 {
		all = append(all, i)
	}
	return all
}

// flip changes a byte of a file.
func flip(t *testing.T, name string, off int64) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[off] ^= 4
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A searcher is used by many requests at the same time.
func TestConcurrently(t *testing.T) {
	t.Parallel()
	for _, x := range []*fixture{&fixtures[1], &fixtures[3]} {
		path := x.made(t)
		s := x.searcher(t, path)
		var wg sync.WaitGroup
		for i, x := range queries {
			q := x.Query
			if i%3 > 0 {
				continue
			}
			wg.Go(func() {
				_, err := s.page(t.Context(), q, int64(i), 100, 0)
				_, also := s.before(t.Context(), q, samples, 0)
				if fmt.Sprint(err) != fmt.Sprint(also) || err != nil && !errors.Is(err, errUnknown) {
					t.Errorf("%+v: %v, %v", q, err, also)
				}
				s.command(q, path)
				if _, err := s.keys(t.Context(), q, io.Discard); err != nil && !errors.Is(err, errList) && !errors.Is(err, errUnknown) {
					t.Errorf("%+v: %v", q, err)
				}
			})
		}
		wg.Wait()
	}
}

// Of several searches one holds large records, and a record that is too large is told.
func TestLargeRecords(t *testing.T) {
	t.Parallel()
	x := &fixture{parts: 1, sample: func(i int) converters.Sample {
		s := converters.Sample{Key: fmt.Sprint(i), Fields: []converters.Field{{Name: "bin", Value: converters.Bytes(nil)}}}
		switch i {
		case 3, 5:
			s.Fields[0] = converters.Field{Name: "large", Value: converters.Bytes(make([]byte, smallRecord))}
		case 7:
			s.Fields[0] = converters.Field{Name: "huge", Value: converters.Bytes(make([]byte, largestRecord))}
		}
		return s
	}}
	s := x.searcher(t, x.made(t))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			p, err := s.page(t.Context(), Query{Where: "large.size>0"}, 0, 100, 0)
			if err != nil || len(p.Rows) != 2 || p.Unknown != 1 || !strings.Contains(fmt.Sprint(p.Problem), "sample 7: its record has 67108") {
				t.Errorf("%d rows, %d unknown: %v, %v", len(p.Rows), p.Unknown, p.Problem, err)
			}
		})
	}
	wg.Wait()
	s.large <- struct{}{}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.page(ctx, Query{Where: "large.size>0"}, 0, 100, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while another search holds large records: %v", err)
	}
}
