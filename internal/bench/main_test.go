//go:build bench && linux

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// rounds is how often every pair is measured; the median is reported.
const rounds = 5

var (
	program string           // the ffconvert under test
	work    string           // where all data is, on the device to be measured
	volume  int64  = 2 << 30 // bytes of the main set
	large   bool             // there is room for an output of 4 × volume
	results table
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		if work != "" {
			os.RemoveAll(work)
		}
		return 1
	}
	defer os.RemoveAll(work)
	code := m.Run()
	fmt.Printf("\n%s\n\n%s\n", machine(), results.markdown())
	return code
}

// prepare looks at the room there is, and builds the program.
func prepare() error {
	if s := os.Getenv("FFCONVERT_BENCH_BYTES"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 16<<20 {
			return fmt.Errorf("FFCONVERT_BENCH_BYTES is %q; want a number of bytes, 16 MiB or more", s)
		}
		volume = n
	}
	var err error
	if work, err = os.MkdirTemp("", "ffconvert-bench-*"); err != nil {
		return err
	}
	free, err := freeBytes(work)
	if err != nil {
		return err
	}
	need := 5 * volume // the inputs, and two outputs of them beside each other
	large = free >= 10*volume
	fmt.Printf("%s\n%.1f GiB free under %s, %.1f GiB needed, %.1f GiB to measure memory at %.1f GiB too\n",
		machine(), gib(free), filepath.Dir(work), gib(need), gib(10*volume), gib(4*volume))
	if free < need {
		return fmt.Errorf("%.1f GiB free under %s, %.1f GiB needed; choose another TMPDIR or a smaller FFCONVERT_BENCH_BYTES", gib(free), filepath.Dir(work), gib(need))
	}

	program = filepath.Join(work, "ffconvert")
	build := exec.Command("go", "build", "-trimpath", "-o", program, "../../cmd/ffconvert")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", build, err, out)
	}
	return nil
}

func gib(n int64) float64 { return float64(n) / (1 << 30) }
