package input

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/place"
)

// braceTable is what braceexpand's rules make of each pattern; nil is an error.
var braceTable = []struct {
	pattern string
	want    []string
}{
	{`item{1..3}`, []string{"item1", "item2", "item3"}},
	{`{a..c}`, []string{"a", "b", "c"}},
	{`index.html{,.backup}`, []string{"index.html", "index.html.backup"}},
	{`python{2.{5..7},3.{2,3}}`, []string{"python2.5", "python2.6", "python2.7", "python3.2", "python3.3"}},
	{`{07..10}`, []string{"07", "08", "09", "10"}},
	{`{a..g..2}`, []string{"a", "c", "e", "g"}},
	{`{4..1}`, []string{"4", "3", "2", "1"}},
	{`{2..-1}`, []string{"2", "1", "0", "-1"}},
	{`{1\{2,3}`, []string{"1{2", "3"}},
	{`{1{2,3}`, nil},
	{`{1,2}3}`, nil},
	{`a}b`, nil},
	{`{`, nil},
	{`}`, nil},
	{`plain`, []string{"plain"}},
	{``, []string{""}},
	{`a`, []string{"a"}},
	{`{}`, []string{"{}"}},
	{`{a}`, []string{"{a}"}},
	{`{a}{b}`, []string{"{a}{b}"}},
	{`{{a,b}}`, []string{"{a}", "{b}"}},
	{`{{1..3}}`, []string{"{1}", "{2}", "{3}"}},
	{`{a{1..2}}`, []string{"{a1}", "{a2}"}},
	{`{,}`, []string{"", ""}},
	{`{,,a}`, []string{"", "", "a"}},
	{`{a,b}{1..2}`, []string{"a1", "a2", "b1", "b2"}},
	{`{1..2}{a,b}x{0,1}`, []string{"1ax0", "1ax1", "1bx0", "1bx1", "2ax0", "2ax1", "2bx0", "2bx1"}},
	{`{0..10..5}`, []string{"0", "5", "10"}},
	{`{10..0..5}`, []string{"10", "5", "0"}},
	{`{10..0..-5}`, []string{"10", "5", "0"}},
	{`{0..10..-5}`, []string{"0", "5", "10"}},
	{`{1..3..0}`, []string{"1", "2", "3"}},
	{`{1..3..10}`, []string{"1"}},
	{`{00..3}`, []string{"00", "01", "02", "03"}},
	{`{0..03}`, []string{"00", "01", "02", "03"}},
	{`{-1..1}`, []string{"-1", "0", "1"}},
	{`{-01..1}`, []string{"-01", "000", "001"}},
	{`{-1..01}`, []string{"-1", "00", "01"}},
	{`{-0..2}`, []string{"0", "1", "2"}},
	{`{0..-0}`, []string{"0"}},
	{`{001..-1}`, []string{"001", "000", "-01"}},
	{`{9..011}`, []string{"009", "010", "011"}},
	{`{098..101}`, []string{"098", "099", "100", "101"}},
	{`{5..5}`, []string{"5"}},
	{`{A..C}`, []string{"A", "B", "C"}},
	{`{C..A}`, []string{"C", "B", "A"}},
	{`{A..A}`, []string{"A"}},
	{`{Y..b}`, []string{"Y", "Z", "a", "b"}},
	{`{b..Y}`, []string{"b", "a", "Z", "Y"}},
	{`{a..A..20}`, []string{"a", "G"}},
	{`{a..c..0}`, []string{"a", "b", "c"}},
	{`{a..}`, []string{"{a..}"}},
	{`{..}`, []string{"{..}"}},
	{`{1..}`, []string{"{1..}"}},
	{`{1..a}`, []string{"{1..a}"}},
	{`{a..1}`, []string{"{a..1}"}},
	{`{1...3}`, []string{"{1...3}"}},
	{`{1..2..3..4}`, []string{"{1..2..3..4}"}},
	{`{1.5..2}`, []string{"{1.5..2}"}},
	{`{+1..3}`, []string{"{+1..3}"}},
	{`{ 1..3}`, []string{"{ 1..3}"}},
	{`{a,b`, nil},
	{`a,b}`, nil},
	{`\{a,b\}`, []string{"{a,b}"}},
	{`{a\,b,c}`, []string{"a,b", "c"}},
	{`{a,b\}c}`, []string{"a", "b}c"}},
	{`\\{1,2}`, []string{"\\1", "\\2"}},
	{`\{1,2}`, nil},
	{`a\`, []string{"a\\"}},
	{`\a\b`, []string{"ab"}},
	{`x\`, []string{"x\\"}},
	{`{1..\3}`, []string{"{1..3}"}},
	{`{a\..c}`, []string{"{a..c}"}},
	{`$ {1,2}`, []string{"$ 1", "$ 2"}},
	{`{a,{b,{c,{d,e}}}}`, []string{"a", "b", "c", "d", "e"}},
	{`{a{b,c},d{e,f}}{1,2}`, []string{"ab1", "ab2", "ac1", "ac2", "de1", "de2", "df1", "df2"}},
	{`shards-{000..002}.tar`, []string{"shards-000.tar", "shards-001.tar", "shards-002.tar"}},
	{`{train,val}-{0..1}.tar`, []string{"train-0.tar", "train-1.tar", "val-0.tar", "val-1.tar"}},
	{`a b{1,2} c`, []string{"a b1 c", "a b2 c"}},
	{`é{1,2}ü`, []string{"é1ü", "é2ü"}},
	{`{é,ü}`, []string{"é", "ü"}},
	{`{{,}{,}}`, []string{"{}", "{}", "{}", "{}"}},
	{`{{a},b}`, []string{"{a}", "b"}},
	{`{a{},b}`, []string{"a{}", "b"}},

	// Ours: the reference lets a } before its { pass.
	{`}{`, nil},
	{`a}{b,c`, nil},
	// Ours: <…> around a range.
	{`s-<000..002>.tar`, []string{"s-000.tar", "s-001.tar", "s-002.tar"}},
	{`<a..c>{1,2}`, []string{"a1", "a2", "b1", "b2", "c1", "c2"}},
	{`<0..10..5>`, []string{"0", "5", "10"}},
	{`{x<1..2>,y}`, []string{"x1", "x2", "y"}},
	{`{<1..2>}`, []string{"{1}", "{2}"}},
	{`<a,b>`, []string{"<a,b>"}},
	{`<>`, []string{"<>"}},
	{`a<b`, []string{"a<b"}},
	{`<<1..2>>`, []string{"<1>", "<2>"}},
	{`\<1..2>`, []string{"<1..2>"}},
	{`<1..2`, []string{"<1..2"}},
	{`{1..<2>}`, []string{"{1..<2>}"}},
	// Ours: :: joins.
	{`a::b`, []string{"a", "b"}},
	{`x{1..2}::y<1..2>`, []string{"x1", "x2", "y1", "y2"}},
	{`a::`, []string{"a", ""}},
	{`a\::b`, []string{"a::b"}},
	{`a:b`, []string{"a:b"}},
	{`a:::b`, []string{"a", ":b"}},
	{`{a::b,c}`, nil},
	// Ours: ${NAME} reads WDS_NAME.
	{`${ROOT}/x{1,2}`, []string{"/data/x1", "/data/x2"}},
	{`${PATTERN}.tar`, []string{"1.tar", "2.tar"}},
	{`${JOINED}`, []string{"p", "q"}},
	{`${RECURSIVE}`, []string{"${ROOT}"}},
	{`${EMPTY}a`, []string{"a"}},
	{`${UNSET}`, nil},
	{`\${ROOT}`, []string{"${ROOT}"}},
	{`$ROOT`, []string{"$ROOT"}},
	{`${a,b}`, []string{"$a", "$b"}},
	{`${1..2}`, []string{"$1", "$2"}},
	// Numbers that do not fit.
	{`{1..99999999999999999999}`, nil},
	{`{9223372036854775806..9223372036854775807}`, []string{"9223372036854775806", "9223372036854775807"}},
	{`{-9223372036854775808..9223372036854775807..9223372036854775807}`, []string{"-9223372036854775808", "-1", "9223372036854775806"}},
	{`{1..5..99999999999999999999}`, []string{"1"}},
	{`{-8..9223372036854775807..9227372036854775807}`, []string{"-8"}},
	{`{9223372036854775807..-8..9227372036854775807}`, []string{"9223372036854775807"}},
	{`{-8..9223372036854775807..9223372036854775808}`, []string{"-8", "9223372036854775800"}},
	{`{-9223372036854775808..9223372036854775807..18446744073709551615}`, []string{"-9223372036854775808", "9223372036854775807"}},
	{`{9223372036854775807..-9223372036854775808..18446744073709551615}`, []string{"9223372036854775807", "-9223372036854775808"}},
	{`{-9223372036854775808..9223372036854775807..18446744073709551616}`, []string{"-9223372036854775808"}},
	{`{a..z..18446744073709551615}`, []string{"a"}},
	{`{1..9223372036854775807}`, nil},
	{`{-9223372036854775808..9223372036854775807}`, nil},
}

func testEnv(key string) (string, bool) {
	v, ok := map[string]string{
		"WDS_ROOT": "/data", "WDS_PATTERN": "{1..2}", "WDS_JOINED": "p::q", "WDS_EMPTY": "",
		"WDS_RECURSIVE": `${ROOT}`,
	}[key]
	return v, ok
}

func collect(seq iter.Seq2[string, error]) (names []string, err error) {
	for name, err := range seq {
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

func TestExpand(t *testing.T) {
	t.Parallel()
	for _, tt := range braceTable {
		t.Run(tt.pattern, func(t *testing.T) {
			got, err := collect(Expand(tt.pattern, Options{LookupEnv: testEnv}))
			if tt.want == nil {
				var e *place.Error
				if !errors.Is(err, errPattern) || !errors.As(err, &e) || strings.Contains(err.Error(), "\n") {
					t.Fatalf("got %q, %v; want one line of errPattern", got, err)
				}
				return
			}
			if err != nil || !slices.Equal(got, tt.want) {
				t.Fatalf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestExpandNamesUnsetVariable(t *testing.T) {
	t.Parallel()
	_, err := collect(Expand("${NO_SUCH}/a", Options{LookupEnv: testEnv}))
	if err == nil || !strings.Contains(err.Error(), "WDS_NO_SUCH") {
		t.Fatalf("got %v", err)
	}
}

func TestExpandLimits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, pattern string
		max           int64
		ok            bool
	}{
		{"at the limit", "{1..10}", 10, true},
		{"one more", "{1..11}", 10, false},
		{"joined", "{1..6}::{1..5}", 10, false},
		{"joined at the limit", "{1..5}::{1..5}", 10, true},
		{"product", "{1..4}{1..4}", 10, false},
		{"list", "{a,b,c,d}{1..3}", 11, false},
		{"default", "{1..10000001}", 0, false},
		{"overflow", strings.Repeat("{1..1000000000}", 20), 0, false},
		{"doubling", strings.Repeat("{a,b}", 5000), 0, false},
		{"long product of one", strings.Repeat("{1..1}", 20000), 0, true},
		{"nested", strings.Repeat("{a,", 60) + strings.Repeat("}", 60), 0, true},
		{"nested too deep", strings.Repeat("{a,", 100) + strings.Repeat("}", 100), 0, false},
		{"braces too deep", strings.Repeat("{", 100000) + strings.Repeat("}", 100000), 0, false},
		{"too long", strings.Repeat("a", maxPattern+1), 0, false},
		{"environment bomb", strings.Repeat("${BIG}", 100), 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env := func(string) (string, bool) { return strings.Repeat("x", 100_000), true }
			_, err := collect(Expand(tt.pattern, Options{MaxNames: tt.max, LookupEnv: env}))
			if tt.ok != (err == nil) || err != nil && (!errors.Is(err, errPattern) || len(err.Error()) > 1000) {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestExpandIsLazy(t *testing.T) { // not parallel: it counts allocations
	n := 0
	allocated := testing.AllocsPerRun(1, func() {
		n = 0
		for name, err := range Expand("{0000000..9999999}", Options{}) {
			if err != nil || name != fmt.Sprintf("%07d", n) {
				t.Fatal(name, err)
			}
			if n++; n == 3 {
				break
			}
		}
	})
	if n != 3 || allocated > 200 {
		t.Fatalf("%d names, %v allocations", n, allocated)
	}
}
