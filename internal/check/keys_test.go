package check

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/findings"
	"github.com/ffconvert/ffconvert/shard/plan"
)

func TestFolded(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		a, b string
		same bool
	}{
		{"abc", "ABC", true},
		{"abc", "abd", false},
		{"ä/Ö", "Ä/ö", true},
		{"ſ", "S", true}, // the long s
		{"K", "k", true}, // the sign for Kelvin
		{"Σς", "σσ", true},
		{"ß", "ss", false},      // one letter is two: not what file systems fold
		{"é", "e\u0301", false}, // a letter, and one with its accent behind
		{"a\xff", "A\xff", true},
		{"\xff", "\xfe", false},
		{"", "", true},
		{strings.Repeat("x", 1000), strings.Repeat("X", 1000), true},
	} {
		if same := string(folded(nil, row.a)) == string(folded(nil, row.b)); same != row.same {
			t.Errorf("%q and %q are the same: %v", row.a, row.b, same)
		}
		if same := strings.EqualFold(row.a, row.b); same != row.same && !strings.Contains(row.a, "\xff") {
			t.Errorf("strings.EqualFold(%q, %q) is %v", row.a, row.b, same)
		}
	}
}

// Random keys of few letters, against a map of strings.
func TestClashesRandom(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	const cases = 300
	clashes := int64(0)
	for range cases {
		var src made
		var names [][]string
		for range 1 + rng.IntN(4) {
			var all []converters.Sample
			var keys []string
			for range rng.IntN(30) {
				key := make([]rune, rng.IntN(3)) // none, at times
				for i := range key {
					key[i] = []rune("aAbBäÄ")[rng.IntN(6)]
				}
				all = append(all, sample(string(key), field("x", "y")))
				keys = append(keys, string(key))
			}
			src = append(src, samples(all...))
			names = append(names, keys)
		}
		want := naiveClashes(names)
		report, err := Source(t.Context(), src, Options{Workers: 1 + rng.IntN(4)})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for _, f := range report.Found {
			if f.Rule != ruleRepeatedKey && f.Rule != ruleCaseCollision {
				continue
			}
			got[f.Rule] += max(1, f.Count)
			if f.Count == 0 && !want[fmt.Sprint(f.Rule, f.Place.File, f.Place.Offset, f.Place.Entry)] {
				t.Fatalf("%v: found %+v", names, f)
			}
		}
		n := got[ruleRepeatedKey] + got[ruleCaseCollision]
		if n != int64(len(want)) {
			t.Fatalf("%v: found %v, want %v", names, got, want)
		}
		clashes += n
	}
	t.Logf("keys cases=%d clashes=%d undetected=0", cases, clashes)
}

// naiveClashes says which samples clash with an earlier one.
func naiveClashes(parts [][]string) map[string]bool {
	exact, fold := map[string]bool{}, map[string]bool{}
	clashes := map[string]bool{}
	for p, keys := range parts {
		for i, key := range keys {
			rule := ""
			switch lower := strings.ToLower(key); {
			case key == "":
				continue
			case exact[key]:
				rule = ruleRepeatedKey
			case fold[lower]:
				rule = ruleCaseCollision
			}
			exact[key], fold[strings.ToLower(key)] = true, true
			if rule != "" {
				clashes[fmt.Sprint(rule, fmt.Sprintf("part-%d", p), i*100, key)] = true
			}
		}
	}
	return clashes
}

// The clashes that are listed are the first ones, in order, though hashes come in none.
func TestManyClashes(t *testing.T) {
	t.Parallel()
	const n = 5 * maxEach
	var all []converters.Sample
	for i := range n {
		all = append(all, sample(fmt.Sprintf("k%d", i), field("x", "y")))
	}
	report, err := Source(t.Context(), made{samples(all...), samples(all...)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Found) != maxEach+1 {
		t.Fatalf("%d findings", len(report.Found))
	}
	for i, f := range report.Found[:maxEach] {
		want := findings.Finding{Rule: ruleRepeatedKey, Place: findings.Place{File: "part-1", Offset: int64(i) * 100, Entry: all[i].Key}, Text: "the key is also in part-0"}
		if f != want {
			t.Fatalf("finding %d is %+v", i, f)
		}
	}
	if last := report.Found[maxEach]; last.Count != n-maxEach || last.Text != moreOfThem {
		t.Errorf("%+v counts the others", last)
	}
}

func TestOddKey(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"": "", "a": "", "a/b": "", "000017": "", "a.b": "", "./a": "", "a..b": "", "...": "", "grüß": "", "a b": "", "a/b.c/d": "", "日本": "",
		"..": "above", "../a": "above", "a/..": "above", "a/../b": "above", `a\..\b`: "above",
		"/": "absolute", "/a": "absolute", "C:a": "absolute", "c:/a": "absolute", "1:a": "",
		"a/": "hidden", "./": "hidden",
		"a ": "space", " a": "space", "\u00a0a": "space",
		"a\x00": "control", "\x1b[31m": "control", "a\u0085": "control", "\u202eabc": "invisible", "a\u200bb": "invisible",
		"a\xff": "UTF-8",
	} {
		if got := oddKey(key); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q, want one with %q", key, got, want)
		}
	}
}

