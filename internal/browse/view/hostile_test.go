package view

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
)

// maxPage is what all that is shown of a sample may take, as JSON: texts, escaped, and the digits, tables and nodes beside them.
const maxPage = 8 << 20

// check returns what is wrong with what is shown.
func check(t *testing.T, fields []Field, card Card) {
	t.Helper()
	b, err := json.Marshal(fields)
	if err != nil || len(b) > maxPage {
		t.Errorf("%d bytes are shown: %v", len(b), err)
	}
	visible := func(what, s, also string) {
		for _, r := range s {
			if !unicode.IsGraphic(r) && !strings.ContainsRune(also, r) || r == utf8.RuneError && !utf8.ValidString(s) {
				t.Errorf("%s has the character %U: %.200q", what, r, s)
				return
			}
		}
	}
	var countNodes func(n *node, depth int) int
	countNodes = func(n *node, depth int) (count int) {
		visible("a key", n.Key, "")
		visible("a value", n.Text, "\n\t\u200c\u200d")
		if depth > maxDepth || n.More < 0 || len(n.Children)+n.More != n.Count {
			t.Errorf("a node at depth %d: %d of %d", depth, len(n.Children), n.Count)
		}
		for _, c := range n.Children {
			count += countNodes(c, depth+1)
		}
		return count + 1
	}
	nodes := 0
	for i := range fields {
		f := &fields[i]
		visible("a name", f.Name, "")
		visible("a problem", f.Problem, "")
		visible("a text", f.Text, "\n\t\u200c\u200d")
		if f.Tree != nil {
			nodes += countNodes(f.Tree, 0)
		}
		if utf8.RuneCountInString(f.Name) > maxName+1 {
			t.Errorf("a name of %d bytes", len(f.Name))
		}
		if _, ok := rank[f.Kind]; !ok {
			t.Errorf("the kind %q", f.Kind)
		}
	}
	if nodes > 5000+len(fields) {
		t.Errorf("%d nodes", nodes)
	}
	visible("a card", card.Text, "\u200c\u200d")
	if utf8.RuneCountInString(card.Text) > maxCard || card.Index >= max(0, len(fields)) && len(fields) > 0 {
		t.Errorf("card %+v", card)
	}
}

