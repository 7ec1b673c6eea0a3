package pickle

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"testing"
)

// The process answers "dump SEED PROTOCOL" with a pickle of a random tree and the tree,
// and "load HEX" with the tree that a pickle is, after a look at its types.
const pythonScript = `
import collections, json, pickle, random, sys

def name(r):
    kind = r.randrange(8)
    if kind == 0: return "." + str(r.randrange(100))
    if kind == 1: return "".join(chr(r.choice([0x61, 0xe9, 0x3b1, 0x4e2d, 0x1f600])) for _ in range(r.randrange(1, 70)))
    if kind == 2: return "train"
    return "%06d.jpg" % r.randrange(10**6)

def tree(r, depth, cls):
    d = cls()
    for _ in range(r.choice([0, 1, 2, 5, 12] if depth else [0, 1, 3] + [30] * 10 + [1001, 2300])):
        if depth < 5 and r.randrange(8) == 0:
            d[name(r)] = tree(r, depth + 1, cls)
        else:
            d[name(r)] = r.choice([r.randrange(256), r.randrange(1 << 16), r.randrange(1 << 31), r.randrange(1 << 62), -r.randrange(1 << 40)])
    return d

def plain(d, cls):
    assert type(d) is cls, type(d)
    out = []
    for k, v in d.items():
        assert type(k) is str
        out.append([k, plain(v, cls) if isinstance(v, dict) else str(int(v))])
    return out

for line in sys.stdin:
    words = line.split()
    if words[0] == "dump":
        r = random.Random(int(words[1]))
        cls = r.choice([dict, collections.OrderedDict])
        d = tree(r, 0, cls)
        print(json.dumps({"pickle": pickle.dumps(d, int(words[2])).hex(), "tree": plain(d, cls)}))
    else:
        print(json.dumps({"tree": plain(pickle.loads(bytes.fromhex(words[1])), collections.OrderedDict)}))
    sys.stdout.flush()
`

type answer struct {
	Pickle string
	Tree   []any
}

// startPython returns a function that asks one long-running Python.
func startPython(t *testing.T) func(format string, args ...any) answer {
	t.Helper()
	const python = "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	cmd := exec.Command(python, "-c", pythonScript)
	cmd.Env = append(os.Environ(), "PYTHONUTF8=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("python3: %v: %s", err, stderr.Bytes())
		}
	})
	lines := bufio.NewReader(out)
	return func(format string, args ...any) (a answer) {
		t.Helper()
		if _, err := io.WriteString(in, fmt.Sprintf(format, args...)+"\n"); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(line, &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
}

// plain is what the script makes of a dict.
func plain(d *Dict) []any {
	list := []any{}
	for _, it := range d.Items {
		v := any(fmt.Sprint(it.Int))
		if it.Dict != nil {
			v = plain(it.Dict)
		}
		list = append(list, []any{it.Key, v})
	}
	return list
}

// Trees as CPython pickles them, and as it loads what AppendDict makes of them.
func TestPythonDicts(t *testing.T) {
	t.Parallel()
	ask := startPython(t)
	var size int
	for seed := range 200 {
		protocol := 2 + seed%4
		want := ask("dump %d %d", seed, protocol)
		data, err := hex.DecodeString(want.Pickle)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeDict(string(data))
		if err != nil {
			t.Fatalf("seed %d, protocol %d: %v", seed, protocol, err)
		}
		if !reflect.DeepEqual(plain(got), want.Tree) {
			t.Fatalf("seed %d, protocol %d: another tree", seed, protocol)
		}
		ours := AppendDict(nil, got)
		if back := ask("load %x", ours); !reflect.DeepEqual(back.Tree, want.Tree) {
			t.Fatalf("seed %d: Python loads another tree", seed)
		}
		size += len(data)
	}
	t.Logf("200 trees of CPython at protocols 2 to 5: %d bytes read and written again without a difference", size)
}
