package packed

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	interpreter "github.com/ffconvert/ffconvert/internal/test/python"
)

// pythonScript does what a Python program does: "read FILE" opens a packed folder with
// struct, zlib and pickle, as ffrecord.PackedFolder does, and "list DIR" makes the names of a
// folder; both answer with the names, types checked. "write DIR FILE PROTOCOL" packs a folder.
const pythonScript = `
import collections, json, os, pickle, struct, sys, zlib
OD = collections.OrderedDict

def names(folder, count):
    tree = OD()
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            tree[name], count = names(path, count)
        else:
            tree[name] = count
            count += 1
    return tree, count

def contents(folder, tree):
    for name, child in tree.items():
        path = os.path.join(folder, name)
        if isinstance(child, OD):
            yield from contents(path, child)
        else:
            with open(path, "rb") as f:
                yield f.read()

def write(folder, file, protocol):
    tree, _ = names(folder, 0)
    samples = list(contents(folder, tree)) + [b"piouhjgbr" + pickle.dumps(tree, protocol)]
    offsets, at = [], 12 + 12 * len(samples)
    for s in samples:
        offsets.append(at)
        at += len(s)
    table = struct.pack("<q%dI%dq" % (len(samples), len(samples)), len(samples), *map(zlib.crc32, samples), *offsets)
    with open(file, "wb") as f:
        f.write(struct.pack("<I", zlib.crc32(table)) + table + b"".join(samples))

def read(file):
    with open(file, "rb") as f:
        b = f.read()
    checksum, n = struct.unpack_from("<Iq", b)
    assert zlib.crc32(b[4:12 + 12 * n]) == checksum
    sums = struct.unpack_from("<%dI" % n, b, 12)
    offsets = struct.unpack_from("<%dq" % n, b, 12 + 4 * n) + (len(b),)
    samples = [b[offsets[i]:offsets[i + 1]] for i in range(n)]
    assert all(zlib.crc32(s) == c for s, c in zip(samples, sums))
    assert samples[-1][:9] == b"piouhjgbr"
    return pickle.loads(samples[-1][9:]), samples

def plain(tree, samples):
    assert type(tree) is OD
    out = []
    for name, child in tree.items():
        assert type(name) is str
        if isinstance(child, OD):
            out.append([name, plain(child, samples)])
        else:
            assert type(child) is int
            out.append([name, child, samples[child].hex()])
    return out

command, path = sys.argv[1:3]
if command == "write":
    write(path, sys.argv[3], int(sys.argv[4]))
elif command == "read":
    print(json.dumps(plain(*read(path))))
else:
    tree, _ = names(path, 0)
    print(json.dumps(plain(tree, list(contents(path, tree)))))
`

func python(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(interpreter.Path(t), append([]string{"-c", pythonScript}, args...)...)
	cmd.Env = append(os.Environ(), "PYTHONUTF8=1")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("python3: %v: %s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	return string(out)
}

// What we pack loads in Python as the OrderedDicts that Python makes of the folder.
func TestPythonReads(t *testing.T) {
	t.Parallel()
	dir := small().folder(t)
	got, want := python(t, "read", pack(t, dir)), python(t, "list", dir)
	if got != want {
		t.Errorf("got\n%.2000s\nwant\n%.2000s", got, want)
	}
	var names []any
	if err := json.Unmarshal([]byte(got), &names); err != nil || len(names) != 10 {
		t.Errorf("%d names at the root, %v", len(names), err)
	}
}

// What Python packs is read, at each protocol.
func TestPythonWrites(t *testing.T) {
	t.Parallel()
	dir := small().folder(t)
	ours := open(t, pack(t, dir))
	for _, protocol := range []string{"2", "3", "4", "5"} {
		file := filepath.Join(t.TempDir(), "python.ffr")
		python(t, "write", dir, file, protocol)
		f := open(t, file)
		if !equal(f.root, ours.root) || f.Totals() != ours.Totals() {
			t.Errorf("protocol %s: other names than ours", protocol)
		}
		same(t, treeOf(t, f), small())
	}
}
