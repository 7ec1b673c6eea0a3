//go:build bench && linux

package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/python"
)

const copiedTree = "`cp -r`, then `sync -f`"

// A folderRun is a folder converted, packed and copied in the same rounds.
type folderRun struct {
	bytes                 int64
	limit                 limit
	copying               series
	plain, verified       series // conversions
	packing               series // ffconvert pack
	python, pythonDurable series // packing in Python, without fsync and with it
	fio                   series
}

var (
	warmFolder = shared(func(t *testing.T) folderRun { return runFolder(t, warm, writeLimit(t)) })
	coldFolder = shared(func(t *testing.T) folderRun { return runFolder(t, chill, mixedLimit(t)) })
)

func folderWork(t *testing.T) string {
	t.Helper()
	all := filesUnder(t, setOf(t, files))
	return fmt.Sprintf("a folder of %d files, %s", len(all), size(sizeOf(t, all)))
}

func runFolder(t *testing.T, before func(*testing.T, []string), l limit) (m folderRun) {
	t.Helper()
	set := setOf(t, files)
	m.bytes, m.limit = sizeOf(t, filesUnder(t, set)), l
	inPython := func(t *testing.T, set, out string) process {
		p, written := packInPython(t, set, out)
		m.python = append(m.python, written)
		return p
	}
	plain := convert("folder", "--no-verify")
	all := compete(t, before, set, slowRounds, durableTree, plain, convert("folder"), pack, inPython, l.contender(m.bytes, outputSize(t, set, plain)))
	m.copying, m.plain, m.verified = all[0].seconds(), all[1].seconds(), all[2].seconds()
	m.packing, m.pythonDurable, m.fio = all[3].seconds(), all[4].seconds(), all[5].seconds()
	return m
}

// TestS14 packs a folder into one file, beside a copy of it and the way of FFRecord's pack_folder.
func TestS14(t *testing.T) {
	measure(t, "S14", func(record func(figure)) {
		for _, of := range []struct {
			how string
			run func(*testing.T) folderRun
		}{{"warm", warmFolder}, {"cold", coldFolder}} {
			m := of.run(t)
			against := func(what string, theirs series, to target) {
				record(figure{work: "`pack` of " + folderWork(t) + ", " + of.how, against: what, value: m.packing.over(theirs), unit: ratio, target: to,
					ours: pace(m.bytes, m.packing), theirs: pace(m.bytes, theirs), limit: m.limit.beside(m.packing, m.fio)})
			}
			against(copiedTree, m.copying, atMost(1))
			against("the way of pack_folder in Python, then `fsync`", m.pythonDurable, atMost(1))
			against("the same without `fsync`", m.python, target{})
		}
	})
}

// pack is ffconvert pack, which verifies.
func pack(t *testing.T, set, out string) process {
	t.Helper()
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	return execute(t, program, "pack", set, filepath.Join(out, "folder.ffr"), "--progress", "none")
}

// pythonPack does what FFRecord's pack_folder is described to do, in one thread: walk the folder, read each
// file, append it and sum it, then write the pickled names and the header. It prints the seconds from
// after its imports until all is written, and until it is synced.
const pythonPack = `
import collections, os, pickle, struct, sys, time, zlib
start = time.perf_counter()
root, target = sys.argv[1:]
paths = []
def walk(path):
    if not os.path.isdir(path):
        paths.append(path)
        return len(paths) - 1
    return collections.OrderedDict((name, walk(os.path.join(path, name))) for name in sorted(os.listdir(path)))
names = walk(root)
count = len(paths) + 1
sums, places = [], []
with open(target, "wb") as out:
    place = 12 + 12 * count
    out.seek(place)
    def append(sample):
        global place
        out.write(sample)
        sums.append(zlib.crc32(sample))
        places.append(place)
        place += len(sample)
    for path in paths:
        with open(path, "rb") as f:
            append(f.read())
    append(b"piouhjgbr" + pickle.dumps(names))
    header = struct.pack("<q%dI%dq" % (count, count), count, *sums, *places)
    out.seek(0)
    out.write(struct.pack("<I", zlib.crc32(header)) + header)
    out.flush()
    written = time.perf_counter()
    os.fsync(out.fileno())
print([written - start, time.perf_counter() - start])
`

// packInPython runs that, and has ffconvert verify what came of it. The seconds are Python's own: its start
// is not in them.
func packInPython(t *testing.T, set, out string) (durable process, written float64) {
	t.Helper()
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	packed := filepath.Join(out, "folder.ffr")
	durable = finish(t, exec.Command(python.Path(t), "-c", pythonPack, set, packed), false)
	var took [2]float64
	if err := json.Unmarshal(durable.stdout, &took); err != nil {
		t.Fatalf("%v: %s", err, durable.stdout)
	}
	execute(t, program, "ls", packed)
	durable.seconds = took[1]
	return durable, took[0]
}
