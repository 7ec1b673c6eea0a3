package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// The chain that deploy/slurm submits: jobs' numbers.
type chain struct{ index, plan, run, finish string }

// begin submits the conversion, as a user does.
func (c *cluster) begin(tasks ...string) chain {
	c.t.Helper()
	write(c.t, c.work)
	args := slices.Concat(tasks, []string{"--"}, arguments(out))
	var jobs chain
	steps := map[string]*string{"index": &jobs.index, "plan": &jobs.plan, "run": &jobs.run, "finish": &jobs.finish}
	said := c.output(deploy(c.t, "submit.sh"), args...)
	for line := range strings.Lines(said) {
		step, job, _ := strings.Cut(strings.TrimSpace(line), " ")
		if steps[step] == nil || *steps[step] != "" {
			c.t.Fatalf("submit.sh prints %q", said)
		}
		*steps[step] = job
	}
	if jobs.plan == "" || jobs.run == "" || jobs.finish == "" {
		c.t.Fatalf("submit.sh prints %q", said)
	}
	return jobs
}

func deploy(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "deploy", "slurm", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// drained waits until no job is left to run.
func (c *cluster) drained() {
	c.t.Helper()
	c.await("the queue is empty", c.idle)
}

func (c *cluster) idle() bool {
	queue, err := c.command("squeue", "--noheader").Output()
	return err == nil && len(queue) == 0
}

// job returns what Slurm knows of a job, by name.
func (c *cluster) job(id string) map[string]string {
	c.t.Helper()
	known := make(map[string]string)
	for _, field := range strings.Fields(c.output("scontrol", "--oneliner", "show", "job", id)) {
		name, value, _ := strings.Cut(field, "=")
		known[name] = value
	}
	return known
}

// ended asserts how a job has ended, and how often it was begun again.
func (c *cluster) ended(id, state string, restarts int) {
	c.t.Helper()
	job := c.job(id)
	if job["JobState"] != state || job["Restarts"] != fmt.Sprint(restarts) {
		c.t.Errorf("job %s (%s): %s after %s restarts; want %s after %d", id, job["JobName"], job["JobState"], job["Restarts"], state, restarts)
	}
}

func (c *cluster) log(name string) string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.work, name))
	if err != nil {
		c.t.Error(err)
	}
	return string(text)
}

func (c *cluster) written() int {
	names, _ := filepath.Glob(filepath.Join(c.work, out, "*.ffr"))
	return len(names)
}

// A node that is lost while its task has a shard half written costs that task its time and
// nothing else.
func TestLostNode(t *testing.T) {
	t.Parallel()
	need.Time(t, "a job of a Slurm cluster")
	c := start(t)
	jobs, task := c.beginHeld(func(p process) bool { return c.written() >= 4 }, "20%4")
	id, node := jobs.run+"_"+task.variable("SLURM_ARRAY_TASK_ID"), task.variable("SLURMD_NODENAME")
	if job := c.job(id); job["JobState"] != "RUNNING" || job["NodeList"] != node {
		t.Fatalf("job %s is %s on %s, want it running on %s", id, job["JobState"], job["NodeList"], node)
	}
	t.Logf("node %s is lost with task %s, %d shards are there", node, id, c.written())
	c.lose(node, task)
	c.output("scontrol", "update", "NodeName="+node, "State=DOWN", "Reason=lost")
	c.node(node)
	c.output("scontrol", "update", "NodeName="+node, "State=RESUME")
	c.drained()
	c.ended(id, "COMPLETED", 1)
	c.ended(jobs.finish, "COMPLETED", 0)
	c.same()
}

// lose kills what is on a node, all at once as far as Slurm can see: its daemon, the one of
// the job, the job's shell, and the task.
func (c *cluster) lose(node string, task process) {
	c.t.Helper()
	shell, err := task.parent()
	if err != nil {
		c.t.Fatal(err)
	}
	step, err := shell.parent()
	if err != nil {
		c.t.Fatal(err)
	}
	if name := step.status("Name"); !strings.HasPrefix(name, "slurmstepd") {
		c.t.Fatalf("the shell's parent is %s", name)
	}
	c.named[node].kill()
	// The daemon of the job is stopped first, and tells nobody. The others end before their parents do: the kernel wakes a stopped task whose
	// parent is gone, and it may be gone itself before it is killed.
	for _, s := range []struct {
		process
		signal syscall.Signal
	}{{step, syscall.SIGSTOP}, {task, syscall.SIGKILL}, {shell, syscall.SIGKILL}, {step, syscall.SIGKILL}} {
		if err := syscall.Kill(s.pid, s.signal); err != nil {
			c.t.Fatalf("%v of process %d: %v", s.signal, s.pid, err)
		}
	}
}

