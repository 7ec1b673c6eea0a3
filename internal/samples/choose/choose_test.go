package choose

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// chosen returns the keys of the first n samples "0", "1", … that are chosen.
func chosen(t *testing.T, opts Options, n int) (keys []string, c *Chooser) {
	t.Helper()
	c, err := New(opts, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := c.Part("part")
	for i := range n {
		s := &converters.Sample{Key: fmt.Sprint(i)}
		reason, err := p.Leave(s)
		if err != nil {
			t.Fatal(err)
		}
		if reason == "" && c.Count() == "" {
			keys = append(keys, s.Key)
		}
	}
	return keys, c
}

func TestSliceAndLimit(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		slice string
		limit int64
		want  string
		done  bool
	}{
		{"", 3, "0 1 2", true}, {"", 20, "0 1 2 3 4 5 6 7 8 9", false},
		{"2:5", 0, "2 3 4", true}, {":2", 0, "0 1", true}, {"8:", 0, "8 9", false}, {"::4", 0, "0 4 8", false},
		{"1:9:3", 0, "1 4 7", true}, {"1::3", 2, "1 4", true}, {"5:6", 0, "5", true},
	} {
		got, c := chosen(t, Options{Slice: row.slice, Limit: row.limit}, 10)
		if strings.Join(got, " ") != row.want || c.Done() != row.done {
			t.Errorf("%q, %d: %v, done %t; want %s, %t", row.slice, row.limit, got, c.Done(), row.want, row.done)
		}
	}
	for _, text := range []string{"5", "a:b", "-1:5", "1:2:3:4", "::0", "5:5", "5:2", "0x1:9", ":99999999999999999999"} {
		if CheckSlice(text) == nil {
			t.Errorf("%q is a slice", text)
		}
	}
}

// Slices that meet are the whole.
func TestSlicesMeet(t *testing.T) {
	t.Parallel()
	all, _ := chosen(t, Options{}, 100)
	first, _ := chosen(t, Options{Slice: "0:37"}, 100)
	rest, _ := chosen(t, Options{Slice: "37:"}, 100)
	if !slices.Equal(append(first, rest...), all) {
		t.Errorf("%v and %v", first, rest)
	}
}

// The hash of a key is what docs/choosing.md says, forever.
func TestHash(t *testing.T) {
	t.Parallel()
	var h hasher
	h.part("dir/part-7")
	h.next("cat")
	h.next("")
	for text, got := range map[string]uint64{"sample 5 part-7\x001": h.of("sample", 5), "split 0 part-7\x001": h.of("split", 0)} {
		sum := sha256.Sum256([]byte(text))
		if want := binary.BigEndian.Uint64(sum[:]); got != want {
			t.Errorf("%q: %x, want %x", text, got, want)
		}
	}
	h.next("cat")
	if got := h.of("sample", 7); got != 0x88fe2c179d363cf3 {
		t.Errorf("%x", got)
	}
}

func TestSample(t *testing.T) {
	t.Parallel()
	few, _ := chosen(t, Options{Sample: "0.1", Seed: 4}, 20000)
	more, _ := chosen(t, Options{Sample: "0.2", Seed: 4}, 20000)
	others, _ := chosen(t, Options{Sample: "0.1", Seed: 5}, 20000)
	all, _ := chosen(t, Options{Sample: "1"}, 500)
	if math.Abs(float64(len(few))-2000) > 150 || len(all) != 500 || slices.Equal(few, others) {
		t.Errorf("%d of 20000, %d of 500", len(few), len(all))
	}
	if in := slices.DeleteFunc(slices.Clone(few), func(k string) bool { return slices.Contains(more, k) }); len(in) > 0 {
		t.Errorf("%d of a tenth are not among a fifth", len(in))
	}
	again, _ := chosen(t, Options{Sample: "0.1", Seed: 4}, 10000)
	if !slices.Equal(again, few[:len(again)]) {
		t.Error("more samples change what is drawn")
	}
	for _, text := range []string{"", "0", "1.1", "-0.5", "half", "0.0", "1/2", "1e400", "Inf", "0x1p-2"} {
		if CheckFraction(text) == nil {
			t.Errorf("%q is a fraction", text)
		}
	}
}

