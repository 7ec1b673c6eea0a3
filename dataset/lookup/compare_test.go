package lookup

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A sample of a test: its key, its text and its class.
type sample struct {
	key, text string
	class     int
}

// madeOf makes a dataset of samples and opens it.
func madeOf(t testing.TB, encoding string, all []sample) *Dataset {
	t.Helper()
	part := make([]converters.Sample, len(all))
	for i, s := range all {
		part[i] = converters.Sample{Key: s.key, Fields: []converters.Field{
			{Name: "txt", Value: converters.Bytes([]byte(s.text))}, {Name: "cls", Value: converters.Bytes(fmt.Append(nil, s.class))},
		}}
		if len(s.text)%2 == 1 {
			slices.Reverse(part[i].Fields)
		}
	}
	dir := filepath.Join(t.TempDir(), "out")
	_, err := shardtest.Convert(t.Context(), &memsource.Source{Data: [][]converters.Sample{part}}, dir, shardtest.ConvertOptions{
		Encode: encode.Options{Encoding: encoding}, Sizes: plan.Sizes{Shards: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// compared returns the differences as text, sorted.
func compared(t testing.TB, a, b *Dataset, opts CompareOptions) (all []string, totals Compared) {
	t.Helper()
	totals, err := Compare(t.Context(), a, b, opts, func(d Difference) error {
		switch d.Change() {
		case "added":
			all = append(all, fmt.Sprintf("+%s #%d", d.B.Key, d.B.Number))
		case "removed":
			all = append(all, fmt.Sprintf("-%s #%d", d.A.Key, d.A.Number))
		case "changed":
			all = append(all, fmt.Sprintf("~%s #%d #%d", d.B.Key, d.A.Number, d.B.Number))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if totals.A != totals.Alike+totals.Removed+totals.Changed || totals.B != totals.Alike+totals.Added+totals.Changed {
		t.Errorf("%+v does not add up", totals)
	}
	slices.Sort(all)
	return all, totals
}

// model is what should differ.
func model(a, b []sample, byNumber, labels bool) (all []string) {
	equal := func(a, b sample) bool { return a.text == b.text && (!labels || a.class == b.class) }
	if byNumber {
		for i := range max(len(a), len(b)) {
			switch {
			case i >= len(a):
				all = append(all, fmt.Sprintf("+%s #%d", b[i].key, i))
			case i >= len(b):
				all = append(all, fmt.Sprintf("-%s #%d", a[i].key, i))
			case !equal(a[i], b[i]) || a[i].key != b[i].key:
				all = append(all, fmt.Sprintf("~%s #%d #%d", b[i].key, i, i))
			}
		}
		slices.Sort(all)
		return all
	}
	at := make(map[string][]int)
	for i, s := range a {
		at[s.key] = append(at[s.key], i)
	}
	for i, s := range b {
		if len(at[s.key]) == 0 {
			all = append(all, fmt.Sprintf("+%s #%d", s.key, i))
			continue
		}
		k := at[s.key][0]
		if at[s.key] = at[s.key][1:]; !equal(a[k], s) {
			all = append(all, fmt.Sprintf("~%s #%d #%d", s.key, k, i))
		}
	}
	for key, left := range at {
		for _, k := range left {
			all = append(all, fmt.Sprintf("-%s #%d", key, k))
		}
	}
	slices.Sort(all)
	return all
}

// random returns samples with keys that occur several times, and a changed and shuffled copy of them.
func random(r *rand.Rand, n int) (a, b []sample) {
	for range n {
		a = append(a, sample{fmt.Sprint("k", r.IntN(n)), fmt.Sprint(r.IntN(50)), r.IntN(4)})
	}
	for _, s := range a {
		switch r.IntN(8) {
		case 0:
			continue
		case 1:
			s.text += "!!"
		case 2:
			s.class++
		case 3:
			b = append(b, sample{fmt.Sprint("new", r.IntN(n)), s.text, 1})
		}
		b = append(b, s)
	}
	r.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
	return a, b
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 1))
		x, y := random(r, 3+r.IntN(120))
		a, b := madeOf(t, "msgpack", x), madeOf(t, "msgpack", y)
		cbor := madeOf(t, "cbor", y)
		for _, held := range []int{0, 1, 7, len(x)} {
			want := model(x, y, false, true)
			for name, opts := range map[string]CompareOptions{"indexes": {Held: held}, "fields": {Held: held, Decode: true}} {
				got, totals := compared(t, a, b, opts)
				if !slices.Equal(got, want) || totals.Same() != (len(want) == 0) {
					t.Fatalf("seed %d, %s, %d held:\n%v, want\n%v", seed, name, held, got, want)
				}
			}
			if got, _ := compared(t, a, cbor, CompareOptions{Held: held, Decode: true}); !slices.Equal(got, want) {
				t.Fatalf("seed %d, in CBOR, %d held:\n%v, want\n%v", seed, held, got, want)
			}
		}
		if got, want := first(compared(t, a, b, CompareOptions{ByNumber: true})), model(x, y, true, true); !slices.Equal(got, want) {
			t.Fatalf("seed %d, by number:\n%v, want\n%v", seed, got, want)
		}
		if got, totals := compared(t, a, a, CompareOptions{Held: 5}); got != nil || !totals.Same() {
			t.Errorf("%v differs from itself", got)
		}
		if got := first(compared(t, b, cbor, CompareOptions{ByNumber: true, Decode: true})); got != nil {
			t.Errorf("%v differs in CBOR", got)
		}
	}
}

func first(all []string, _ Compared) []string { return all }

// Labels count where records do not have them.
func TestCompareLabels(t *testing.T) {
	t.Parallel()
	x := []sample{{"a", "same", 1}, {"b", "same", 2}}
	y := []sample{{"a", "same", 1}, {"b", "same", 3}}
	if got := first(compared(t, madeOf(t, "raw:txt", x), madeOf(t, "raw:txt", y), CompareOptions{})); !slices.Equal(got, []string{"~b #1 #1"}) {
		t.Error(got)
	}
}

// A million samples of one key take no more time than others.
func TestCompareEqualKeys(t *testing.T) {
	t.Parallel()
	const n = 1_000_000
	x := newMatches(n)
	one := &item{row: &Row{Key: "one"}}
	for range n {
		x.add(one)
	}
	x.link()
	for i := range n {
		if got, ok := x.take(one.key()); !ok || got != i {
			t.Fatalf("sample %d is %d, %t", i, got, ok)
		}
	}
	if _, ok := x.take(one.key()); ok {
		t.Error("one more")
	}
}
