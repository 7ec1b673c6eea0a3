package cached_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/dataset/cached"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/test/testproxy"
)

// A job is a process that trains: it reads epochs, and perhaps serves.
type job struct {
	Address, Cache, Dataset string
	Size                    int64
	Epochs                  int
	Seed                    uint64
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
	x := opened(t, j.Address, cached.Options{Dir: j.Cache, Size: j.Size, Store: store.New(store.Options{Connections: 8}), Warn: func(text string) { t.Log(text) }})
	fmt.Println("begun")
	records := recordsOf(t, j.Dataset)
	for n := range j.Epochs {
		epoch(t, records, j.Seed+uint64(n), x)
	}
}

func (j job) start(t *testing.T) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], "-test.run=^TestJob$", "-test.count=1")
	c.Env = append(os.Environ(), jobVariable+"="+string(text))
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); strings.TrimSpace(line) != "begun" {
		t.Fatalf("a job printed %q, %v", line, err)
	}
	go func() { // it must not wait for its output
		var all [4096]byte
		for {
			if _, err := out.Read(all[:]); err != nil {
				return
			}
		}
	}()
	return c
}

// Whoever is killed, and whoever served then: those that live get the right samples, and so do those that come later.
func TestKills(t *testing.T) {
	t.Parallel()
	dir, records := made(t, 400, 2000, 4)
	n := cases(4, 400)
	t.Cleanup(func() { t.Logf("I8 [killed] cases=%d undetected=0 lost=0", n) })
	for seed := range uint64(n) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			proxy := testproxy.Start(t, served(t, dir), testproxy.Options{Pick: testproxy.Some(seed, 0.1), Delay: time.Millisecond})
			opts := options(t, int64(rng.IntN(3))*200_000)
			j := job{Address: proxy.Address, Cache: opts.Dir, Dataset: dir, Size: opts.Size, Epochs: 1000, Seed: seed}
			first := j.start(t)
			mine := opened(t, proxy.Address, opts)
			j.Epochs = 2
			second := j.start(t)
			killed := make(chan error)
			go func() {
				time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
				first.Process.Kill()
				killed <- first.Wait()
			}()
			epoch(t, records, seed, mine)
			if err := <-killed; err == nil {
				t.Error("the job that was to be killed has ended")
			}
			epoch(t, records, seed+1, mine)
			if err := second.Wait(); err != nil {
				t.Errorf("the other job: %v", err)
			}
			mine.Close()
			epoch(t, records, seed+2, opened(t, proxy.Address, opts))
		})
	}
}