// numbered is one part of n samples that it makes as it goes.
func numbered(n int, keyed bool) made {
	return made{iter.Seq2[*converters.Span, error](func(yield func(*converters.Span, error) bool) {
		s := converters.Sample{Fields: []converters.Field{{Name: "jpg", Value: converters.Opaque(1000)}, {Name: "cls", Value: converters.Int(7)}}}
		span := converters.Span{Entries: 2, Shape: &s}
		var key []byte
		for i := range n {
			if keyed {
				key = fmt.Appendf(key[:0], "train/n01440764/%08d", i)
				s.Key = string(key)
			}
			s.Off, span.Off = int64(i)*1536, int64(i)*1536
			if !yield(&span, nil) {
				return
			}
		}
	})}
}

// It is not parallel: memory is counted. What the keys hold, and what is needed to compare
// them, is 24 bytes a sample at most; samples without keys cost nothing. The runtime's own
// memory comes and goes, and is counted too: of several rounds the least is the checker's.
func TestMemory(t *testing.T) {
	n := 1 << 16
	if os.Getenv("FFCONVERT_FAULTS") != "" {
		n = 1 << 20
	}
	for _, row := range []struct {
		name  string
		keyed bool
		most  float64 // bytes a sample
	}{
		{"keys", true, 24},
		{"no keys", false, 0.1},
	} {
		least := math.Inf(1)
		for range 5 {
			held, compared := keysMemory(t, n, row.keyed)
			t.Logf("%s: samples=%d bytes_held=%d bytes_to_compare=%d", row.name, n, held, compared)
			least = min(least, float64(held+compared)/float64(n))
		}
		if least > row.most {
			t.Errorf("%s: %.1f bytes a sample, want %v at most", row.name, least, row.most)
		}
	}
}

// keysMemory returns how many bytes the keys of n samples hold, and how many comparing them
// takes.
func keysMemory(t *testing.T, n int, keyed bool) (held, compared uint64) {
	t.Helper()
	heap := func() (live, all uint64) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, m.TotalAlloc
	}
	c := checker{src: numbered(n, keyed), parts: made{nil}.Parts(), report: &findings.Report{}, opts: Options{Progress: plan.StartPhase(nil, "", 0)}, keys: make([]partKeys, 1)}
	var err error
	if c.spec, err = encode.Parse(encode.Options{}); err != nil {
		t.Fatal(err)
	}
	c.seed = maphash.MakeSeed()
	p := c.newPart(0)
	before, _ := heap()
	p.index(context.Background())
	c.merge(p)
	p = nil
	after, start := heap()
	few, total := c.clashes()
	_, end := heap()
	if len(few)+len(total) > 0 {
		t.Errorf("%d clashes", len(few))
	}
	runtime.KeepAlive(c.keys)
	return after - min(before, after), end - start
}

// It is not parallel: allocations are counted. An ordinary sample costs none but for its
// hashes, a piece of many.
func TestSampleAllocs(t *testing.T) {
	c := checker{parts: made{nil}.Parts(), opts: Options{Progress: plan.StartPhase(nil, "", 0)}, seed: maphash.MakeSeed()}
	var err error
	if c.spec, err = encode.Parse(encode.Options{}); err != nil {
		t.Fatal(err)
	}
	p := c.newPart(0)
	s := sample("train/n01440764/Bild_ä", converters.Field{Name: "jpg", Value: converters.Opaque(1000)}, converters.Field{Name: "cls", Value: converters.Int(7)})
	span := converters.Span{Shape: &s, Entries: 2}
	p.sample(&span)
	if n := testing.AllocsPerRun(10000, func() { p.sample(&span) }); n > 0 {
		t.Errorf("a sample costs %v allocations", n)
	}
}

func BenchmarkSample(b *testing.B) {
	c := checker{parts: made{nil}.Parts(), opts: Options{Progress: plan.StartPhase(nil, "", 0)}, seed: maphash.MakeSeed()}
	var err error
	if c.spec, err = encode.Parse(encode.Options{}); err != nil {
		b.Fatal(err)
	}
	p := c.newPart(0)
	s := sample("train/n01440764/00001234", converters.Field{Name: "jpg", Value: converters.Opaque(1000)}, converters.Field{Name: "cls", Value: converters.Int(7)})
	span := converters.Span{Shape: &s, Entries: 2}
	b.ReportAllocs()
	for b.Loop() {
		p.sample(&span)
	}
}

func BenchmarkClashes(b *testing.B) {
	c := checker{keys: make([]partKeys, 1), seed: maphash.MakeSeed()}
	const n = 1 << 20
	for i := range n {
		c.keys[0].add(fmt.Sprint(i), c.seed)
	}
	b.ReportAllocs()
	for b.Loop() {
		if few, _ := c.clashes(); !slices.Equal(few, nil) {
			b.Fatal(few)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/sample")
}
