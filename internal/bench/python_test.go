//go:build bench && linux

package bench

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/python"
)

// originalVariable names a directory with FFRecord's own package, ffrecord, built for Debian's Python.
const originalVariable = "FFCONVERT_BENCH_FFRECORD"

var samplesPerSecond = unit{"%.0f", " samples/s", 1}

// A pythonTree is the Python package with the native helper, which is built for it.
type pythonTree struct {
	dir    string
	native string // "0": without the helper
}

func pythonPackage(t *testing.T) pythonTree {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "python"))
	if err != nil {
		t.Fatal(err)
	}
	native := filepath.Join(t.TempDir(), "libffconvert.so")
	if out, err := exec.Command(filepath.Join(dir, "native", "build.sh"), "linux-"+runtime.GOARCH, native).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return pythonTree{dir, native}
}

// timing is what a script of testdata prints.
type timing struct {
	Samples  int
	Seconds  series // of each time
	RSS, PSS float64
}

// perSecond returns the median of the samples a second.
func (m timing) perSecond(t *testing.T, want int) float64 {
	t.Helper()
	if m.Samples != want || len(m.Seconds) == 0 {
		t.Fatalf("%+v, want %d samples", m, want)
	}
	return float64(want) / m.Seconds.median()
}

// run runs a script of testdata with the directory of the package as its first argument.
func (p pythonTree) run(t *testing.T, script string, args ...string) (m timing) {
	t.Helper()
	if err := json.Unmarshal(p.script(t, script, append([]string{p.dir}, args...)...), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// script returns what a script of testdata prints.
func (p pythonTree) script(t *testing.T, script string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(python.Path(t, "torch", "numpy", "PIL", "msgpack"), append([]string{filepath.Join("testdata", script)}, args...)...)
	cmd.Env = append(os.Environ(), "FFCONVERT="+program, "FFCONVERT_NATIVE="+p.native)
	return finish(t, cmd, false).stdout
}

// original runs a script with FFRecord's own package; missing says why it cannot.
func (p pythonTree) original(t *testing.T, script string, args ...string) (m timing, missing string) {
	t.Helper()
	dir := os.Getenv(originalVariable)
	if dir == "" {
		return m, "the original package is not there: " + originalVariable + " names its directory"
	}
	return pythonTree{dir: dir, native: "0"}.run(t, script, args...), ""
}

// TestT4 reads random batches by the reader alone.
func TestT4(t *testing.T) {
	measure(t, "T4", func(record func(figure)) {
		py := pythonPackage(t)
		plain := pythonTree{py.dir, "0"}
		for _, size := range []struct {
			what           string
			format         string
			set            func() (string, error)
			least, leastOf float64
		}{{"100 KB", "folder", files, 1.5, 1}, {"300 bytes", "tar", smalls, 2.5, 0.7}} {
			set, out := setOf(t, size.set), filepath.Join(work, "out")
			settle(t, out)
			convert(size.format, "--no-verify")(t, set, out)
			warm(t, glob(t, out, "*.ffr"))
			var with, without, original series
			leftOut := ""
			inTurn(slowRounds, 3, func(i int) {
				switch i {
				case 0:
					with = append(with, secondsEach(py.run(t, "read.py", "ours", out)))
				case 1:
					without = append(without, secondsEach(plain.run(t, "read.py", "ours", out)))
				case 2:
					m, missing := py.original(t, "read.py", "original", out)
					if leftOut = missing; missing == "" {
						original = append(original, secondsEach(m))
					}
				}
			})
			what := "samples of " + size.what + " by the Python package's Reader, random batches of 128, in the page cache, verified"
			record(figure{work: what, against: "the same without the native helper", value: without.over(with), unit: ratio, target: atLeast(size.least), ours: micros.all(with), theirs: micros.all(without)})
			f := figure{work: what, against: "FFRecord's own FileReader", unit: ratio, target: atLeast(size.leastOf), ours: micros.all(with), leftOut: leftOut}
			if leftOut == "" {
				f.value, f.theirs = original.over(with), micros.all(original)
			}
			record(f)
			settle(t, out)
		}
	})
}

// secondsEach returns the seconds a sample.
func secondsEach(m timing) float64 { return m.Seconds.median() / float64(m.Samples) }

// TestT5 writes samples from Python: by convert, and by the program from a file of the same samples.
func TestT5(t *testing.T) {
	measure(t, "T5", func(record func(figure)) {
		py := pythonPackage(t)
		for _, size := range []struct{ what, bytes, n string }{{"100 KB", "100000", "10000"}, {"300 bytes", "300", "500000"}} {
			source, out, single := filepath.Join(work, "source.msgpack"), filepath.Join(work, "out"), filepath.Join(work, "single.ffr")
			settle(t, source, out, single)
			written := py.run(t, "write.py", "source", source, size.bytes, size.n)
			var one, two, file, writer, original series
			leftOut := ""
			inTurn(slowRounds, 5, func(i int) {
				settle(t, out, single)
				switch i {
				case 0:
					one = append(one, secondsEach(py.run(t, "write.py", "convert", out, size.bytes, size.n)))
				case 1:
					two = append(two, secondsEach(py.run(t, "write.py", "workers", out, size.bytes, size.n)))
				case 2:
					p := execute(t, program, "cbor", "--format=msgpack", "--encode=msgpack", source, out, "--progress=none")
					file = append(file, p.seconds/float64(written.Samples))
				case 3:
					writer = append(writer, secondsEach(py.run(t, "write.py", "writer", single, size.bytes, size.n)))
				case 4:
					m, missing := py.original(t, "write.py", "original", single, size.bytes, size.n)
					if leftOut = missing; missing == "" {
						original = append(original, secondsEach(m))
					}
				}
			})
			settle(t, source, out, single)
			for _, f := range []struct {
				how  string
				ours series
			}{{"`convert` of the Python package", one}, {"`convert` of the Python package, two workers", two}} {
				record(figure{work: "samples of " + size.what + " written by " + f.how + ", verified", against: "`ffconvert cbor` of a file of them", value: file.over(f.ours), unit: ratio,
					target: atLeast(0.8), ours: micros.all(f.ours), theirs: micros.all(file)})
			}
			for _, f := range []struct {
				how    string
				ours   series
				target target
			}{{"`convert` of the Python package, two workers, verified", two, atLeast(5)}, {"`ffconvert.ffrecord.FileWriter`, synced", writer, target{}}} {
				g := figure{work: "samples of " + size.what + " written by " + f.how, against: "FFRecord's own FileWriter, which does not sync", unit: ratio, target: f.target, ours: micros.all(f.ours), leftOut: leftOut}
				if leftOut == "" {
					g.value, g.theirs = original.over(f.ours), micros.all(original)
				}
				record(g)
			}
		}
	})
}

// TestT6 imports the package, whose bytecode is there.
func TestT6(t *testing.T) {
	measure(t, "T6", func(record func(figure)) {
		py := pythonPackage(t)
		took := func(module string) float64 {
			cmd := exec.Command(python.Path(t, "numpy", "msgpack"), "-c", "import time; start = time.perf_counter(); import "+module+"; print(time.perf_counter() - start)")
			cmd.Env = append(os.Environ(), "PYTHONPATH="+py.dir, "FFCONVERT_NATIVE="+py.native, "PYTHONDONTWRITEBYTECODE=", "PYTHONPYCACHEPREFIX="+filepath.Join(work, "bytecode"))
			var s float64
			if err := json.Unmarshal([]byte(strings.TrimSpace(string(finish(t, cmd, false).stdout))), &s); err != nil {
				t.Fatal(err)
			}
			return s
		}
		took("ffconvert") // writes the bytecode
		var ours, numpy series
		inTurn(3*rounds, 2, func(i int) {
			if i == 0 {
				ours = append(ours, took("ffconvert"))
			} else {
				numpy = append(numpy, took("numpy"))
			}
		})
		record(figure{work: "`import ffconvert` without torch", value: ours, unit: millis, target: atMost(0.060), theirs: millis.all(numpy) + " of numpy alone"})
	})
}
