package cached_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/dataset/cached"
	"github.com/ffconvert/ffconvert/internal/test/services"
	"github.com/ffconvert/ffconvert/internal/test/testproxy"
	"github.com/ffconvert/ffconvert/internal/test/testserver"
)

// A job is a process that trains: it reads epochs, and perhaps serves.
type job struct {
	Service        services.Service
	Cache, Dataset string
	Size           int64
	Epochs         int   // 0: it is a schedule of its own, on a disk that is full
	Most           int64 // bytes that an epoch may fetch; 0: any
	Seed           uint64
}

const jobVariable = "FFCONVERT_TEST_JOB"

// TestJob is the process of a job, which TestKills starts.
func TestJob(t *testing.T) {
	text := os.Getenv(jobVariable)
	if text == "" {
		return
	}
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		t.Fatal(err)
	}
	records := recordsOf(t, j.Dataset)
	if j.Epochs == 0 {
		j.schedule(t, records, true)
		return
	}
	x := opened(t, j.Service.URL, optionsOf(t, &j.Service, j.Cache, j.Size))
	fmt.Println("begun")
	before := int64(0)
	for n := range j.Epochs {
		epoch(t, records, j.Seed+uint64(n), x)
		now, err := x.Fetched(t.Context())
		if err != nil || j.Most > 0 && now-before > j.Most {
			t.Errorf("epoch %d fetched %d bytes, %v; want %d at the most", n, now-before, err, j.Most)
		}
		before = now
	}
}

// process makes a command be the process of the job: this program, perhaps by another one.
func (j job) process(t *testing.T, by func(args []string) *exec.Cmd) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	c := by([]string{os.Args[0], "-test.run=^TestJob$", "-test.count=1"})
	c.Env = append(os.Environ(), jobVariable+"="+string(text))
	return c
}

// start starts the job, which has opened the dataset then. end waits for its end; an error has what it printed.
func (j job) start(t *testing.T) (p *os.Process, end func() error) {
	t.Helper()
	c := j.process(t, func(args []string) *exec.Cmd { return exec.Command(args[0], args[1:]...) })
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said, rest := bufio.NewReader(out), make(chan []byte, 1)
	line, err := said.ReadString('\n')
	go func() { // it must not wait for its output
		text, _ := io.ReadAll(said)
		rest <- text
	}()
	end = func() error {
		text := <-rest
		if err := c.Wait(); err != nil {
			return fmt.Errorf("%w: %s", err, text)
		}
		return nil
	}
	if strings.TrimSpace(line) != "begun" {
		t.Fatalf("a job printed %q, %v: %v", line, err, end())
	}
	return c.Process, end
}

// schedule kills one of two jobs that share the cache with this process: the first, which fetches, or the second. If fill is
// true, somebody else fills the disk meanwhile.
func (j job) schedule(t *testing.T, records [][]byte, fill bool) {
	rng := rand.New(rand.NewPCG(j.Seed, 1))
	opts := optionsOf(t, &j.Service, j.Cache, j.Size)
	victim := rng.IntN(2)
	var processes [2]*os.Process
	var ends [2]func() error
	var mine *cached.Dataset
	for k := range processes {
		if j.Epochs = 2; k == victim {
			j.Epochs = 1000
		}
		processes[k], ends[k] = j.start(t)
		if k == 0 {
			mine = opened(t, j.Service.URL, opts)
		}
	}
	killed := make(chan error)
	go func() {
		time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
		processes[victim].Kill()
		killed <- ends[victim]()
	}()
	if fill {
		if _, err := mine.Shards(t.Context(), 0, 1, 2, 3); err != nil { // no sample is found without their headers
			t.Fatal(err)
		}
		filled := make(chan error)
		go func() { filled <- fillDisk(t.Context(), j.Cache) }()
		defer func() {
			if err := <-filled; !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("the disk was not filled: %v", err)
			}
		}()
	}
	epoch(t, records, j.Seed, mine)
	if err := <-killed; err == nil {
		t.Error("the job that was to be killed has ended")
	}
	epoch(t, records, j.Seed+1, mine)
	if err := ends[1-victim](); err != nil {
		t.Errorf("the other job: %v", err)
	}
	if err := mine.Close(); err != nil {
		t.Error(err)
	}
	epoch(t, records, j.Seed+2, opened(t, j.Service.URL, opts))
}

// fillDisk writes into a directory until an error says that its disk is full.
func fillDisk(ctx context.Context, dir string) error {
	f, err := os.Create(filepath.Join(dir, "other"))
	if err != nil {
		return err
	}
	defer f.Close()
	for page := make([]byte, 32<<10); ctx.Err() == nil; time.Sleep(100 * time.Microsecond) {
		if _, err := f.Write(page); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// Whoever is killed, and whoever served then: those that live get the right samples, and so do those that come later.
func TestKills(t *testing.T) {
	t.Parallel()
	dir, records := made(t, 400, 2000, 4)
	schedules(t, "killed", dir, 6, 400, func(t *testing.T, seed uint64, server *services.Server) {
		s := server.Behind(t, testproxy.Options{Pick: testproxy.Some(seed, 0.1), Delay: time.Millisecond})
		size := int64(rand.New(rand.NewPCG(seed, 2)).IntN(3)) * 200_000
		job{Service: *s, Cache: t.TempDir(), Dataset: dir, Size: size, Seed: seed}.schedule(t, records, false)
	})
}

// So it is on a disk that has no room for what the cache may keep, or that another program fills meanwhile.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	testserver.NeedDisk(t)
	dir, _ := made(t, 400, 2000, 4)
	schedules(t, "full", dir, 6, 60, func(t *testing.T, seed uint64, server *services.Server) {
		rng := rand.New(rand.NewPCG(seed, 2))
		s := server.Behind(t, testproxy.Options{Pick: testproxy.Some(seed, 0.1), Delay: time.Millisecond})
		j := job{Service: *s, Cache: t.TempDir(), Dataset: dir, Size: int64(rng.IntN(2)) * 300_000, Seed: seed}
		disk := fmt.Sprint(1024+rng.IntN(10<<10), "k") // of which the last MiB stays free, and 8 MiB are wanted for filling
		c := j.process(t, func(args []string) *exec.Cmd { return testserver.OnDisk(disk, j.Cache, args) })
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("a disk of %s: %v: %s", disk, err, out)
		}
	})
}

// What no disk has room for is fetched each time, and nothing beside it.
func TestFullDiskFetches(t *testing.T) {
	t.Parallel()
	testserver.NeedDisk(t)
	dir, records := made(t, 600, 20_000, 4)
	size := int64(0)
	for _, r := range records {
		size += int64(len(r))
	}
	j := job{Service: services.Service{URL: served(t, dir)}, Cache: t.TempDir(), Dataset: dir, Epochs: 3, Most: size * 3 / 2}
	c := j.process(t, func(args []string) *exec.Cmd { return testserver.OnDisk("3m", j.Cache, args) })
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
