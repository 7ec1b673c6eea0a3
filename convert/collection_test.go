package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/samples/spec"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// soundSpecs are specifications, and what a plan keeps of each.
var soundSpecs = []struct{ name, text, kept string }{
	{"least", "dataset:\n- shards: a.tar\n", `{"dataset":[{"format":"tar","shards":["a.tar"]}]}`},
	{"WebDataset's", "prefix: /data/\ndatasets:\n  - name: cc\n    buckets: [b/]\n    shards: ['x-{00..07}.tar', y.tar]\n  - shards: [z.tar]\n", `{"dataset":[{"format":"tar","shards":["/data/b/x-{00..07}.tar","/data/b/y.tar"]},{"format":"tar","shards":["/data/z.tar"]}]}`},
	{"JSON", `{"dataset": [{"shards": ["a.tar"], "fraction": 0.25}], "seed": 18446744073709551615, "shuffle": true}`, `{"dataset":[{"format":"tar","shards":["a.tar"],"times":0.25}]}`},
	{"fraction of all", "dataset:\n- {shards: a, fraction: 1}\n- {shards: b, repeat: 1}\n- {shards: c, repeat: 2}\n- {shards: d, repeat: 2.5}\n", `{"dataset":[{"format":"tar","shards":["a"]},{"format":"tar","shards":["b"]},{"format":"tar","shards":["c"],"times":2},{"format":"tar","shards":["d"],"times":2.5}]}`},
	{"fields", "dataset:\n- shards: a\n  fields: jpg;png,cls\n  rename: {image: jpg;png, y: cls}\n- shards: b\n  fields: [jpg;png, cls]\n  rename: [image=jpg;png]\n", `{"dataset":[{"format":"tar","shards":["a"],"fields":"jpg;png,cls","rename":["image=jpg;png","y=cls"]},{"format":"tar","shards":["b"],"fields":"jpg;png,cls","rename":["image=jpg;png"]}]}`},
	{"options", "dataset:\n- format: csv\n  shards: a\n  options: {header: true, data-part-num: 8, columns: [x, 'a,b', 7], part-name-prefix: '', delimiter: \"\\t\"}\n- options: {on-duplicate-key: keep}\n  shards: b\n- {format: cbor, options: {format: msgpack}, shards: c}\n- {shards: d, options: {split: 'train,val'}, format: folder}\n",
		`{"dataset":[{"format":"csv","shards":["a"],"options":{"columns":"x,\"a,b\",7","data-part-num":"8","delimiter":"\t","header":"true","part-name-prefix":""}},{"format":"tar","shards":["b"],"options":{"on-duplicate-key":"keep"}},{"format":"cbor","shards":["c"],"options":{"format":"msgpack"}},{"format":"folder","shards":["d"],"options":{"split":"train,val"}}]}`},
	{"options of one flag", "dataset:\n- format: csv\n  shards: a\n  options: {part: {count: 8, prefix: ''}, header: true, table: {columns: [a, b]}}\n",
		`{"dataset":[{"format":"csv","shards":["a"],"options":{"data-part-num":"8","header":"true","part-name-prefix":"","table-columns":"a,b"}}]}`},
	{"a URL with a password", "prefix: 'https://me:secret@host/'\ndataset:\n- shards: 'a-{0..9}.tar?X-Amz-Signature=abc'\n", `{"dataset":[{"format":"tar","shards":["https://host/a-{0..9}.tar?X-Amz-Signature=REDACTED"]}]}`},
	// The specifications of WebDataset's tests (tests/test_yamlspecs.py).
	{"perepoch", "datasets:\n\n  - name: CDIP\n    perepoch: 10\n    buckets:\n      - ./gs/nvdata-ocropus/words/\n    shards:\n    - cdipsub-{000000..000092}.tar\n\n  - name: Google 1000 Books\n    perepoch: 20\n    buckets:\n      - ./gs/nvdata-ocropus/words/\n    shards:\n      - gsub-{000000..000167}.tar\n",
		`{"dataset":[{"format":"tar","shards":["./gs/nvdata-ocropus/words/cdipsub-{000000..000092}.tar"]},{"format":"tar","shards":["./gs/nvdata-ocropus/words/gsub-{000000..000167}.tar"]}]}`},
	{"resample and choose", "datasets:\n\n  - name: CDIP\n    resample: 10\n    buckets: ./words/\n    shards: cdipsub-{000000..000092}.tar\n\n  - name: Google 1000 Books\n    choose: 20\n    buckets:\n      - ./words/\n    shards:\n      - gsub-{000000..000167}.tar\n",
		`{"dataset":[{"format":"tar","shards":["./words/cdipsub-{000000..000092}.tar"]},{"format":"tar","shards":["./words/gsub-{000000..000167}.tar"]}]}`},
	{"one bucket for all", "prefix: pipe:curl -s -L http://storage.googleapis.com/\nbuckets: ocropus4-data\ndatasets:\n  - shards: ia1/tess/ia1-{000000..000033}.tar\n  - shards: gsub/tess/gsub-{000000..000167}.tar\n    buckets: other\n",
		`{"dataset":[{"format":"tar","shards":["pipe:curl -s -L http://storage.googleapis.com/ocropus4-data/ia1/tess/ia1-{000000..000033}.tar"]},{"format":"tar","shards":["pipe:curl -s -L http://storage.googleapis.com/other/gsub/tess/gsub-{000000..000167}.tar"]}]}`},
	{"of a reader", "epoch: 1000\ndatasets:\n- {shards: a, extensions: jpg;png cls, scale: 2, scaleprob: 0.5, subsample: 0.25, shuffle: 1000, split_by_node: true, cachedir: /tmp, nworkers: 4}\n- {shards: b, extensions: [jpg, cls]}\n",
		`{"dataset":[{"format":"tar","shards":["a"],"times":0.25,"fields":"jpg;png,cls"},{"format":"tar","shards":["b"],"fields":"jpg,cls"}]}`},
	{"OneFlow's", "random_shuffle: true\nseed: -1\nshuffle_buffer_size: 1024\nshuffle_after_epoch: true\ndataset:\n- {shards: a, random_shuffle: true, seed: 7}\n", `{"dataset":[{"format":"tar","shards":["a"]}]}`},
	{"marks and comments", "\ufeff# comment\r\n---\r\ndataset: # here\r\n- shards: |-\r\n    a.tar\r\n", `{"dataset":[{"format":"tar","shards":["a.tar"]}]}`},
}

