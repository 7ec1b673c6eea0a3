package pickle

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/internal/test/python"
)

// The process answers "dump SEED PROTOCOL" with a pickle of a random tree and the tree,
// and "load PICKLE" with the tree that a pickle is, after a look at its types.
const pythonScript = `
import collections, pickle, random

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

def reply(request):
    if request.startswith(b"load "):
        return {"tree": plain(pickle.loads(request[5:]), collections.OrderedDict)}
    seed, protocol = map(int, request.split()[1:])
    r = random.Random(seed)
    cls = r.choice([dict, collections.OrderedDict])
    d = tree(r, 0, cls)
    return {"pickle": pickle.dumps(d, protocol).hex(), "tree": plain(d, cls)}
`

type answer struct {
	Pickle string
	Tree   []any
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
	need.Time(t, "thousands of values, in Python too")
	py := python.Start(t, pythonScript)
	var size int
	for seed := range 200 {
		protocol := 2 + seed%4
		var want, back answer
		py.Ask(fmt.Appendf(nil, "dump %d %d", seed, protocol), &want)
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
		if py.Ask(append([]byte("load "), ours...), &back); !reflect.DeepEqual(back.Tree, want.Tree) {
			t.Fatalf("seed %d: Python loads another tree", seed)
		}
		size += len(data)
	}
	t.Logf("200 trees of CPython at protocols 2 to 5: %d bytes read and written again without a difference", size)
}
