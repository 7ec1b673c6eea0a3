package findings

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"reflect"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/ffconvert/ffconvert/internal/text"
)

// The largest SARIF, of which this is a tenth, is one that GitHub takes: 10 MB, compressed.
func TestSARIFIsBounded(t *testing.T) {
	t.Parallel()
	r := &Report{Rules: rulesOfTest}
	for i := range int64(3 * maxKept / 10) {
		r.Add(Finding{Rule: rulesOfTest[i%3].ID, Place: Place{"shards/a.tar", 512 * i, fmt.Sprintf("n%08d.jpg", i)}, Text: "800 bytes are missing"})
	}
	document := write(t, "sarif", r)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(document)
	z.Close()
	if packed.Len()*10 > 10_000_000/4 {
		t.Errorf("%d bytes", packed.Len())
	}
	t.Logf("%d results: %d bytes, %d compressed", len(r.Found), len(document), packed.Len())
}

// The documents are valid by the schema of OASIS, which the library carries.
func TestSARIFIsValid(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]*Report{"example": example(), "hostile": hostile(), "nothing": {Tool: "x"}} {
		if err := readSARIF(t, write(t, "sarif", r)).Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The validator can say no.
	bad := bytes.Replace(write(t, "sarif", example()), []byte(`"level": "warning"`), []byte(`"level": "awful"`), 1)
	if readSARIF(t, bad).Validate() == nil {
		t.Error("a level that SARIF does not know passes")
	}
}

// readSARIF decodes a document, and sees to it that nothing in it is empty or unknown to SARIF.
func readSARIF(t *testing.T, document []byte) *sarif.Report {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.UseNumber()
	var all any
	if err := dec.Decode(&all); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	enc := json.NewEncoder(terminalSafe{&again})
	enc.SetIndent("", "  ")
	if err := enc.Encode(pruned(all)); err != nil || again.String() != string(document) {
		t.Errorf("%v: it has members that are empty:\n%s", err, document)
	}
	dec = json.NewDecoder(bytes.NewReader(document))
	dec.DisallowUnknownFields()
	doc := new(sarif.Report)
	if err := dec.Decode(doc); err != nil {
		t.Fatal(err)
	}
	withLists(reflect.ValueOf(doc))
	return doc
}

// pruned removes members that are empty, or -1 for a number that is not known, from the objects of a document, but for
// "results".
func pruned(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
	case map[string]any:
		for name, member := range v {
			switch member = pruned(member); fmt.Sprint(member) {
			case "<nil>", "", "-1", "[]", "map[]":
				if name != "results" {
					delete(v, name)
					continue
				}
			}
			v[name] = member
		}
	}
	return v
}

// withLists gives a document the empty lists that the validator wants, for those that are missing.
func withLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			withLists(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				withLists(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			withLists(v.Index(i))
		}
	}
}

// A result's address leads back to the file, and no message holds a link.
func TestSARIFPlaces(t *testing.T) {
	t.Parallel()
	doc := readSARIF(t, write(t, "sarif", hostile()))
	for i, result := range doc.Runs[0].Results {
		s, place := nasty[i/len(rulesOfTest)], result.Locations[0]
		u, err := url.Parse(*place.PhysicalLocation.ArtifactLocation.URI)
		if err != nil || path.Clean(u.Path) != path.Clean(s) || u.Host != "" {
			t.Errorf("%q: address %q: %v", s, *place.PhysicalLocation.ArtifactLocation.URI, err)
		}
		if *place.PhysicalLocation.Region.StartLine != 1 || place.PhysicalLocation.Region.ByteOffset != i/len(rulesOfTest) {
			t.Errorf("%q: region %+v", s, place.PhysicalLocation.Region)
		}
		if *place.LogicalLocations[0].Name != clip(text.Valid(s), maxMessage) || strings.Contains(*result.Message.Text, "](") {
			t.Errorf("%q: entry %q, message %q", s, *place.LogicalLocations[0].Name, *result.Message.Text)
		}
	}
}

func TestURI(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"a.tar":               "a.tar",
		"./out/x.ffr":         "out/x.ffr",
		"out//x.ffr":          "out/x.ffr",
		"/abs/with space.tar": "file:///abs/with%20space.tar",
		"//abs":               "file:///abs",
		"a:b.tar":             "./a:b.tar",
		"é%.tar":              "%C3%A9%25.tar",
		"\xff":                "%FF",
		"a?b#c":               "a%3Fb%23c",
		"../x":                "../x",
		"-":                   "-",
	} {
		if got := uri(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// The same thing found again is the same alert; another thing is another.
func TestFingerprints(t *testing.T) {
	t.Parallel()
	base := Finding{Rule: "truncated", Place: Place{"a.tar", 512, "1.jpg"}, Text: "crc 1234"}
	change := func(f func(*Finding)) Finding { g := base; f(&g); return g }
	for _, row := range []struct {
		name  string
		other Finding
		same  bool
	}{
		{"itself", base, true},
		{"other words", change(func(f *Finding) { f.Text, f.Hint, f.Count = "crc 5678", "x", 2 }), true},
		{"the entry moved", change(func(f *Finding) { f.Place.Offset = 1024 }), true},
		{"named otherwise", change(func(f *Finding) { f.Place.File = "./a.tar" }), true},
		{"another rule", change(func(f *Finding) { f.Rule = "empty-field" }), false},
		{"another file", change(func(f *Finding) { f.Place.File = "b.tar" }), false},
		{"another entry", change(func(f *Finding) { f.Place.Entry = "2.jpg" }), false},
		{"no entry", change(func(f *Finding) { f.Place.Entry = "" }), false},
	} {
		if (identity(&base) == identity(&row.other)) != row.same {
			t.Errorf("%s: same %v", row.name, !row.same)
		}
	}
	// Two that are alike in one document are still two.
	doc := readSARIF(t, write(t, "sarif", &Report{Found: []Finding{base, base}}))
	first, second := doc.Runs[0].Results[0].PartialFingerprints, doc.Runs[0].Results[1].PartialFingerprints
	if fmt.Sprint(first) == fmt.Sprint(second) || !strings.HasSuffix(fmt.Sprint(second), ":2]") {
		t.Errorf("%v, %v", first, second)
	}
}
