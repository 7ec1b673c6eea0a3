//go:build bench && linux

package bench

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// A fioJob is a way for fio to read or write past the page cache.
type fioJob struct {
	how   string // of --rw: read, randread or write
	block string // bytes of one request
	depth int    // requests in flight, of each job
	jobs  int
}

// plainRead is what a person would take who knows the device's limits: no larger than a
// request may be when its buffer is in pages of 4 KiB.
var plainRead = fioJob{"read", "256K", 32, 1}

func (f fioJob) String() string {
	return fmt.Sprintf("bs=%s iodepth=%d numjobs=%d", f.block, f.depth, f.jobs)
}

// reads are the arguments for reading n bytes of the files, 0 for each byte once, whatever the number of
// jobs. Each job has as much of every file, so that all end together.
func (f fioJob) reads(files []string, n int64) (args []string) {
	names := make([]string, len(files))
	for i, name := range files {
		names[i] = strings.ReplaceAll(name, ":", `\:`)
	}
	for i := range f.jobs {
		args = append(args, fmt.Sprintf("--name=read%d", i), "--rw="+f.how, "--bs="+f.block, fmt.Sprintf("--iodepth=%d", f.depth),
			"--filename="+strings.Join(names, ":"))
		if f.how == "read" {
			args = append(args, "--file_service_type=sequential") // file after file, as verification does
		}
		if f.jobs > 1 {
			args = append(args, fmt.Sprintf("--offset=%d%%", 100*i/f.jobs), fmt.Sprintf("--size=%d%%", 100/f.jobs))
		}
		if n > 0 {
			args = append(args, fmt.Sprintf("--io_size=%d", n/int64(f.jobs)))
		}
		if f.how == "randread" && n > 0 {
			args = append(args, "--norandommap") // a block may come again
		}
	}
	return args
}

// writes are the arguments for writing n bytes into new files of a directory, a file a job, synced at the end.
func (f fioJob) writes(dir string, n int64) (args []string) {
	for i := range f.jobs {
		name := fmt.Sprintf("write%d", i)
		args = append(args, "--name="+name, "--rw=write", "--bs="+f.block, fmt.Sprintf("--iodepth=%d", f.depth),
			"--filename="+filepath.Join(dir, name), fmt.Sprintf("--size=%d", n/int64(f.jobs)), "--end_fsync=1")
	}
	return args
}

// A fioReport is what fio says of all its jobs together. They start at the same time; the seconds are those of
// the last to end, fsync included, and without what fio takes to start.
type fioReport struct {
	read, written int64 // bytes
	seconds       float64
}

// fio runs jobs.
func fio(t *testing.T, jobs ...string) (r fioReport) {
	t.Helper()
	p := execute(t, "fio", append([]string{"--direct=1", "--ioengine=libaio", "--output-format=json"}, jobs...)...)
	type half struct {
		Bytes   int64 `json:"io_bytes"`
		Runtime int64 // milliseconds
	}
	var out struct {
		Jobs []struct{ Read, Write half }
	}
	if err := json.Unmarshal(p.stdout, &out); err != nil {
		t.Fatalf("fio: %v\n%s", err, p.stdout)
	}
	for _, j := range out.Jobs {
		r.read += j.Read.Bytes
		r.written += j.Write.Bytes
		r.seconds = max(r.seconds, float64(max(j.Read.Runtime, j.Write.Runtime))/1e3)
	}
	if r.seconds <= 0 {
		t.Fatalf("fio took no time:\n%s", p.stdout)
	}
	return r
}

// rate is what fio reads of the files, bytes a second: n bytes, 0 for each byte once.
func (f fioJob) rate(t *testing.T, files []string, n int64) float64 {
	t.Helper()
	r := fio(t, f.reads(files, n)...)
	if n == 0 {
		n = sizeOf(t, files)
	}
	moved(t, f.String(), r.read, n)
	return float64(r.read) / r.seconds
}

// moved fails where fio did not move the bytes that it was to move, to a block. The end of a file that is no whole
// block is not read.
func moved(t *testing.T, how string, did, want int64) {
	t.Helper()
	if did > want+4<<20 || float64(did) < 0.8*float64(want) {
		t.Fatalf("fio %s moved %d of %d bytes", how, did, want)
	}
}
