package kubernetes

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/ffconvert/ffconvert/internal/test/versitygw"
)

const (
	tasks  = 8
	shards = 14 // one or two a task
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

// TestSchedules runs the jobs of the manifests as a cluster may: tasks in any order, some of them
// twice at once, pods lost and drained. What comes of it is what one machine makes.
func TestSchedules(t *testing.T) {
	t.Parallel()
	tars := t.TempDir()
	writeTars(t, tars)
	playAll(t, readManifest(t, shared), 50, func(name string) target { return directory(tars, filepath.Join(t.TempDir(), name)) })
}

// TestBucketSchedules is TestSchedules with sources and dataset in an object store. Pods share nothing else.
func TestBucketSchedules(t *testing.T) {
	t.Parallel()
	server := versitygw.Start(t)
	tars := t.TempDir()
	for _, tar := range writeTars(t, tars) {
		server.Put(t, "bucket", "tars/"+filepath.Base(tar), tar)
	}
	playAll(t, readManifest(t, inBucket), 20, func(name string) target { return bucket(server, name) })
}

// playAll plays that many schedules, each with a target of its own.
func playAll(t *testing.T, m *manifest, schedules int, targetOf func(name string) target) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv(seedVariable); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
		seed = n
	}
	jobs := m.jobs
	jobs["status"] = statusOf(t, m)
	plan, run := container(t, jobs["plan"]), container(t, jobs["run"])
	n := int32(tasks)
	jobs["run"].Spec.Completions, run.Env[0].Value = &n, strconv.Itoa(tasks)
	plan.Args = slices.Insert(plan.Args, 2, "--shards="+strconv.Itoa(shards))

	want := onOneMachine(t, jobs["plan"], targetOf("one"))
	var played, lost atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d schedules, in which %d pods were ended part way", played.Load(), lost.Load())
		if played.Load() == int64(schedules) && lost.Load() < int64(schedules)/2 {
			t.Error("too few for the test to say much")
		}
	})
	for i := range uint64(schedules) {
		name := strconv.FormatUint(i, 10)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &cluster{t: t, jobs: jobs, target: targetOf(name)}
			c.play(newSchedule(seed + i))
			played.Add(1)
			lost.Add(int64(c.lost))
			difference(t, want, c.target.files(t))
			if t.Failed() {
				t.Logf("%s=%d go test -run '%s/^0$'\n%s", seedVariable, seed+i, strings.TrimSuffix(t.Name(), "/"+name), strings.Join(c.said, ""))
			}
		})
	}
}

// statusOf returns the command of the head that is run in the pod of finish, as a job.
func statusOf(t *testing.T, m *manifest) *batchv1.Job {
	t.Helper()
	command := regexp.MustCompile(`(?m)^#   kubectl exec job/ffconvert-finish -- /ffconvert (.*?) *(# .*)?$`).FindSubmatch(m.text)
	if command == nil {
		t.Fatalf("%s shows no command that asks how far it is", m.name)
	}
	job := m.jobs["finish"].DeepCopy()
	container(t, job).Args = strings.Fields(string(command[1]))
	return job
}

// A cluster runs jobs. Their pods share sources and output, and have scratch of their own.
type cluster struct {
	t      *testing.T
	jobs   map[string]*batchv1.Job
	target target

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
	c.until(ctx, "status", -1, nil)
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
		e, err := newPod(c.t, c.jobs[step], index, c.target.pod(c.t)).run(ctx, f)
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

// A target is where pods find the sources and write a dataset.
type target struct {
	node
	scratch string                               // the directory that each pod has of its own
	files   func(t *testing.T) map[string]string // of the dataset: what output returns of it
}

// pod returns what one pod finds.
func (o target) pod(t *testing.T) node {
	places := maps.Clone(o.places)
	places[o.scratch] = t.TempDir()
	return node{places, o.secret}
}

// directory is a directory that all pods see.
func directory(tars, out string) target {
	return target{
		node: node{places: map[string]string{"/data/tars": tars, "/data/out": out}}, scratch: "/cache",
		files: func(t *testing.T) map[string]string { return output(t, out) },
	}
}

// bucket is a prefix of a server that has the sources below bucket/tars/.
func bucket(server *versitygw.Server, prefix string) target {
	return target{
		node: node{
			places: map[string]string{"s3://bucket/tars": "s3://bucket/tars", "s3://bucket/data": "s3://bucket/" + prefix},
			secret: map[string][]string{"ffconvert-bucket": server.Env()},
		},
		scratch: "/scratch",
		files: func(t *testing.T) map[string]string {
			objects, err := server.Objects(t.Context(), "bucket", prefix+"/")
			if err != nil {
				t.Error(err)
			}
			files := make(map[string]string)
			for name, data := range objects {
				// A task that runs twice may put the line of a shard again after finish has removed it.
				if path.Dir(name) != ".ffconvert/done" {
					files[name] = alike(name, data)
				}
			}
			return files
		},
	}
}

// onOneMachine converts with the flags of the plan, and returns what comes of it.
func onOneMachine(t *testing.T, plan *batchv1.Job, to target) map[string]string {
	t.Helper()
	p := newPod(t, plan, -1, to.pod(t))
	p.args = p.args[1:]
	e, err := p.run(t.Context(), fate{})
	if err != nil || e.status != 0 {
		t.Fatalf("%q: status %d, %v\n%s", p.args, e.status, err, e.said)
	}
	made := to.files(t)
	for i := range shards {
		if name := fmt.Sprintf("PART_%05d.ffr", i); made[name] == "" {
			t.Fatalf("%s is not there", name)
		}
	}
	return made
}
