package tar

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// gnuTarTool finds GNU tar, which some systems call gtar.
func gnuTarTool(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("gtar"); err == nil {
		return path
	}
	path := need.Tool(t, "tar")
	if out, err := exec.Command(path, "--version").Output(); err != nil || !bytes.Contains(out, []byte("GNU tar")) {
		need.Missing(t, path, " is not GNU tar: ", err)
	}
	return path
}

// What webdataset 1.0.2 makes of a path: base_plus_ext, and the metadata names that
// its tar_file_iterator passes over.
const pythonNames = `
import re
def split(path):
    match = re.match(r"^((?:.*/|)[^.]+)[.]([^/]*)$", path)
    return (match.group(1), match.group(2)) if match else (None, None)
def meta(path):
    return ("/" not in path and path.startswith("__") and path.endswith("__")) or \
        re.match(r"__[^/]*__($|/)", path) is not None
`

// What tarfile lists, and the samples that webdataset's grouping makes of that.
const pythonTar = pythonNames + `
import io, tarfile
def hexed(name):
    return name.encode("utf-8", "surrogateescape").hex()
def group(archive, members):
    samples = []
    for m in members:
        if not m.isreg() or meta(m.name):
            continue
        key, suffix = split(m.name)
        if key is None:
            continue
        suffix = suffix.lower()
        if not samples or samples[-1][0] != key:
            samples.append((key, []))
        if suffix in [name for name, _ in samples[-1][1]]:
            raise ValueError("duplicate " + m.name)
        samples[-1][1].append((suffix, archive.extractfile(m).read().hex()))
    good = [s for s in samples if not dict(s[1]).get("__bad__")] # valid_sample
    return [[hexed(k), [[hexed(s), data] for s, data in fields]] for k, fields in good]
def reply(data):
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:", encoding="utf-8", errors="surrogateescape") as archive:
            members = archive.getmembers()
            return {"members": [[m.type.decode("latin-1"), m.size, hexed(m.name)] for m in members],
                    "samples": group(archive, members)}
    except Exception as e:
        return {"error": repr(e)}
`
