// package arrayjob finds out which task of an array job this process is, from the flag --task,
// FFCONVERT_TASK, or the variables that the batch system sets.
package arrayjob

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

// Flag is the flag --task.
type Flag struct{ task Value }

func (o *Flag) Add(flags *pflag.FlagSet) {
	flags.Var(&o.task, "task", "the slice that is this task's, K of N counted from 0 (default "+taskVariable+", else by the array job of Slurm, Kubernetes, PBS or LSF, with "+tasksVariable+" for N where that does not say it, else all)")
}

// Find returns the task of this process, and the flag or variables that it was read from.
func (o *Flag) Find() (plan.Task, string, error) {
	return of(string(o.task), os.LookupEnv)
}

// Value is a flag value K/N, empty if the flag was not given.
type Value string

func (v *Value) Set(s string) error {
	_, err := plan.ParseTask(s)
	*v = Value(s)
	return err
}

func (v *Value) Type() string   { return "K/N" }
func (v *Value) String() string { return string(*v) }

// of returns the task of this process: the flag's, else FFCONVERT_TASK's, else the batch
// system's, else the one task 0/1. from names the flag or variables that decided, "" if none did.
// An empty variable counts as unset. Variables that contradict each other or are incomplete are an
// error, because a wrong slice would be noticed late.
func of(flag string, lookup func(string) (string, bool)) (task plan.Task, from string, err error) {
	e := environment(lookup)
	if flag != "" {
		task, err = plan.ParseTask(flag)
		return task, "--task", err
	}
	tasks, err := e.number(tasksVariable, 1)
	if err != nil {
		return task, "", err
	}
	if text := e.text(taskVariable); text != "" {
		task, err = plan.ParseTask(text)
		switch {
		case err != nil:
			err = fmt.Errorf("%s: %w", taskVariable, err)
		case tasks > 0 && int(tasks) != task.N:
			err = fmt.Errorf("%s=%v and %s=%d: they differ in how many tasks there are; unset one of them", taskVariable, task, tasksVariable, tasks)
		}
		return task, taskVariable, err
	}
	s, err := e.scheduler()
	switch {
	case err != nil:
		return task, "", err
	case s != nil:
		return e.taskIn(s, tasks)
	case tasks > 1:
		return task, "", fmt.Errorf("%s=%d, and nothing says which of them this is; set %s=K/%[2]d or run an array job", tasksVariable, tasks, taskVariable)
	case tasks == 1:
		from = tasksVariable
	}
	return plan.Task{N: 1}, from, nil
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
func (e environment) taskIn(s *scheduler, tasks int64) (task plan.Task, _ string, err error) {
	index, err := e.number(s.index, s.first)
	if err != nil {
		return task, "", err
	}
	a, from := array{first: s.first, last: s.first + tasks - 1, step: 1}, s.index+" and "+tasksVariable
	if tasks < 0 {
		from = s.index
		if s.array == nil {
			return task, "", fmt.Errorf("%s=%d does not say of how many tasks; %s", s.index, index, sayTask)
		}
		if a, err = s.array(e, index); err != nil {
			return task, "", err
		}
	}
	if index < a.first || index > a.last || (index-a.first)%a.step != 0 {
		if tasks > 0 {
			return task, "", fmt.Errorf("%s=%d: with %s=%d the tasks are %v; number the array so, or name this one by --task K/N", s.index, index, tasksVariable, tasks, a)
		}
		return task, "", fmt.Errorf("%s=%d: the tasks are %v, as the scheduler says; %s", s.index, index, a, sayTask)
	}
	return plan.Task{K: int((index - a.first) / a.step), N: int((a.last-a.first)/a.step + 1)}, from, nil
}
