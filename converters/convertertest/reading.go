package convertertest

import (
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

func testPayload(t *testing.T, f Fixture) {
	var size, payload int64
	for p, part := range f.Source.Parts() {
		spans, err := index(t.Context(), f.Source, p)
		if err != nil {
			t.Fatal(err)
		}
		unread := int64(0)
		for _, s := range spans {
			if s.Shape == nil {
				continue
			}
			for _, field := range s.Shape.Fields {
				if field.Value.Unread() && field.Value.Len() > f.Nearby {
					unread += field.Value.Len()
				}
			}
		}
		payload += unread
		if part.Path == "" {
			size += unread // these files are only payload
		} else {
			size += part.Size
		}
	}
	if payload == 0 && f.Nearby == 0 {
		t.Fatal("the index has no unread field: nothing to test")
	}
	most := size - payload
	if f.Nearby > 0 {
		most *= 3
	}
	if got := f.BytesRead(); got > most {
		t.Errorf("Index read %d bytes; of %d bytes %d are payload", got, size, payload)
	}
}

func testAgree(t *testing.T, f Fixture) {
	d := load(t, f.Source)
	for p, spans := range d.spans {
		if len(spans) != len(d.samples[p]) {
			t.Fatalf("part %d: Index has %d samples, Read %d", p, len(spans), len(d.samples[p]))
		}
		for i, s := range d.samples[p] {
			if got, want := shape(s), spans[i].shape; got != want {
				t.Errorf("part %d: Read has %s, Index %s", p, got, want)
			}
			if s.Off != spans[i].Off || spans[i].Shape.Off != spans[i].Off {
				t.Errorf("part %d: sample %q is at %d by Index, its shape at %d, its bytes at %d", p, s.Key, spans[i].Off, spans[i].Shape.Off, s.Off)
			}
			if spans[i].Entries < 1 {
				t.Errorf("part %d: sample %q has no entries", p, s.Key)
			}
			for _, field := range s.Fields {
				if field.Value.Unread() {
					t.Errorf("part %d: sample %q: field %q was not read", p, s.Key, field.Name)
				}
			}
		}
	}
}

func testRepeat(t *testing.T, f Fixture) {
	again := f.Reopen(t)
	for p := range f.Source.Parts() {
		a, errA := index(t.Context(), f.Source, p)
		b, errB := index(t.Context(), again, p)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if !slices.EqualFunc(a, b, func(a, b found) bool {
			return a.shape == b.shape && a.Off == b.Off && a.Entries == b.Entries && a.Skip == b.Skip && a.Name == b.Name && a.Accepted == b.Accepted
		}) {
			t.Errorf("part %d has two indexes", p)
		}
		for _, s := range a {
			switch {
			case (s.Shape == nil) != (s.Skip != ""):
				t.Errorf("part %d: a span with both or neither of Shape and Skip: %+v", p, s.Span)
			case s.Accepted != (s.Entries == 0):
				t.Errorf("part %d: a span with %d entries, accepted: %t", p, s.Entries, s.Accepted)
			case s.Alike && s.Shape == nil:
				t.Errorf("part %d: a span without a sample that is alike: %+v", p, s.Span)
			}
		}
	}
}

// testAlike checks that samples marked as alike are.
func testAlike(t *testing.T, f Fixture) {
	for p := range f.Source.Parts() {
		spans, err := index(t.Context(), f.Source, p)
		if err != nil {
			t.Fatal(err)
		}
		var before *converters.Sample
		for _, s := range spans {
			if s.Shape == nil {
				continue
			}
			if s.Alike && (before == nil || s.Shape.Key != "" || before.Key != "" || !slices.EqualFunc(s.Shape.Fields, before.Fields, func(a, b converters.Field) bool {
				return a.Name == b.Name && a.Value.Kind() == b.Value.Kind() && a.Value.Len() == b.Value.Len()
			})) {
				t.Errorf("part %d: the sample at %d is said to be like the one before it, and is not", p, s.Off)
			}
			before = s.Shape
		}
	}
}

func testRuns(t *testing.T, f Fixture) {
	d := load(t, f.Source)
	for p, spans := range d.spans {
		const most = 12 // bounds the number of runs
		for from := range min(len(spans), most) {
			for to := from + 1; to <= min(len(spans), from+most); to++ {
				run := slice(p, spans, from, to)
				got, err := read(t.Context(), f.Source, run)
				if err != nil {
					t.Fatalf("run %+v: %v", run, err)
				}
				same(t, "run", got, d.samples[p][from:to])
			}
		}
		if n := len(spans); n > 0 {
			got, err := read(t.Context(), f.Source, slice(p, spans, n-1, n))
			if err != nil {
				t.Fatal(err)
			}
			same(t, "the last sample", got, d.samples[p][n-1:])
		}
	}
}

func testPastEnd(t *testing.T, f Fixture) {
	d := load(t, f.Source)
	for p, spans := range d.spans {
		if len(spans) == 0 {
			continue
		}
		run := whole(p, spans)
		run.Count++
		got, err := read(t.Context(), f.Source, run)
		if err == nil {
			t.Errorf("part %d: a run of one sample more than there are has no error", p)
		}
		wantPlaced(t, err)
		same(t, "before the end", got, d.samples[p])
	}
}

func testEmptyRun(t *testing.T, f Fixture) {
	if got, err := read(t.Context(), f.Source, converters.Run{}); len(got) != 0 || err != nil {
		t.Errorf("%d samples, error %v", len(got), err)
	}
}

func testStop(t *testing.T, f Fixture) {
	d := load(t, f.Source)
	for p, spans := range d.spans {
		for range f.Source.Index(t.Context(), p) {
			break
		}
		for n := range spans {
			i := 0
			for _, err := range f.Source.Read(t.Context(), whole(p, spans)) {
				if err != nil {
					t.Fatal(err)
				}
				if i++; i > n {
					break
				}
			}
		}
	}
}

func testConcurrent(t *testing.T, f Fixture) {
	d := load(t, f.Source)
	const times = 3
	type result struct {
		spans   []found
		samples []*converters.Sample
		err     error
	}
	results := make([]result, times*len(d.spans))
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			r, p := &results[i], i%len(d.spans)
			if r.spans, r.err = index(t.Context(), f.Source, p); r.err == nil && len(d.spans[p]) > 0 {
				r.samples, r.err = read(t.Context(), f.Source, whole(p, d.spans[p]))
			}
		})
	}
	wg.Wait()
	for i, r := range results {
		if r.err != nil {
			t.Fatal(r.err)
		}
		same(t, "concurrently", r.samples, d.samples[i%len(d.spans)])
	}
}

