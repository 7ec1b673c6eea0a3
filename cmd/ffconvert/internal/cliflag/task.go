package cliflag

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/shard/plan"
)

// The variables that are read if --task is not given.
const (
	taskVariable  = "FFCONVERT_TASK"  // K/N
	tasksVariable = "FFCONVERT_TASKS" // N, for batch systems that give K alone
)

// Task is the flag --task; the zero value is one that was not given.
type Task struct{ plan.Task }

// Add registers the flag for a command that takes its task from the environment, too: see [Task.Find].
func (t *Task) Add(flags *pflag.FlagSet) {
	flags.Var(t, "task", "the slice that is this task's, K of N counted from 0 (default "+taskVariable+", else by the array job of Slurm, Kubernetes, PBS or LSF, with "+tasksVariable+" for N where that does not say it, else all)")
}

func (t *Task) Set(s string) (err error) {
	t.Task, err = plan.ParseTask(s)
	return err
}

func (t *Task) Type() string { return "K/N" }

func (t *Task) String() string {
	if !t.Given() {
		return ""
	}
	return t.Task.String()
}

// Given reports whether the flag was given.
func (t *Task) Given() bool { return t.N > 0 }

// Find returns the task of this process: the flag's, else FFCONVERT_TASK's, else the batch
// system's, else the one task 0/1. An empty variable counts as unset. Variables that contradict each
// other or are incomplete are an error, because a wrong slice would be noticed late.
func (t *Task) Find() (plan.Task, error) { return t.find(os.LookupEnv) }

func (t *Task) find(lookup environment) (task plan.Task, err error) {
	if t.Given() {
		return t.Task, nil
	}
	tasks, err := lookup.number(tasksVariable, 1)
	if err != nil {
		return task, err
	}
	if text := lookup.text(taskVariable); text != "" {
		task, err = plan.ParseTask(text)
		switch {
		case err != nil:
			err = fmt.Errorf("%s: %w", taskVariable, err)
		case tasks > 0 && int(tasks) != task.N:
			err = fmt.Errorf("%s=%v and %s=%d: they differ in how many tasks there are; unset one of them", taskVariable, task, tasksVariable, tasks)
		}
		return task, err
	}
	s, err := lookup.scheduler()
	switch {
	case err != nil:
		return task, err
	case s != nil:
		return lookup.taskIn(s, tasks)
	case tasks > 1:
		return task, fmt.Errorf("%s=%d, and nothing says which of them this is; set %s=K/%[2]d or run an array job", tasksVariable, tasks, taskVariable)
	}
	return plan.Task{N: 1}, nil
}

// sayTask is the advice if a batch system sets too few variables.
const sayTask = "set " + tasksVariable + " to the number of tasks, or name this one by --task K/N"

// An environment looks up variables, as [os.LookupEnv] does.
type environment func(string) (string, bool)

func (e environment) text(name string) string {
	text, _ := e(name)
	return text
}

var errNoNumber = errors.New("want a whole number")

// number returns the value of a variable, at least least; −1 if the variable is not set.
func (e environment) number(name string, least int64) (int64, error) {
	text := e.text(name)
	if text == "" {
		return -1, nil
	}
	n, err := strconv.ParseUint(text, 10, 31) // 31 bits: the product of two fits in an int64
	if err != nil || int64(n) < least {
		return 0, fmt.Errorf("%s=%q: %w from %d to %d", name, text, errNoNumber, least, 1<<31-1)
	}
	return int64(n), nil
}

// scheduler returns the batch system that has set its index variable; nil if none has.
func (e environment) scheduler() (found *scheduler, err error) {
	for i := range schedulers {
		s := &schedulers[i]
		text := e.text(s.index)
		if text == "" || text == s.alone {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%s=%s and %s=%s both say which task this is; say it by --task K/N or %s=K/N", found.index, e.text(found.index), s.index, text, taskVariable)
		}
		found = s
	}
	return found, nil
}

// taskIn returns the task that the variables of s describe. A number of tasks above 0 replaces the
// number that s gives.
func (e environment) taskIn(s *scheduler, tasks int64) (task plan.Task, err error) {
	index, err := e.number(s.index, s.first)
	if err != nil {
		return task, err
	}
	a := array{first: s.first, last: s.first + tasks - 1, step: 1}
	if tasks < 0 {
		if s.array == nil {
			return task, fmt.Errorf("%s=%d does not say of how many tasks; %s", s.index, index, sayTask)
		}
		if a, err = s.array(e, index); err != nil {
			return task, err
		}
	}
	if index < a.first || index > a.last || (index-a.first)%a.step != 0 {
		if tasks > 0 {
			return task, fmt.Errorf("%s=%d: with %s=%d the tasks are %v; number the array so, or name this one by --task K/N", s.index, index, tasksVariable, tasks, a)
		}
		return task, fmt.Errorf("%s=%d: the tasks are %v, as the scheduler says; %s", s.index, index, a, sayTask)
	}
	return plan.Task{K: int((index - a.first) / a.step), N: int((a.last-a.first)/a.step + 1)}, nil
}

// A scheduler holds the variables by which one batch system numbers the tasks of an array.
type scheduler struct {
	index string // the variable with this task's index
	first int64  // index of the first task if FFCONVERT_TASKS gives their number
	alone string // the index outside an array; "" if the variable is unset there

	// array returns all indexes of the array; nil if the batch system does not set them.
	array func(e environment, index int64) (array, error)
}

// schedulers are the batch systems that are known. Their variables are documented in: man sbatch,
// Output Environment Variables; Kubernetes, Jobs, Completion mode; man qsub of PBS, -J; LSF,
// Environment variables set for job execution.
var schedulers = []scheduler{
	{index: "SLURM_ARRAY_TASK_ID", array: slurmArray},
	{index: "JOB_COMPLETION_INDEX"},
	{index: "PBS_ARRAY_INDEX"},
	{index: "LSB_JOBINDEX", first: 1, alone: "0"},
}

// An array has the indexes first, first + step, … up to last.
type array struct{ first, last, step int64 }

func (a array) String() string {
	text := fmt.Sprintf("%d to %d", a.first, a.last)
	if a.step > 1 {
		text += fmt.Sprintf(" in steps of %d", a.step)
	}
	return text
}

// slurmArray returns the array that Slurm describes. It refuses an array with gaps, or of one task
// with an index above 1: such a job repeats some tasks of an earlier array, and Slurm does not give
// the size of that array.
func slurmArray(e environment, id int64) (a array, err error) {
	var count int64
	for _, v := range []struct {
		name  string
		into  *int64
		least int64
	}{
		{"SLURM_ARRAY_TASK_COUNT", &count, 1}, {"SLURM_ARRAY_TASK_MIN", &a.first, 0},
		{"SLURM_ARRAY_TASK_MAX", &a.last, 0}, {"SLURM_ARRAY_TASK_STEP", &a.step, 1},
	} {
		*v.into, err = e.number(v.name, v.least)
		switch {
		case err != nil:
			return a, err
		case *v.into < 0:
			return a, fmt.Errorf("SLURM_ARRAY_TASK_ID=%d without %s; %s", id, v.name, sayTask)
		}
	}
	if a.last < a.first || (a.last-a.first)/a.step+1 != count || count == 1 && a.first > 1 {
		return a, fmt.Errorf("SLURM_ARRAY_TASK_COUNT=%d of the indexes %v: some tasks of an array do not say of how many; set %s to all of them, counted from 0, or name this one by --task K/N", count, a, tasksVariable)
	}
	return a, nil
}