// It is not parallel: memory is counted. Each row is a sample that is large, deep or strange. Little is allocated for it, in little time.
func TestHostile(t *testing.T) {
	deep := any("end")
	for range 100_000 {
		deep = []any{deep}
	}
	deepMap := any(int64(1))
	for range 100_000 {
		deepMap = converters.Map{{Key: "a", Value: deepMap}}
	}
	row := make([]any, 10_000)
	for i := range row {
		row[i] = int64(i)
	}
	many, ragged, slices := make([]any, 1000), make([]any, 1000), make([]any, 1000)
	for i := range many {
		many[i], ragged[i], slices[i] = row, row[:9000+i], many
	}
	keys := make(converters.Map, 100_000)
	key, value := strings.Repeat("\u202e", 1000), strings.Repeat("\x00", 2000)
	for i := range keys {
		keys[i] = converters.Pair{Key: key, Value: value}
	}
	fields := make([]converters.Value, 100_000)
	for i := range fields {
		if i > 300 {
			fields[i] = fields[0]
			continue
		}
		fields[i] = converters.Text(bytes.Repeat([]byte("\x01"), 70_000)[:70_000:70_000])
	}
	for name, values := range map[string][]converters.Value{
		"a text of 128 MiB":           {converters.Text(make([]byte, 1<<27))},
		"bytes of 128 MiB":            {converters.Bytes(make([]byte, 1<<27))},
		"text in bytes, large":        {converters.Bytes(bytes.Repeat([]byte("a猫\n"), 20<<20))},
		"a nested text":               {converters.Nested(strings.Repeat("\u202e", 10<<20))},
		"nested bytes":                {converters.Nested(make([]byte, 64<<20))},
		"ten million numbers":         {converters.Nested(many)},
		"ten million in lists":        {converters.Nested(ragged)},
		"ten thousand million":        {converters.Nested(slices)},
		"a column":                    {converters.Nested(converters.Column{Type: "int64", Values: row})},
		"a column of nothing":         {converters.Nested(converters.Column{Type: "str", Values: make([]any, 1<<20)})},
		"a hundred thousand levels":   {converters.Nested(deep)},
		"a hundred thousand maps":     {converters.Nested(deepMap)},
		"a hundred thousand keys":     {converters.Nested(keys)},
		"JSON of many levels":         {converters.Text([]byte(strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000)))},
		"JSON of too many levels":     {converters.Text([]byte(strings.Repeat(`[{"a":`, 10_000)))},
		"JSON of many objects":        {converters.Text([]byte("[" + strings.Repeat("{},", 16_000) + "0]"))},
		"a hundred thousand fields":   fields,
		"empty lists":                 {converters.Nested([]any{}), converters.Nested(converters.Map{}), converters.Nested([]any{[]any{}}), converters.Nested(converters.Column{})},
		"characters":                  {converters.Text([]byte("\x00\x7f\u0085\u200b\u200e\u202a\u202e\u2028\u2066\ufeff\ufff9\U000e0001\xff\xed\xa0\x80\xf4\x90\x80\x80"))},
		"numbers that are strange":    {converters.Nested([]any{nil, true, uint64(1<<64 - 1)})},
		"a value of an unknown type":  {converters.Nested(struct{ x int }{1})},
		"a number too many":           {converters.Nested([]any{[]any{int64(1)}, []any{int64(1), int64(2)}})},
		"numbers, and then a text":    {converters.Nested([]any{int64(1), "a"})},
		"a table, and then a number":  {converters.Nested([]any{[]any{int64(1)}, int64(2)})},
		"numbers and an empty list":   {converters.Nested([]any{[]any{}, []any{int64(2)}})},
		"the same list in all places": {converters.Nested([]any{many, ragged, many})},
	} {
		s := sampleOf(values...)
		s.Fields[0].Name = "\x1b]0;a\x07<b>\u202e" + strings.Repeat("é", 5000) + ".json"
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		got, card := Fields(s), CardOf(s)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 24<<20 {
			t.Errorf("%s: %d bytes were allocated", name, n)
		}
		check(t, got, card)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// Texts are cut between characters, and say so.
func TestCut(t *testing.T) {
	t.Parallel()
	const long = "aé猫🐈"
	for n := range len(long) + 2 {
		f := fieldsOf(sampleOf(converters.Text([]byte(long))), bounds{Text: max(1, n)})[0]
		if !strings.HasPrefix(long, f.Text) || f.Cut != (len(f.Text) < len(long)) || len(f.Text) > max(1, n) || len(f.Text) < n-3 && n <= len(long) {
			t.Errorf("%d bytes: %q %v", n, f.Text, f.Cut)
		}
		if f := fieldsOf(sampleOf(converters.Bytes([]byte(long))), bounds{Text: n + 4})[0]; f.Kind != kindText {
			t.Errorf("%d bytes of it are not text", n+4)
		}
	}
	s := sampleOf(converters.Text(bytes.Repeat([]byte("x"), 100)), converters.Text(bytes.Repeat([]byte("y"), 100)), converters.Text([]byte("z")))
	fields := fieldsOf(s, bounds{All: 150})
	if len(fields[0].Text) != 100 || len(fields[1].Text) != 50 || !fields[1].Cut || fields[2].Text != "" || !fields[2].Cut {
		t.Errorf("%+v", fields)
	}
}

// The begin of long JSON is shown with its structure if the field is called so.
func TestLongJSON(t *testing.T) {
	t.Parallel()
	data := []byte(`{"a": [` + strings.Repeat(`"x]", `, 1000) + "0]}")
	s := sampleOf(converters.Bytes(data), converters.Bytes(data))
	s.Fields[0].Name = "meta.JSON"
	fields := fieldsOf(s, bounds{Text: 100})
	if f := fields[0]; f.Kind != kindJSON || !f.Cut || !strings.HasPrefix(f.Text, "{\n  \"a\": [\n    \"x]\",\n    \"x]\",\n") || len(f.Text) > 100 {
		t.Errorf("%+v", f)
	}
	if f := fields[1]; f.Kind != kindText || !f.Cut || f.Text != string(data[:100]) {
		t.Errorf("%+v", f)
	}
}

// What indent writes is what encoding/json does, up to maxIndent levels.
func TestIndent(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{}`, `[]`, `[[],{}]`, `{"a":1,"b":[1,2,{"c":null}],"":"\"}{][,:\\"}`, `[1.5e3,true,"é"]`, " [ 1 , { } , [ ] ] ", `{"a":{"b":{"c":{"d":[[[[]]]]}}}}`} {
		var want bytes.Buffer
		if err := json.Indent(&want, []byte(strings.TrimSpace(text)), "", "  "); err != nil {
			t.Fatal(err)
		}
		if got, cut := indent([]byte(text), 1000); string(got) != want.String() || cut {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want.String())
		}
		for n := range len(text) {
			indent([]byte(text[:n]), n) // no cut is a panic
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"": "", "jpg": "jpg", "a b": "a b", "<b>": "<b>", "a\nb\x00": `a\nb\x00`, "\u202egpj": `\u202egpj`, "\xff": `\xff`,
		strings.Repeat("x", 256): strings.Repeat("x", 256), strings.Repeat("x", 257): strings.Repeat("x", 256) + "…", strings.Repeat("猫", 400): strings.Repeat("猫", 256) + "…",
	} {
		if got := shownName(name); got != want {
			t.Errorf("%.50q: %.300q, want %.300q", name, got, want)
		}
	}
}
