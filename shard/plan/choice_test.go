package plan

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
)

// choosePlan indexes and plans the samples that are chosen.
func choosePlan(t testing.TB, src converters.Source, enc encode.Options, choice choose.Options, opts Options) *Plan {
	t.Helper()
	spec, err := encode.Parse(enc)
	if err != nil {
		t.Fatal(err)
	}
	chooser, err := choose.New(choice, nil)
	if err != nil {
		t.Fatal(err)
	}
	index, err := Index(context.Background(), src, IndexOptions{Encodings: OneEncoding(spec), Workers: 3, Choose: chooser})
	if err := cmp.Or(err, chooser.Finish()); err != nil {
		t.Fatal(err)
	}
	opts.Encode, opts.Source.Format, opts.Choice = spec.Options(), "memory", &choice
	p, err := New(index, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sampleOf returns a sample of a plan.
func sampleOf(src *memsource.Source, at sampleAt) *converters.Sample {
	return &src.Data[at.part][at.ordinal]
}

// The runs of a plan hold the chosen samples alone, and its account tells of the others.
func TestChoice(t *testing.T) {
	t.Parallel()
	src := memsource.New(1, 3, 100, 1000)
	for i, row := range []struct {
		choice choose.Options
		enc    encode.Options
		holds  func(n int, s *converters.Sample) bool // of the n-th sample of all
		by     map[string]int64
		unread int64
	}{
		{choice: choose.Options{Limit: 120}, holds: func(n int, _ *converters.Sample) bool { return n < 120 }, by: map[string]int64{"limit": 80}, unread: 1},
		{choice: choose.Options{Slice: "10:250:7"}, holds: func(n int, _ *converters.Sample) bool { return n >= 10 && n < 250 && (n-10)%7 == 0 }, by: map[string]int64{"slice": 300 - 35}},
		{choice: choose.Options{Where: "key~[02468]$"}, holds: func(_ int, s *converters.Sample) bool { return strings.ContainsAny(s.Key[len(s.Key)-1:], "02468") }, by: map[string]int64{"where": 150}},
		{choice: choose.Options{Where: "key~[02468]$", Limit: 10}, holds: func(n int, s *converters.Sample) bool {
			return n < 20 && strings.ContainsAny(s.Key[len(s.Key)-1:], "02468")
		}, by: map[string]int64{"where": 50, "limit": 40}, unread: 2},
		// Samples that lack a field are not counted for a limit.
		{choice: choose.Options{Limit: 12}, enc: encode.Options{Fields: "cls", Missing: encode.MissingSkip}, by: map[string]int64{"limit": 68}, unread: 2},
	} {
		p := choosePlan(t, src, row.enc, row.choice, Options{Sizes: Sizes{Shards: 3}})
		a := p.Account()
		if row.holds != nil {
			var want []sampleAt
			for n := range 300 {
				at := sampleAt{uint32(n / 100), uint32(n % 100)}
				if row.holds(n, sampleOf(src, at)) {
					want = append(want, at)
				}
			}
			if got := ordinals(p); !slices.Equal(got, want) {
				t.Errorf("%d: samples %v\nwant %v", i, got, want)
			}
		}
		samples, _ := p.Totals()
		left := a.WithoutField()
		for _, n := range a.LeftOutBy {
			left += n
		}
		if got := int64(len(ordinals(p))); samples != a.Written() || got != samples || left != a.SamplesLeftOut || a.Check() != nil || !reflect.DeepEqual(a.LeftOutBy, row.by) || a.Unread != row.unread {
			t.Errorf("%d: %d samples in runs of %d, account %+v", i, got, samples, a)
		}
		if row.enc.Fields != "" && samples != 12 {
			t.Errorf("%d: a limit of 12 gives %d", i, samples)
		}
		var file bytes.Buffer
		if _, err := p.Write(&file); err != nil {
			t.Fatal(err)
		}
		read, err := readText(file.String())
		if err != nil || read.Choice.String() != p.Choice.String() {
			t.Errorf("%d: read %v, %v", i, read, err)
		}
	}
}

// Which samples are chosen does not depend on how many parts are indexed at once.
func TestChoiceIsDeterministic(t *testing.T) {
	t.Parallel()
	src := memsource.New(3, 5, 200, 100)
	digest := ""
	for range 3 {
		p := choosePlan(t, src, encode.Options{}, choose.Options{Sample: "0.3", Seed: 9, Slice: "5:100", Limit: 80}, Options{Sizes: Sizes{Shards: 2}})
		d, err := p.Digest()
		if err != nil || digest != "" && d != digest {
			t.Errorf("digest %s, then %s, %v", digest, d, err)
		}
		digest = d
	}
}

func TestSort(t *testing.T) {
	t.Parallel()
	src := memsource.New(2, 3, 100, 1000)
	for name, less := range map[string]func(a, b *converters.Sample) int{
		"size": func(a, b *converters.Sample) int { return cmp.Compare(payload(a), payload(b)) },
		"key":  func(a, b *converters.Sample) int { return strings.Compare(a.Key, b.Key) },
	} {
		p := choosePlan(t, src, encode.Options{}, choose.Options{Sort: name, Where: "key~[0-4]$"}, Options{Sizes: Sizes{Shards: 4}})
		got := ordinals(p)
		if len(got) != 150 || p.InOrder() || p.Columns.Alike {
			t.Errorf("%s: %d samples", name, len(got))
		}
		if !slices.IsSortedFunc(got, func(a, b sampleAt) int {
			return cmp.Or(less(sampleOf(src, a), sampleOf(src, b)), cmp.Compare(a.part, b.part), cmp.Compare(a.ordinal, b.ordinal))
		}) {
			t.Errorf("%s: out of order", name)
		}
	}
}

func payload(s *converters.Sample) (n int64) {
	for i := range s.Fields {
		n += s.Fields[i].Value.Len()
	}
	return n
}

// Rows that are alike are counted one by one where some are left out.
func TestChoiceOfAlike(t *testing.T) {
	t.Parallel()
	src := alikeRows{50}
	all := newPlan(t, src, encode.Options{}, Options{})
	some := choosePlan(t, src, encode.Options{}, choose.Options{Slice: "10::4"}, Options{})
	a, of := some.Account(), all.Account()
	samples, _ := some.Totals()
	if samples != 10 || a.Samples != 50 || a.SamplesLeftOut != 40 || a.Fields != of.Fields || a.Fields-a.FieldsLeftOut != 10 || !all.Columns.Alike || some.Columns.Alike {
		t.Errorf("%d samples, account %+v; of all %+v", samples, a, of)
	}
	if !slices.Contains(a.Seen, FieldCount{"row", 10, 80}) {
		t.Errorf("seen %+v", a.Seen)
	}
}

// alikeRows are rows of 8 bytes.
type alikeRows struct{ n int }

func (r alikeRows) Parts() []converters.Part {
	return []converters.Part{{Name: "rows", Path: "rows", Size: int64(8 * r.n)}}
}

func (r alikeRows) Index(context.Context, int) iter.Seq2[*converters.Span, error] {
	return func(yield func(*converters.Span, error) bool) {
		shape := &converters.Sample{Fields: []converters.Field{{Name: "row", Value: converters.Opaque(8)}}}
		for i := range r.n {
			if !yield(&converters.Span{Off: int64(8 * i), Entries: 1, Shape: shape, Alike: i > 0}, nil) {
				return
			}
		}
	}
}

func (r alikeRows) Read(context.Context, converters.Run) iter.Seq2[*converters.Sample, error] {
	return nil
}

// A choice leaves the others' fields alone: a sample that is not chosen may lack one.
func TestChoiceBeforeFields(t *testing.T) {
	t.Parallel()
	src := &memsource.Source{Data: [][]converters.Sample{{}}}
	for i := range 10 {
		s := converters.Sample{Key: fmt.Sprint(i)}
		if i%2 == 0 {
			s.Fields = []converters.Field{{Name: "jpg", Value: converters.Bytes([]byte("x"))}}
		}
		src.Data[0] = append(src.Data[0], s)
	}
	p := choosePlan(t, src, encode.Options{Fields: "jpg"}, choose.Options{Where: "jpg.size>0"}, Options{})
	if samples, _ := p.Totals(); samples != 5 {
		t.Errorf("%d samples", samples)
	}
}

func TestAlignedHasNoChoice(t *testing.T) {
	t.Parallel()
	_, err := NewAligned(memsource.New(1, 2, 10, 10).Parts(), nil, Options{Recipe: Recipe{Choice: &choose.Options{Limit: 1}}})
	if !errors.Is(err, errSizes) {
		t.Errorf("error %v", err)
	}
}