// badSpecs are mistakes: where each is told of and in which words. A schema cannot see all.
var badSpecs = []struct {
	name, text, at, want string
	unseen               bool
}{
	{"empty", "", "1:1", "the file is empty", false},
	{"comment alone", "# x\n", "1:1", "the file is empty", false},
	{"text", "a.tar\n", "1:1", "not a list of keys and values", false},
	{"list", "- shards: a\n", "1:1", "not a list of keys and values", false},
	{"no dataset", "seed: 1\n", "1:1", "there is no dataset:", false},
	{"two datasets", "dataset: [{shards: a}]\ndatasets: [{shards: a}]\n", "2:1", "both dataset: and datasets:", false},
	{"no collection", "dataset: []\n", "1:1", "not a list of collections", false},
	{"a map of collections", "dataset: {shards: a}\n", "1:1", "not a list of collections", false},
	{"too many", "dataset:\n" + strings.Repeat("- shards: a\n", spec.MaxCollections+1), "1:1", "more than 1000 collections", false},
	{"unknown key", "dataset:\n- shards: a\nseeed: 1\n", "3:1", `unknown key "seeed" (there are prefix, buckets, dataset`, false},
	{"unknown key of a collection", "dataset:\n- shards: a\n  fractoin: 0.5\n", "3:3", `unknown key "fractoin" (there are name, shards`, false},
	{"key that is a number", "dataset:\n- shards: a\n  7: 0.5\n", "3:3", `unknown key "7"`, true},
	{"key that comes twice", "dataset:\n- shards: a\n  shards: b\n", "3:3", "appears twice", true},
	{"no value", "dataset:\n- shards: a\n  name:\n", "3:3", "name: has no value", false},
	{"null", "dataset:\n- shards: ~\n", "2:3", "shards: has no value", false},
	{"collection of text", "dataset:\n- a.tar\n", "2:3", "not a list of keys and values", false},
	{"collection of nothing", "dataset:\n-\n- shards: a\n", "2:2", "not a list of keys and values", false},
	{"no shards", "dataset:\n- name: x\n", "2:3", "no shards", false},
	{"empty shards", "dataset:\n- shards: []\n", "2:11", "the list is empty", false},
	{"shards of numbers", "dataset:\n- shards: [a, 007]\n", "2:15", "want text", false},
	{"shards of nothing", "dataset:\n- shards: ['']\n", "2:12", "the text is empty", false},
	{"shards that are a map", "dataset:\n- shards: {a: b}\n", "2:11", "want text", false},
	{"standard input", "dataset:\n- shards: '-'\n", "2:11", "nothing from standard input", false},
	{"a list from standard input", "dataset:\n- shards: '@-'\n", "2:11", "nothing from standard input", false},
	{"prefix before patterns that are joined", "prefix: x/\ndataset:\n- shards: a::b\n", "3:11", "make a list of it", true},
	{"a URL with a password before ::", "prefix: /x\ndataset:\n- shards: 'http://me:hunter2@h/a::b'\n", "3:11", `"http://h/a::b"`, true},
	{"a signed URL for a key", "dataset:\n- 'http://h/a?sig=hunter2': b\n", "2:3", `unknown key "http://h/a?sig=REDACTED"`, false},
	{"a URL for a format", "dataset:\n- shards: a\n  format: http://me:hunter2@h\n", "3:11", `format: "http://h" is not a format here`, false},
	{"two buckets", "dataset:\n- shards: a\n  buckets: [b, c]\n", "3:12", "2 buckets", false},
	{"unknown format", "dataset:\n- shards: a\n  format: zip\n", "3:11", `format: "zip" is not a format here; there are tar, folder, csv, cbor`, false},
	{"format spec", "dataset:\n- shards: a\n  format: spec\n", "3:11", "is not a format here", false},
	{"fraction of nothing", "dataset:\n- shards: a\n  fraction: 0\n", "3:13", "want more than 0", false},
	{"fraction of less", "dataset:\n- shards: a\n  fraction: -0.5\n", "3:13", "want more than 0", false},
	{"fraction of more", "dataset:\n- shards: a\n  fraction: 1.5\n", "3:13", "want 1 at most (repeat:", false},
	{"fraction in words", "dataset:\n- shards: a\n  fraction: half\n", "3:13", "want a number", false},
	{"fraction that is no number", "dataset:\n- shards: a\n  fraction: .nan\n", "3:13", "want a number", true},
	{"repeated without end", "dataset:\n- shards: a\n  repeat: .inf\n", "3:11", "want a number", true},
	{"never repeated", "dataset:\n- shards: a\n  repeat: 0\n", "3:11", "want more than 0", false},
	{"repeated too often", "dataset:\n- shards: a\n  repeat: 1000.5\n", "3:11", "1000 at most", false},
	{"fraction and repeat", "dataset:\n- shards: a\n  fraction: 0.5\n  repeat: 2\n", "4:3", "exclude each other", false},
	{"fraction and subsample", "dataset:\n- shards: a\n  fraction: 0.5\n  subsample: 0.5\n", "4:3", "exclude each other", false},
	{"fields and extensions", "dataset:\n- shards: a\n  fields: jpg\n  extensions: jpg\n", "4:15", "exclude each other", false},
	{"two buckets for all", "buckets: [a, b]\ndataset:\n- shards: a\n", "1:10", "2 buckets", false},
	{"empty field", "dataset:\n- shards: a\n  fields: jpg,,cls\n", "3:11", "empty field name", true},
	{"rename without a name", "dataset:\n- shards: a\n  rename: [jpg]\n", "3:11", "want NEW=FIELD", false},
	{"rename to a name with =", "dataset:\n- shards: a\n  rename: {a=b: jpg}\n", "3:12", `cannot be named "a=b"`, false},
	{"rename twice", "dataset:\n- shards: a\n  rename: [a=b, a=c]\n", "3:11", "given twice", true},
	{"option of another format", "dataset:\n- shards: a\n  options: {header: true}\n", "3:21", "options.header: tar has no such option; it has allow-missing-trailer", false},
	{"option that is a limit", "dataset:\n- shards: a\n  options:\n    max-sample-size: 1TiB\n", "4:22", "options.max-sample-size: \"1TiB\": it is a limit", false},
	{"option of another kind", "dataset:\n- shards: a\n  format: csv\n  options:\n    header: yes\n", "5:13", `options.header: "yes": want true or false`, false},
	{"option of a few words", "dataset:\n- {shards: a, format: cbor, options: {format: json}}\n", "2:47", "want one of cbor, msgpack", false},
	{"option that is not a list", "dataset:\n- {shards: a, format: csv, options: {header: [true]}}\n", "2:46", "a list, where one value is wanted", false},
	{"option by two names", "dataset:\n- {shards: a, format: csv, options: {part: {count: 1}, data-part-num: 1}}\n", "2:56", `the option "data-part-num" appears twice`, true},
	{"option that one flag has not", "dataset:\n- {shards: a, format: csv, options: {part: {size: 1}}}\n", "2:51", "options.part: size: csv has no such option; it has part: {count, prefix, digits}, header", false},
	{"option that is a map", "dataset:\n- {shards: a, format: csv, options: {dtype: {x: int64}}}\n", "2:45", "want text", false},
	{"options in a list", "dataset:\n- {shards: a, options: [concatenated]}\n", "2:24", "not a list of keys and values", false},
	{"seed below 0", "seed: -2\ndataset:\n- shards: a\n", "1:7", "from 0 to", false},
	{"seed with a fraction", "seed: 1.5\ndataset:\n- shards: a\n", "1:7", "from 0 to", false},
	{"seed of 65 bits", "seed: 18446744073709551616\ndataset:\n- shards: a\n", "1:7", "from 0 to", false},
	{"shuffle in words", "shuffle: yes\ndataset:\n- shards: a\n", "1:10", "true or false", false},
	{"anchor", "dataset:\n- &x {shards: a}\n", "2:3", "anchors and aliases are not taken", true},
	{"alias", "dataset:\n- shards: *x\n", "2:11", "anchors and aliases are not taken", true},
	{"merge", "dataset:\n- shards: a\n  <<: {name: b}\n", "3:3", "anchors and aliases are not taken", true},
	{"tag", "dataset:\n- shards: !!str a\n", "2:11", "tags, directives", true},
	{"directive", "%YAML 1.2\n---\ndataset:\n- shards: a\n", "1:1", "tags, directives", true},
	{"complex key", "? dataset\n: [{shards: a}]\n", "1:1", "complex keys", true},
	{"two documents", "dataset:\n- shards: a\n---\ndataset:\n- shards: b\n", "4:8", "a second document", true},
	{"list in a list", "dataset:\n- - shards: a\n", "2:3", "a list in a list", true},
	{"brackets", "dataset: " + strings.Repeat("[", 100) + "\n", "1:18", "more than 8 brackets", true},
	{"bracket that stays open", "dataset:\n- shards: [a, b\n", "2:11", "not found", true},
	{"braces that stand for a map", "dataset:\n- shards: {000..009}.tar\n", "2:21", "stands in quotes", true},
	{"quote that stays open", "dataset:\n- shards: 'a\n", "2:11", "single-quoted", true},
	{"tab", "dataset:\n\t- shards: a\n", "2:1", "cannot start any token", true},
	{"wrong indentation", "dataset:\n- shards: a\n   name: b\n", "2:11", "", true},
	{"no UTF-8", "dataset:\n- shards: \"\xff\"\n", "2:12", "not text in UTF-8", true},
	{"a zero byte", "dataset:\n- shards: a\x00\n", "2:12", "not text in UTF-8", true},
	{"a long prefix before many", "prefix: " + strings.Repeat("x", 5000) + "\ndataset:\n- shards: [" + strings.Repeat("a,", 1000) + "a]\n", "3:11", "1001 patterns with 5000 bytes before each", true},
	{"a long prefix before all", "prefix: " + strings.Repeat("x", 5000) + "\ndataset:\n" + strings.Repeat("- shards: [a, b]\n", 500), "2:1", "the patterns have more than", true},
	{"too many words", "dataset:\n- shards: [" + strings.Repeat("a,", spec.MaxTokens) + "a]\n", "2:65542", "more than 65536 words", true},
}

func specSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(filepath.Join("..", "docs", "dataset.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// seen validates what another reader makes of a YAML file.
func seen(s *jsonschema.Schema, text string) error {
	var v any
	if err := yaml.Unmarshal([]byte(strings.TrimPrefix(text, "\ufeff")), &v); err != nil {
		return err
	}
	return s.Validate(v)
}

// parseSpec reads a specification and looks up its formats.
func parseSpec(name, text string) (*spec.Spec, error) {
	s, err := spec.Parse(name, []byte(text))
	if err != nil {
		return nil, err
	}
	_, err = newCollections(s, nil)
	return s, err
}

// parsePlanned reads a specification of a plan and looks up its formats.
func parsePlanned(options map[string]string) (*spec.Spec, error) {
	s, err := plannedSpec(options)
	if err != nil {
		return nil, err
	}
	_, err = newCollections(s, nil)
	return s, err
}

func TestSpecification(t *testing.T) {
	t.Parallel()
	schema := specSchema(t)
	for _, row := range soundSpecs {
		m, err := parseSpec("x.yaml", row.text)
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		text, err := m.Text()
		if err != nil || text != row.kept {
			t.Errorf("%s: a plan keeps\n%s, want\n%s (%v)", row.name, text, row.kept, err)
		}
		again, err := parsePlanned(map[string]string{"spec": text})
		if err != nil {
			t.Errorf("%s: %v", row.name, err)
		} else if twice, err := again.Text(); twice != text || err != nil {
			t.Errorf("%s: it is kept as %s, and read as %s", row.name, text, twice)
		}
		if err := seen(schema, row.text); err != nil {
			t.Errorf("%s: the schema refuses it: %v", row.name, err)
		}
	}
	m, err := parseSpec("x.yaml", soundSpecs[2].text)
	if err != nil || m.Asked["seed"] != "18446744073709551615" || m.Asked["shuffle"] != "true" || !m.Drawn() {
		t.Errorf("%+v, %v", m, err)
	}
}

// A mistake is told of on one line, with its place; and a schema sees what it can.
func TestSpecificationMistakes(t *testing.T) {
	t.Parallel()
	schema := specSchema(t)
	for _, row := range badSpecs {
		_, err := parseSpec("x.yaml", row.text)
		if err == nil {
			t.Errorf("%s: accepted", row.name)
			continue
		}
		if text := err.Error(); !strings.HasPrefix(text, "x.yaml:"+row.at+": ") || !strings.Contains(text, row.want) || strings.Contains(text, "\n") {
			t.Errorf("%s: %q; want it at %s: %q", row.name, text, row.at, row.want)
		}
		if !row.unseen && seen(schema, row.text) == nil {
			t.Errorf("%s: the schema takes it", row.name)
		}
	}
	big := append([]byte("dataset:\n- shards: a\n#"), bytes.Repeat([]byte{'x'}, spec.MaxSize)...)
	if _, err := spec.Parse("x.yaml", big); !errors.Is(err, converters.ErrLimit) {
		t.Errorf("too large: %v", err)
	}
}

// No file of a mebibyte takes long to refuse, nor does one take much stack.
func TestSecuritySpecificationTime(t *testing.T) {
	t.Parallel()
	need.Time(t, "large hostile specifications")
	// The eighth of the largest specification takes the eighth of the time, unless something is
	// not linear; the largest itself is a row of make faults.
	size, most := spec.MaxSize/8, 4*time.Second
	if os.Getenv("FFCONVERT_FAULTS") != "" {
		size, most = spec.MaxSize, 30*time.Second
	}
	for name, unit := range map[string]string{
		"list entries": "- ", "keys": "a: b\n", "brackets": "[", "closing brackets": "]", "braces": "{a: ", "complex keys": "? ", "quoted words": "'a' ",
		"comments": "#\n", "lines": "a\n", "colons": "a: ", "tags": "! ", "documents": "---\n", "entries": "- a\n", "commas": "a,",
	} {
		for _, before := range []string{"", "dataset: [", "dataset:\n- shards:\n"} {
			text := before + strings.Repeat(unit, (size-len(before))/len(unit))
			began := time.Now()
			if _, err := parseSpec("x.yaml", text); err == nil || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q, then %s: %v", before, name, err)
			}
			if took := time.Since(began); took > most {
				t.Errorf("%q, then %s took %v", before, name, took)
			}
		}
	}
}

// What a plan keeps may be hostile.
func TestSecuritySpecificationInPlan(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ text, want string }{
		{`{`, "EOF"},
		{`{"dataset":[]}`, "0 collections"},
		{`{"dataset":[{"format":"tar","shards":["a"]}]}{}`, "collections"},
		{`{"dataset":[{"format":"tar","shards":["a"],"where":"x"}]}`, "unknown field"},
		{`{"dataset":[{"format":"idx","shards":["a"]}]}`, "not a format here"},
		{`{"dataset":[{"format":"spec","shards":["a"]}]}`, "not a format here"},
		{`{"dataset":[{"format":"tar","shards":[]}]}`, "no shards"},
		{`{"dataset":[{"format":"tar","shards":["a"],"options":{"max-sample-size":"1TiB"}}]}`, "it is a limit"},
		{`{"dataset":[{"format":"tar","shards":["a"],"options":{"allow-pipe":"true"}}]}`, "no such option"},
		{`{"dataset":[{"format":"tar","shards":["a"],"times":-1}]}`, "times"},
		{`{"dataset":[{"format":"tar","shards":["a"],"times":1e300}]}`, "times"},
		{`{"dataset":[` + strings.Repeat(`{"format":"tar","shards":["a"]},`, spec.MaxCollections) + `{"format":"tar","shards":["a"]}]}`, "1001 collections"},
	} {
		if _, err := parsePlanned(map[string]string{"spec": row.text}); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%.100s: %v, want %q", row.text, err, row.want)
		}
	}
	// What a plan names is a name of a file, and no more.
	for shard, want := range map[string]string{"@-": "nothing from standard input", "-": "standard input cannot be mixed", "pipe:touch ran": "pipe", "{pipe:touch ran,-}": "pipe"} {
		m, err := parsePlanned(map[string]string{"spec": fmt.Sprintf(`{"dataset":[{"format":"tar","shards":[%q]}]}`, shard)})
		if err != nil {
			t.Fatal(err)
		}
		collections, err := newCollections(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := &request{Conversion: Conversion{Spec: m}, collections: collections}
		if _, err := r.find(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", shard, err, want)
		}
	}
	for _, options := range []map[string]string{nil, {"seed": "1"}, {"spec": soundSpecs[0].kept, "max-names": "1"}} {
		if _, err := parsePlanned(options); err == nil {
			t.Errorf("%v: accepted", options)
		}
	}
}

