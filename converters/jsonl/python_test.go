package jsonl

import (
	"encoding/base64"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// Python's json writes samples of odd shapes in several styles, and says in words what it wrote.
const pythonWriter = `
import base64, json, random, struct
def words(v):
    if v is None: return "null"
    if v is True: return "true"
    if v is False: return "false"
    if isinstance(v, int): return str(v)
    if isinstance(v, float): return "f" + struct.pack(">d", v).hex()
    if isinstance(v, str): return "t" + v.encode().hex()
    if isinstance(v, list): return "[" + ",".join(map(words, v)) + "]"
    return "{" + ",".join(words(k) + ":" + words(w) for k, w in v.items()) + "}"
def text(r):
    alphabet = ["a\"\\/ \n\t\r\b\f\x00\x1f\x7f", "äß€\u2028\u2029\ufeff", "😀\U0010ffff\ue000", "lorem ipsum "]
    return "".join(r.choice(r.choice(alphabet)) for _ in range(r.choice([0, 1, 5, 40, 40, 3000 if r.random() < .005 else 7])))
def value(r, depth=0):
    kind = r.randrange(11 if depth < 3 else 7)
    if kind == 0: return None
    if kind == 1: return r.random() < .5
    if kind == 2: return r.choice([0, -1, 2**63 - 1, -2**63, 2**63, 2**64 - 1, r.randrange(-10**6, 10**6), 2**53 + 1])
    if kind == 3: return r.choice([0.0, -0.0, 5e-324, 1.7976931348623157e308, 1e22, 1e-7, 0.1, r.random(), r.gauss(0, 1e300), 2.0**53])
    if kind < 7: return text(r)
    if kind < 9: return [value(r, depth + 1) for _ in range(r.choice([0, 1, 3 - depth]))]
    return {text(r): value(r, depth + 1) for _ in range(r.choice([0, 1, 20 if depth == 0 and r.random() < .1 else 2]))}
def reply(request):
    r = random.Random(int(request))
    styles = [{}, {"ensure_ascii": False}, {"separators": (",", ":")}, {"sort_keys": True}, {"separators": (" ,\t", " : ")}]
    lines, samples = [], []
    for i in range(1000):
        key = text(r) + str(i) if r.random() < .5 else ""
        fields = {text(r): value(r) for _ in range(r.choice([0, 1, 3, 3, 6]))}
        fields.pop("__key__", None)
        style = r.choice(styles)
        if style.get("sort_keys"):
            fields = dict(sorted(fields.items()))
        members = list(fields.items())
        if key:
            members.insert(r.randrange(len(members) + 1), ("__key__", key))
        lines.append(json.dumps(dict(members), **style).encode())
        def order(v):
            if isinstance(v, dict):
                items = sorted(v.items()) if style.get("sort_keys") else v.items()
                return {k: order(w) for k, w in items}
            return [order(w) for w in v] if isinstance(v, list) else v
        samples.append([key] + [k + ":" + words(order(v)) for k, v in fields.items()])
    data = r.choice([b"\n", b"\r\n"]).join(lines) + r.choice([b"", b"\n", b"\n\n"])
    return {"data": base64.b64encode(data).decode(), "samples": samples}
`

func TestAgainstPython(t *testing.T) {
	t.Parallel()
	py := python.Start(t, pythonWriter)
	for seed := range 10 {
		var answer struct {
			Data    string
			Samples [][]string
		}
		py.Ask([]byte{byte('0' + seed)}, &answer)
		data, err := base64.StdEncoding.DecodeString(answer.Data)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, memory(Options{}, string(data)), answer.Samples)
	}
}

func compare(t *testing.T, src *source, want [][]string) {
	t.Helper()
	i := 0
	for span, err := range src.Index(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if span.Shape == nil {
			continue
		}
		if got := convertertest.SampleWords(span.Shape); !slices.Equal(got, want[i]) {
			t.Fatalf("sample %d: %.2000q\nwritten: %.2000q", i, got, want[i])
		}
		i++
	}
	if i != len(want) {
		t.Fatalf("%d samples, %d were written", i, len(want))
	}
	if got, err := contents(t, src); err != nil || len(got) != i {
		t.Fatalf("Read has %d samples, %v", len(got), err)
	}
}
