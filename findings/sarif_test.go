package findings

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

// The largest SARIF, of which this is a tenth, is one that GitHub takes: 10 MB, compressed.
func TestSARIFIsBounded(t *testing.T) {
	t.Parallel()
	r := &Report{Rules: rulesOfTest}
	for i := range int64(3 * MaxKept / 10) {
		r.Add(Finding{Rule: rulesOfTest[i%3].ID, Place: Place{"shards/a.tar", 512 * i, fmt.Sprintf("n%08d.jpg", i)}, Text: "800 bytes are missing"})
	}
	document := write(t, SARIF, r)
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
		if err := readSARIF(t, write(t, SARIF, r)).Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The validator can say no.
	bad := bytes.Replace(write(t, SARIF, example()), []byte(`"level": "warning"`), []byte(`"level": "awful"`), 1)
	if doc, err := sarif.FromBytes(bad, sarif.WithStrictValidation()); err != nil || doc.Validate() == nil {
		t.Error("a level that SARIF does not know passes")
	}
}

// readSARIF decodes a document, and sees to it that what it returns is the document: it
// comes out as it went in.
func readSARIF(t *testing.T, document []byte) *sarif.Report {
	t.Helper()
	doc, err := sarif.FromBytes(document, sarif.WithStrictValidation())
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := doc.PrettyWrite(terminalSafe{&again}); err != nil || again.String()+"\n" != string(document) {
		t.Errorf("%v: it is read as another document:\n%s", err, document)
	}
	return doc
}

// A result's address leads back to the file, and no message holds a link.
func TestSARIFPlaces(t *testing.T) {
	t.Parallel()
	doc := readSARIF(t, write(t, SARIF, hostile()))
	for i, result := range doc.Runs[0].Results {
		s, place := nasty[i/len(rulesOfTest)], result.Locations[0]
		u, err := url.Parse(*place.PhysicalLocation.ArtifactLocation.URI)
		if err != nil || path.Clean(u.Path) != path.Clean(s) || u.Host != "" {
			t.Errorf("%q: address %q: %v", s, *place.PhysicalLocation.ArtifactLocation.URI, err)
		}
		if *place.PhysicalLocation.Region.StartLine != 1 || place.PhysicalLocation.Region.ByteOffset != i/len(rulesOfTest) {
			t.Errorf("%q: region %+v", s, place.PhysicalLocation.Region)
		}
		if *place.LogicalLocations[0].Name != clip(valid(s)) || strings.Contains(*result.Message.Text, "](") {
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
	doc := readSARIF(t, write(t, SARIF, &Report{Found: []Finding{base, base}}))
	first, second := doc.Runs[0].Results[0].PartialFingerprints, doc.Runs[0].Results[1].PartialFingerprints
	if fmt.Sprint(first) == fmt.Sprint(second) || !strings.HasSuffix(fmt.Sprint(second), ":2]") {
		t.Errorf("%v, %v", first, second)
	}
}
