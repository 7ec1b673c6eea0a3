package kubernetes

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

const (
	schedules = 50
	tasks     = 8
	shards    = 14 // one or two a task
)

// seedVariable repeats the schedules of a seed.
const seedVariable = "FFCONVERT_SEED"

// A start is a task that the cluster starts, and what becomes of its pods, one after the
// other, before one of them is left alone.
type start struct {
	index int
	fates []fate
}

// A schedule is one way in which a cluster may run the jobs.
type schedule struct {
	starts       []start
	parallelism  int
	plan, finish []fate
	early        bool // the job finish is applied with run, and waits
}

// newSchedule draws one.
func newSchedule(seed uint64) *schedule {
	rng := rand.New(rand.NewPCG(seed, seed))
	fates := func(likely float64) (fates []fate) {
		for rng.Float64() < likely {
			signal := syscall.SIGKILL
			if rng.IntN(3) == 0 {
				signal = syscall.SIGTERM // a node that is drained
			}
			fates = append(fates, fate{signal, rng.IntN(6), time.Duration(rng.IntN(8)) * time.Millisecond})
		}
		return fates
	}
	s := &schedule{parallelism: 2 + rng.IntN(3), plan: fates(0.2), finish: fates(0.2), early: rng.IntN(2) == 0}
	for _, index := range rng.Perm(tasks) {
		s.starts = append(s.starts, start{index, fates(0.35)})
		if rng.IntN(4) == 0 { // a node that was thought to be lost, and is not
			s.starts = append(s.starts, start{index, fates(0.35)})
		}
	}
	return s
}

// TestSchedules runs the jobs of the manifest as a cluster may: tasks in any order, some of them
// twice at once, pods lost and drained. What comes of it is what one machine makes.
func TestSchedules(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv(seedVariable); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
		seed = n
	}
	jobs := readManifest(t).jobs
	plan, run := container(t, jobs["plan"]), container(t, jobs["run"])
	n := int32(tasks)
	jobs["run"].Spec.Completions, run.Env[0].Value = &n, strconv.Itoa(tasks)
	plan.Args = slices.Insert(plan.Args, 2, "--shards="+strconv.Itoa(shards))

	tars := t.TempDir()
	writeTars(t, tars)
	want := onOneMachine(t, jobs["plan"], tars)
	var played, lost atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d schedules, in which %d pods were ended part way", played.Load(), lost.Load())
		if played.Load() == schedules && lost.Load() < schedules/2 {
			t.Error("too few for the test to say much")
		}
	})
	for i := range uint64(schedules) {
		t.Run(strconv.FormatUint(i, 10), func(t *testing.T) {
			t.Parallel()
			c := &cluster{t: t, jobs: jobs, tars: tars, out: filepath.Join(t.TempDir(), "out")}
			c.play(newSchedule(seed + i))
			played.Add(1)
			lost.Add(int64(c.lost))
			difference(t, want, output(t, c.out))
			if t.Failed() {
				t.Logf("%s=%d go test -run 'TestSchedules/^0$'\n%s", seedVariable, seed+i, strings.Join(c.said, ""))
			}
		})
	}
}

// A cluster runs jobs. Their pods share sources and output, and have caches of their own.
type cluster struct {
	t         *testing.T
	jobs      map[string]*batchv1.Job
	tars, out string

	fail func() // ends all pods

	mu   sync.Mutex
	said []string
	lost int // pods that were ended part way
}

// play runs all jobs as the schedule says.
func (c *cluster) play(s *schedule) {
	ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Minute)
	defer cancel()
	c.fail = cancel
	c.until(ctx, "plan", -1, s.plan)
	var finish, running sync.WaitGroup
	if s.early {
		finish.Go(func() { c.until(ctx, "finish", -1, s.finish) })
	}
	next := make(chan start, len(s.starts))
	for _, at := range s.starts {
		next <- at
	}
	close(next)
	for range s.parallelism {
		running.Go(func() {
			for at := range next {
				c.until(ctx, "run", at.index, at.fates)
			}
		})
	}
	running.Wait()
	if !s.early {
		c.until(ctx, "finish", -1, s.finish)
	}
	finish.Wait()
}

// until runs pods of a job until one of them has succeeded. Those that the cluster ends are
// succeeded by another; no other may fail.
func (c *cluster) until(ctx context.Context, step string, index int, fates []fate) {
	for _, f := range append(slices.Clone(fates), fate{}) {
		e, err := newPod(c.t, c.jobs[step], index, on(c.tars, c.out, c.t.TempDir())).run(ctx, f)
		c.mu.Lock()
		c.said = append(c.said, e.said)
		if e.status > 128 {
			c.lost++
		}
		c.mu.Unlock()
		switch ended := 128 + int(f.signal); {
		case err != nil:
			c.t.Errorf("%s %d: %v", step, index, err)
			c.fail()
			return
		case e.status == 0:
			return
		case f.signal == 0 || e.status != ended:
			c.t.Errorf("%s %d, %v: status %d", step, index, f, e.status)
			c.fail()
			return
		}
	}
}

// on returns the places of the paths in the manifest.
func on(tars, out, cache string) places {
	return places{"/data/tars": tars, "/data/out": out, "/cache": cache}
}

// onOneMachine converts with the flags of the plan, and returns what comes of it.
func onOneMachine(t *testing.T, plan *batchv1.Job, tars string) map[string]string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	p := newPod(t, plan, -1, on(tars, out, t.TempDir()))
	p.args = p.args[1:]
	e, err := p.run(t.Context(), fate{})
	if err != nil || e.status != 0 {
		t.Fatalf("%q: status %d, %v\n%s", p.args, e.status, err, e.said)
	}
	made := output(t, out)
	for i := range shards {
		if name := fmt.Sprintf("PART_%05d.ffr", i); made[name] == "" {
			t.Fatalf("%s is not there", name)
		}
	}
	return made
}