// The schema knows the formats, and of each the flags that are no limits.
func TestSpecSchemaFormats(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join("..", "docs", "dataset.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var schema struct {
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	var known struct{ Enum []string }
	if err := json.Unmarshal(schema.Defs["collection"].Properties["format"], &known); err != nil {
		t.Fatal(err)
	}
	for _, name := range format.Names() {
		f, _ := format.Named(name)
		var want []string
		for _, o := range f.Reader().Set.All() {
			if o.Limit {
				continue
			}
			if want = append(want, o.Name); o.Name != option.Flag(o.Name)[2:] {
				flag, _ := option.Member(o.Name)
				want = append(want, flag)
			}
		}
		slices.Sort(want)
		want = slices.Compact(want)
		if got := slices.Sorted(maps.Keys(schema.Defs[f.Name].Properties)); !slices.Equal(got, want) {
			t.Errorf("%s: the schema has the options %q, want %q", f.Name, got, want)
		}
	}
	if !slices.Equal(known.Enum, format.Names()) {
		t.Errorf("the schema has the formats %q, want %q", known.Enum, format.Names())
	}
}

// The example of the page and the one in examples/ are sound, for the parser and the schema.
func TestSpecExamples(t *testing.T) {
	t.Parallel()
	schema := specSchema(t)
	page, err := os.ReadFile(filepath.Join("..", "docs", "spec.md"))
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile(filepath.Join("..", "examples", "dataset.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{string(example)}
	for i, block := range strings.Split(string(page), "```") {
		if yaml, ok := strings.CutPrefix(block, "yaml\n"); ok && i%2 == 1 {
			texts = append(texts, yaml)
		}
	}
	if len(texts) < 2 {
		t.Fatalf("%d examples", len(texts))
	}
	for _, text := range texts {
		if _, err := parseSpec("example", text); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
		if err := seen(schema, text); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
	s, err := parseSpec("page", texts[1])
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"prefix", "dataset", "datasets", "seed", "shuffle", "name", "shards", "buckets", "format", "fraction", "repeat", "fields", "rename", "options"} {
		if !strings.Contains(string(page), fmt.Sprintf("\n| `%s`", key)) && !strings.Contains(string(page), fmt.Sprintf(", `%s`", key)) {
			t.Errorf("docs/spec.md has no row for %s", key)
		}
	}
	if reflect.DeepEqual(s, &spec.Spec{}) {
		t.Error("the example of the page is empty")
	}
}

// FuzzSpecification wants that no file does harm, that each mistake has a place on one line,
// and that what parses is kept as what it was.
func FuzzSpecification(f *testing.F) {
	for _, row := range soundSpecs {
		f.Add([]byte(row.text))
	}
	for _, row := range badSpecs {
		if len(row.text) < 1000 {
			f.Add([]byte(row.text))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseSpec("x.yaml", string(data))
		if err != nil {
			if text := err.Error(); strings.Contains(text, "\n") || !strings.HasPrefix(text, "x.yaml:") {
				t.Errorf("%q", text)
			}
			return
		}
		text, err := m.Text()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parsePlanned(map[string]string{"spec": text})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if twice, err := again.Text(); err != nil || twice != text {
			t.Errorf("%s is read as %s (%v)", text, twice, err)
		}
	})
}
