package browse_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/test/chromium"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// moves matches what would move text on a screen or end a line of it: none of it is shown as it is.
const moves = `/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/`

// hostilePeak is how much memory the program may have for a hostile dataset, whatever its records have.
const hostilePeak = 512 << 20

// A dataset whose names, classes, keys, fields and values attack the pages that show them is shown as text: no script
// runs, no request leaves, no dialog and no window opens, and the pages keep their shape.
func TestHostile(t *testing.T) {
	t.Parallel()
	need.Long(t, "a hundred pages of hostile datasets")
	files, lines := hostileFiles.of(t), hostileLines.of(t)
	tab, program := showProgram(t, "", files, lines, hostileMeta(t, files))
	var paths []string
	for set, dir := range []string{files, lines, files} {
		for _, page := range []string{"", "grid", "classes", "sizes", "parts"} {
			paths = append(paths, fmt.Sprintf("/d/%d/%s", set, page))
		}
		if set == 2 {
			break // its samples are those of the first
		}
		for _, l := range list(t, dir) {
			paths = append(paths, fmt.Sprintf("/d/%d/sample/%d", set, l.Number))
		}
	}
	paths = append(paths, "/", "/compare?a=0&b=1")
	for i, name := range hostileNames {
		q := strings.NewReplacer("%", "%25", "&", "%26", "#", "%23", "+", "%2B", "\n", "%0A", "\r", "%0D", "\x1b", "%1B", "\x07", "%07").Replace(name)
		paths = append(paths, fmt.Sprintf("/d/%d/grid?%s=%s", i%2, []string{"where", "source", "where=key=", "shard", "from"}[i%5], q))
		if i%3 == 0 {
			paths = append(paths, "/d/1/find?key="+q)
		}
	}
	for i, path := range paths {
		tab.Look([]chromium.View{chromium.Wide, chromium.Narrow}[i%2])
		tab.Go(path)
		settled(tab)
		problems := tab.Problems()
		asked := strings.Contains(path, "?") && !strings.HasPrefix(path, "/compare")
		for _, p := range problems {
			// A picture that cannot be shown, and a question that cannot be answered, are answers of 4xx.
			if strings.Contains(p, "/thumb/") && strings.HasSuffix(p, " is 422") || asked && (strings.HasSuffix(p, " is 400") || strings.HasSuffix(p, " is 404")) {
				continue
			}
			t.Errorf("%s: %s", path, p)
		}
		state := chromium.Eval[map[string]any](tab, `({
			owned: typeof owned, foreign: document.querySelectorAll("main script, main style, main link, main meta, main base, main iframe, main object, main embed, main svg, main [onload], main [onerror], main [onmouseover]").length,
			links: [...document.querySelectorAll("[href], [src], [action]")].filter(e => !(e.href || e.src || e.action).toString().startsWith(location.origin)).map(e => e.outerHTML),
			text: document.body.innerText.includes("<script>window.owned=1;alert(1)"), moves: `+moves+`.test(document.body.innerText) || `+moves+`.test(document.title), main: document.querySelector("main h1").offsetHeight > 0, nodes: document.querySelectorAll("*").length, size: document.documentElement.outerHTML.length, over: document.documentElement.scrollWidth - innerWidth})`)
		if strings.HasPrefix(path, "/d/1/sample/") && state["text"] != true {
			t.Errorf("%s does not show the attack as text", path)
		}
		links, _ := state["links"].([]any)
		if state["owned"] != "undefined" || state["foreign"] != 0.0 || len(links) > 0 || state["moves"] != false || state["main"] != true || state["nodes"].(float64) > 50_000 || state["size"].(float64) > 8<<20 || state["over"].(float64) > 0 {
			t.Errorf("%s: %v", path, state)
		}
	}
	if peak := program.peak(t); peak > hostilePeak {
		t.Errorf("the program had %d bytes", peak)
	} else {
		t.Logf("the program had %d bytes", peak)
	}
}

// hostileMeta copies a dataset and gives its directory, classes, source parts and tool hostile names that no conversion would,
// with checksums that are right: who writes a dataset writes those, too.
func hostileMeta(t *testing.T, from string) string {
	dir := filepath.Join(t.TempDir(), "<img src=x onerror=alert(1)> \u202e\n")
	copyTree(t, from, dir)
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	var v map[string]any
	meta := read("meta.json")
	if err := json.Unmarshal(meta, &v); err != nil {
		t.Fatal(err)
	}
	classes := v["classes"].([]any)
	for i := range classes {
		classes[i] = hostileNames[i%len(hostileNames)] + attack + fmt.Sprint(i)
	}
	worse := mustJSON(v)
	put(t, filepath.Join(dir, "meta.json"), worse)

	m, err := dataset.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	text := string(read("manifest.json"))
	change := func(from, to string) {
		if !strings.Contains(text, from) {
			t.Fatalf("no %s in the manifest", from)
		}
		text = strings.ReplaceAll(text, from, to)
	}
	change(fmt.Sprintf("\"bytes\": %d,\n    \"crc32\": %d", m.Meta.Bytes, m.Meta.CRC), fmt.Sprintf("\"bytes\": %d,\n    \"crc32\": %d", len(worse), crc32.ChecksumIEEE(worse)))
	change(string(mustJSON(m.Tool)), string(mustJSON(hostileNames[1]+attack)))
	for i := range m.Sources {
		change(string(mustJSON(m.Sources[i].Name)), string(mustJSON(hostileNames[i%len(hostileNames)]+attack+fmt.Sprint(i))))
	}
	body := text[:strings.LastIndex(text, "  \"sha256\"")]
	put(t, filepath.Join(dir, "manifest.json"), fmt.Appendf([]byte(body), "  \"sha256\": \"%x\"\n}\n", sha256.Sum256([]byte(body))))
	return dir
}

// What is saved of a hostile dataset is never a page: pictures, sound and film that are what their first bytes say, and
// files to save.
func TestHostileRaw(t *testing.T) {
	t.Parallel()
	need.Long(t, "each file of a hostile dataset in a browser")
	dir := hostileFiles.of(t)
	tab := show(t, dir)
	tab.Go("/d/0/")
	shown := []string{"image/jpeg", "image/png", "image/gif", "image/webp", "audio/wav", "video/webm"}
	for _, l := range list(t, dir) {
		if strings.Contains(l.Key, "huge") {
			continue
		}
		for _, what := range []string{"0", "record"} {
			head := chromium.Eval[map[string]string](tab, fmt.Sprintf(`fetch("/d/0/raw/%d/%s").then(r => ({
				status: "" + r.status, type: r.headers.get("content-type"), save: r.headers.get("content-disposition") ?? "", sniff: r.headers.get("x-content-type-options") ?? "", policy: r.headers.get("content-security-policy") ?? ""}))`, l.Number, what))
			inline := false
			for _, kind := range shown {
				inline = inline || head["type"] == kind
			}
			saved := head["type"] == "application/octet-stream" && strings.HasPrefix(head["save"], "attachment")
			if head["status"] != "200" || head["sniff"] != "nosniff" || !strings.HasPrefix(head["policy"], "default-src 'none'") || !inline && !saved || what == "record" && inline {
				t.Errorf("%s: %s: %v", l.Key, what, head)
			}
			if strings.Contains(l.Key, "svg") || strings.Contains(l.Key, "html") || strings.HasPrefix(l.Key, "page") {
				if inline {
					t.Errorf("%s is shown as %s", l.Key, head["type"])
				}
			}
		}
	}
}