// Every sample is on one side, whatever the fractions; what they leave is on none.
func TestSplit(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"a=0.9,b=0.1": 5000, "a=0.3,b=0.3,c=0.4": 5000, "a=0.1,b=0.2": 1500} {
		sides, err := ParseSplit(text)
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[string]bool)
		for _, s := range sides {
			keys, _ := chosen(t, Options{Split: text, Side: s.Name}, 5000)
			for _, k := range keys {
				if seen[k] {
					t.Errorf("%s: %s is on two sides", text, k)
				}
				seen[k] = true
			}
		}
		if len(seen) != want && (want == 5000 || math.Abs(float64(len(seen)-want)) > 200) {
			t.Errorf("%s: %d of 5000 samples", text, len(seen))
		}
	}
	for text, want := range map[string]string{
		"a": "not NAME=FRACTION", "a=0.5,a=0.5": "named twice", "a=0.9,b=0.11": "more than 1: 1.01", "a=0": "above 0", "=0.5": "it is empty",
		"../x=1": "begins with a dot", "a/b=1": "slash", "a.ffr=1": "as a shard", "a=0.5,": "not NAME=FRACTION",
	} {
		if _, err := ParseSplit(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", text, err, want)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "keys")
	read := func(text string) *keySet {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		k, err := ReadKeys(file, 0)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	listed := read("\ufeff3\r\n\n5\n3\n7")
	if listed.N != 3 || listed.SHA256 != read("3\n5\n7\n").SHA256 || listed.SHA256 == read("3\n7\n5\n").SHA256 {
		t.Errorf("%+v", listed)
	}
	got, c := chosen(t, Options{Keys: listed}, 10)
	if err := c.Finish(); strings.Join(got, " ") != "3 5 7" || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	got, _ = chosen(t, Options{Drop: listed}, 10)
	if strings.Join(got, " ") != "0 1 2 4 6 8 9" {
		t.Errorf("dropped to %v", got)
	}
	_, c = chosen(t, Options{Keys: listed}, 6) // the same list again: what was found before does not count
	if err := c.Finish(); err == nil || !strings.Contains(err.Error(), `no sample has the key "7"`) {
		t.Errorf("Finish returned %v", err)
	}
	_, c = chosen(t, Options{Keys: listed}, 2)
	if err := c.Finish(); err == nil || !strings.Contains(err.Error(), `"3", nor 2 others of the 3`) {
		t.Errorf("Finish returned %v", err)
	}
	_, c = chosen(t, Options{Keys: listed, Unknown: UnknownSkip}, 2)
	if err := c.Finish(); err != nil {
		t.Error(err)
	}
	// With a limit, the others are still looked for.
	got, c = chosen(t, Options{Keys: listed, Limit: 1}, 6)
	if c.Done() || len(got) != 1 {
		t.Errorf("done with 5 of 3, 5, 7: %v", got)
	}
	for text, want := range map[string]string{"": "lists no key", "\n\r\n": "lists no key"} {
		os.WriteFile(file, []byte(text), 0o644)
		if _, err := ReadKeys(file, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	os.WriteFile(file, []byte("abcdef\n"), 0o644)
	if _, err := ReadKeys(file, 6); err == nil || !strings.Contains(err.Error(), "max-keys-size") {
		t.Errorf("a list over the limit: %v", err)
	}
	if _, err := New(Options{Keys: &keySet{N: 1}}, nil); err == nil {
		t.Error("a list that a plan names chooses")
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	c, err := New(Options{SplitBy: "cls"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	leave := func(value string) error {
		_, err := c.Part("x").Leave(&converters.Sample{Fields: []converters.Field{{Name: "cls", Value: converters.Bytes([]byte(value))}}})
		return err
	}
	for _, v := range []string{"b", "a", "b "} {
		if err := leave(v); err != nil {
			t.Error(err)
		}
	}
	if got := c.Values(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("values %q", got)
	}
	for _, v := range []string{"", ".", "..", "a/b", ".hidden", "x.ffr", "a\nb", "a\xff", strings.Repeat("x", 201)} {
		if err := leave(v); err == nil {
			t.Errorf("%q is a name", v)
		}
	}
	if _, err := c.Part("x").Leave(&converters.Sample{}); err == nil || !strings.Contains(err.Error(), "no cls to split by") {
		t.Errorf("a sample without the field: %v", err)
	}
	for i := range maxSides {
		err = leave(fmt.Sprint(i))
	}
	if err == nil || !strings.Contains(err.Error(), "more than 1000 values") {
		t.Errorf("1002 values: %v", err)
	}
}

func TestSortKeys(t *testing.T) {
	t.Parallel()
	values := []converters.Value{
		converters.Int(-5), converters.Float(-0.5), converters.Int(0), converters.Bytes([]byte("2")), converters.Float(2.5), converters.Int(10), converters.Float(math.Inf(1)),
		converters.Bytes(nil), converters.Bytes([]byte("a")), converters.Bytes([]byte("a b")), converters.Bytes([]byte("b")),
	}
	c, err := New(Options{Sort: "x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var keys SortKeys
	for i := range values {
		if err := c.AddSortKey(&keys, &converters.Sample{Fields: []converters.Field{{Name: "x", Value: values[i]}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.AddSortKey(&keys, &converters.Sample{}); err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(keys.ends); i++ {
		if bytes.Compare(keys.At(i-1), keys.At(i)) >= 0 {
			t.Errorf("value %d is not above the one before", i)
		}
	}
	long := &converters.Sample{Fields: []converters.Field{{Name: "x", Value: converters.Bytes(bytes.Repeat([]byte("x"), maxSortKey+1))}}}
	if err := c.AddSortKey(&keys, long); err == nil {
		t.Error("a text over the limit is sorted")
	}
}

// An order by what no sample has is refused, where there are samples.
func TestSortUnknown(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		by      string
		samples []converters.Sample
		refused bool
	}{
		{"x", nil, false},
		{"x", []converters.Sample{{Fields: []converters.Field{{Name: "y"}}}}, true},
		{"x", []converters.Sample{{}, {Fields: []converters.Field{{Name: "x"}}}}, false},
		{"label", []converters.Sample{{}}, true},
		{"key", []converters.Sample{{}}, true},
		{"size", []converters.Sample{{}}, false},
	} {
		c, err := New(Options{Sort: row.by}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var keys SortKeys
		for i := range row.samples {
			if err := c.AddSortKey(&keys, &row.samples[i]); err != nil {
				t.Error(err)
			}
		}
		if err := c.Finish(); (err != nil) != row.refused {
			t.Errorf("%s of %d samples: %v", row.by, len(row.samples), err)
		}
	}
}

func TestOther(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		was, is *Options
		want    string
	}{
		{nil, nil, ""}, {nil, &Options{}, ""}, {&Options{Limit: 5}, &Options{Limit: 5}, ""},
		{&Options{Limit: 5}, nil, "it was made with option limit=5"}, {nil, &Options{Where: "a=1"}, "it was made without option where"},
		{&Options{Keys: &keySet{N: 2, SHA256: "abcdef0123456789"}}, nil, "option keys=a list of 2 keys (SHA-256 abcdef012345…)"},
		{&Options{Keys: &keySet{N: 2, SHA256: "ab"}}, &Options{Keys: &keySet{N: 2, SHA256: "ab", at: map[string]uint32{}}}, ""},
	} {
		if got := Other(row.was, row.is); got != row.want && (row.want == "" || !strings.Contains(got, row.want)) {
			t.Errorf("%v, %v: %q, want %q", row.was, row.is, got, row.want)
		}
	}
}

// An index asks of every sample, so asking allocates nothing.
func TestLeaveAllocates(t *testing.T) {
	s := &converters.Sample{Key: "dogs/0007", Fields: []converters.Field{{Name: "jpg", Value: converters.Opaque(500)}, {Name: "cls", Value: converters.Bytes([]byte("3"))}}}
	for _, opts := range []Options{{Where: "key~^dogs/ and jpg.size<1KiB and label=3 and size>2"}, {Sample: "0.999999", Split: "a=1", Side: "a"}, {Limit: 1 << 40}} {
		c, err := New(opts, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := c.Part("x")
		if n := testing.AllocsPerRun(100, func() {
			if reason, err := p.Leave(s); reason != "" || err != nil || c.Count() != "" {
				t.Fatal(reason, err)
			}
		}); n > 0 {
			t.Errorf("%v: %v allocations", &opts, n)
		}
	}
}

func BenchmarkLeave(b *testing.B) {
	s := &converters.Sample{Key: "dogs/0007", Fields: []converters.Field{{Name: "jpg", Value: converters.Opaque(500)}, {Name: "cls", Value: converters.Bytes([]byte("3"))}}}
	for _, opts := range []Options{{Where: "label=3 and jpg.size<1KiB"}, {Where: "key~^dogs/"}, {Sample: "0.5"}} {
		c, err := New(opts, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(opts.String(), func(b *testing.B) {
			b.ReportAllocs()
			p := c.Part("x")
			for b.Loop() {
				if _, err := p.Leave(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