// testDivided checks that a source with some of the parts has the same samples as these parts have
// in the whole source.
func testDivided(t *testing.T, f Fixture) {
	whole := f.Source.(converters.Divisible)
	d := load(t, f.Source)
	parts := f.Source.Parts()
	for from := range parts {
		for to := from + 1; to <= len(parts); to++ {
			some := whole.WithParts(from, parts[from:to:to])
			if !slices.Equal(some.Parts(), parts[from:to]) {
				t.Errorf("parts %d to %d are %v", from, to, some.Parts())
			}
			if a, ok := f.Source.(converters.Describer); ok && !reflect.DeepEqual(a.Describe(), some.(converters.Describer).Describe()) {
				t.Errorf("parts %d to %d are described otherwise than the whole", from, to)
			}
			for p := range to - from {
				spans, err := index(t.Context(), some, p)
				if err != nil {
					t.Fatal(err)
				}
				spans = slices.DeleteFunc(spans, func(f found) bool { return f.Shape == nil })
				if !slices.EqualFunc(spans, d.spans[from+p], func(a, b found) bool { return a.shape == b.shape && a.Off == b.Off && a.Entries == b.Entries }) {
					t.Fatalf("part %d has another index where part %d is the first", from+p, from)
				}
				if len(spans) == 0 {
					continue
				}
				for first := range min(len(spans), 2) {
					got, err := read(t.Context(), some, slice(p, spans, first, len(spans)))
					if err != nil {
						t.Fatal(err)
					}
					same(t, "divided", got, d.samples[from+p][first:])
				}
			}
		}
	}
}
