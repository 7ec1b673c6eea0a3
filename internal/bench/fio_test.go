//go:build bench && linux

package bench

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A fioRead is a way for fio to read files past the page cache.
type fioRead struct {
	how   string // of --rw: read, randread
	block string // bytes of one read
	depth int
	jobs  int
}

// plainRead is what a person would take who knows the device's limits: no larger than a
// request may be when its buffer is in pages of 4 KiB.
var plainRead = fioRead{"read", "256K", 32, 1}

func (f fioRead) String() string {
	return fmt.Sprintf("bs=%s iodepth=%d numjobs=%d", f.block, f.depth, f.jobs)
}

// rate is what fio reads of the files, bytes a second: each byte once, whatever the
// number of jobs. Each job has as much of every file, so that all end together.
func (f fioRead) rate(t *testing.T, files []string) float64 {
	t.Helper()
	names := make([]string, len(files))
	for i, name := range files {
		names[i] = strings.ReplaceAll(name, ":", `\:`)
	}
	args := []string{"--rw=" + f.how, "--bs=" + f.block, fmt.Sprintf("--iodepth=%d", f.depth), "--direct=1", "--ioengine=libaio",
		"--group_reporting", "--output-format=json"}
	if f.how == "read" {
		args = append(args, "--file_service_type=sequential") // file after file, as verification does
	}
	for i := range f.jobs {
		args = append(args, fmt.Sprintf("--name=job%d", i), "--filename="+strings.Join(names, ":"))
		if f.jobs > 1 {
			args = append(args, fmt.Sprintf("--offset=%d%%", 100*i/f.jobs), fmt.Sprintf("--size=%d%%", 100/f.jobs))
		}
	}
	p := execute(t, "fio", args...)
	var out struct {
		Jobs []struct {
			Read struct {
				Bytes int64   `json:"io_bytes"`
				Rate  float64 `json:"bw_bytes"`
			} `json:"read"`
		} `json:"jobs"`
	}
	if err := json.Unmarshal(p.stdout, &out); err != nil || len(out.Jobs) != 1 || out.Jobs[0].Read.Rate <= 0 {
		t.Fatalf("fio: %v\n%s", err, p.stdout)
	}
	// The end of a file that is no whole block is not read.
	if read, all := out.Jobs[0].Read.Bytes, sizeOf(t, files); read > all || float64(read) < 0.8*float64(all) {
		t.Fatalf("fio %v read %d of %d bytes", f, read, all)
	}
	return out.Jobs[0].Read.Rate
}
