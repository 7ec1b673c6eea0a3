//go:build bench && linux

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

const (
	rounds     = 7 // of what is compared
	slowRounds = 5 // of the same with cold inputs, and of what takes ten seconds a round
	longRounds = 3 // of what takes half a minute a round
)

var (
	program  string           // the ffconvert under test
	work     string           // where all data is, on the device to be measured
	volume   int64  = 2 << 30 // bytes of the main set
	measured        = result{changes: changes, whole: make(map[string]string), coldness: "of all files and programs"}
)

func TestMain(m *testing.M) {
	if n := os.Getenv(planVariable); n != "" {
		os.Exit(planAlone(n))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	defer func() { os.RemoveAll(work) }()
	began := time.Now()
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	before := load()
	code := m.Run()
	measured.took = time.Since(began).Round(time.Second).String()
	measured.machine = append(machine(), fmt.Sprintf("load average %s before, %s after", before, load()))
	fmt.Printf("\n%s\n", measured.page())
	if err := keep(os.Getenv("FFCONVERT_BENCH_REPORT")); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return code
}

// keep writes the page of a whole run to a file, if there is a name for it.
func keep(name string) error {
	if name == "" {
		return nil
	}
	if missing := measured.missing(); len(missing) > 0 {
		return fmt.Errorf("%s is not written: %v did not come to their end", name, missing)
	}
	return os.WriteFile(name, []byte(measured.page()), 0o644)
}

// prepare looks at the room there is, and builds the program.
func prepare() error {
	if s := os.Getenv("FFCONVERT_BENCH_BYTES"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 64<<20 {
			return fmt.Errorf("FFCONVERT_BENCH_BYTES is %q; want a number of bytes, 64 MiB or more", s)
		}
		volume = n
	}
	var err error
	if measured.commit, measured.tree, err = commit(); err != nil {
		return err
	}
	measured.date = time.Now().UTC().Format(time.DateOnly)
	measured.volume = size(volume)
	if work, err = os.MkdirTemp("", "ffconvert-bench-*"); err != nil {
		return err
	}
	if short, err := shortOf(5 * volume); err != nil || short != "" { // the inputs, and two outputs beside each other
		return fmt.Errorf("%s under %s (%w); choose another TMPDIR or a smaller FFCONVERT_BENCH_BYTES", short, filepath.Dir(work), err)
	}
	if program, err = need.Build(); err != nil {
		return err
	}
	measured.version, err = programVersion()
	return err
}

// programVersion is what the program says of itself: the second word of "ffconvert v0.1.0-dev go1.26.8 linux/amd64".
func programVersion() (string, error) {
	out, err := exec.Command(program, "version").Output()
	words := strings.Fields(string(out))
	if err != nil || len(words) < 2 {
		return "", fmt.Errorf("%s version: %q, %w", program, out, err)
	}
	return words[1], nil
}

// measure runs the work of a row. A row is whole once the work has returned, whether its
// targets are met or not.
func measure(t *testing.T, id string, work func(record func(figure))) {
	t.Helper()
	if place(id) < 0 {
		t.Fatalf("%s is no row", id)
	}
	began := time.Now()
	work(func(f figure) {
		t.Helper()
		f.row = id
		measured.figures = append(measured.figures, f)
		t.Logf("%s: %s: %s (target %s) %s; %s; against %s: %s; limit %s", id, f.work, orDash(f.measured()), orDash(f.wanted()), f.verdict(), orDash(f.ours), orDash(f.against), orDash(f.theirs), orDash(f.limit))
		if f.missed() {
			t.Errorf("%s: %s: %s; want %s", id, f.work, f.measured(), f.wanted())
		}
	})
	measured.whole[id] = time.Since(began).Round(time.Second).String()
}