// The sources are indexed by tasks; one that has failed to write is submitted again by itself,
// and the conversion finished.
func TestOneTaskAgain(t *testing.T) {
	t.Parallel()
	need.Time(t, "a job of a Slurm cluster")
	c := start(t)
	jobs, task := c.beginHeld(func(p process) bool { return p.variable("SLURM_ARRAY_TASK_ID") != "" }, "--index", "3%2", "8")
	index := task.variable("SLURM_ARRAY_TASK_ID")
	if err := syscall.Kill(task.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.drained()
	for i := range 3 {
		c.ended(fmt.Sprintf("%s_%d", jobs.index, i), "COMPLETED", 0)
	}
	if log := c.log("ffconvert-plan-" + jobs.plan + ".log"); !strings.Contains(log, "8 parts indexed by tasks") {
		t.Errorf("the plan was not made of what tasks have indexed: %s", log)
	}
	c.ended(jobs.run+"_"+index, "FAILED", 0)
	c.ended(jobs.finish, "CANCELLED", 0)

	early := c.command("ffconvert", "finish", out)
	if text, _ := early.CombinedOutput(); early.ProcessState.ExitCode() != 5 {
		t.Errorf("finish without the shards of a task: %v, want status 5: %s", early.ProcessState, text)
	}

	script := deploy(t, "ffconvert.sbatch")
	c.env = append(c.env, "FFCONVERT_TASKS=8")
	again := c.output("sbatch", "--parsable", "--array="+index, script, "run", out)
	finish := c.output("sbatch", "--parsable", "--dependency=afterok:"+again, script, "finish", out)
	c.drained()
	c.ended(again, "COMPLETED", 0)
	c.ended(finish, "COMPLETED", 0)
	c.same()
}

// A task whose time is nearly over stops in good order, and another job goes on with it.
func TestOutOfTime(t *testing.T) {
	t.Parallel()
	need.Time(t, "a job of a Slurm cluster")
	c := start(t)
	jobs, task := c.beginHeld(func(p process) bool { return p.variable("SLURM_ARRAY_TASK_ID") == "1" }, "2", "--cpus-per-task=1") // twenty shards one after the other
	id := jobs.run + "_1"                                                                                                         // an array's last task has the array's number
	// What --signal=B:USR1@120 makes Slurm send, to the same process.
	c.output("scancel", "--batch", "--signal=USR1", id)
	c.await("the shell hands the signal on", func() bool { return task.status("ShdPnd") == fmt.Sprintf("%016x", 1<<(syscall.SIGUSR1-1)) })
	syscall.Kill(task.pid, syscall.SIGCONT)
	c.drained()
	c.ended(jobs.run+"_0", "COMPLETED", 0)
	c.ended(id, "COMPLETED", 1)
	c.ended(jobs.finish, "COMPLETED", 0)
	c.same()
}

// A task that another job preempts gets the signal of --signal before, as docs/clusters.md says of a
// site with preempt_send_user_signal, stops in good order, and goes on afterwards.
func TestPreempted(t *testing.T) {
	t.Parallel()
	need.Time(t, "a job of a Slurm cluster")
	c := start(t)
	jobs, task := c.beginHeld(func(p process) bool { return p.variable("SLURM_ARRAY_TASK_ID") == "1" }, "2", "--cpus-per-task=1")
	id := jobs.run + "_1"
	urgent := c.output("sbatch", "--parsable", "--partition=urgent", fmt.Sprintf("--nodes=%d", nodes), "--exclusive", "--wrap=true")
	c.await("the shell hands the signal on", func() bool { return task.status("ShdPnd") == fmt.Sprintf("%016x", 1<<(syscall.SIGUSR1-1)) })
	syscall.Kill(task.pid, syscall.SIGCONT)
	c.drained()
	c.ended(urgent, "COMPLETED", 0)
	c.ended(id, "COMPLETED", 1)
	c.ended(jobs.finish, "COMPLETED", 0)
	c.same()
}
