// Package arrayjob finds out which task of an array job this process is: by the flag --task, the
// variables of ffconvert, or those of the batch system.
package arrayjob

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/shard/plan"
)

// The variables that say which task a process is, where no flag does.
const (
	taskVariable  = "FFCONVERT_TASK"  // K/N
	tasksVariable = "FFCONVERT_TASKS" // N, where a scheduler gives K alone, or the K of other arrays
)

// Flag is the flag of commands that do a slice of the work.
type Flag struct{ task Value }

func (o *Flag) Add(flags *pflag.FlagSet) {
	flags.Var(&o.task, "task", "the slice that is this task's, K of N counted from 0 (default "+taskVariable+", else by the array job of Slurm, Kubernetes, PBS or LSF, with "+tasksVariable+" for N where that does not say it, else all)")
}

// Find returns the task of this process, and what says so.
func (o *Flag) Find() (plan.Task, string, error) {
	return Of(string(o.task), os.LookupEnv)
}

// Value is a flag of K/N. That it is empty means that it was not given.
type Value string

func (v *Value) Set(s string) error {
	_, err := plan.ParseTask(s)
	*v = Value(s)
	return err
}

func (v *Value) Type() string   { return "K/N" }
func (v *Value) String() string { return string(*v) }

// Of returns which slice of the work is this process's: what the flag says, else
// FFCONVERT_TASK, else the scheduler's variables, else the whole. from names what has said
// so; "" is nothing. A variable that is empty is not set. Whatever is contradictory or
// incomplete is an error, since a wrong slice is found out late.
func Of(flag string, lookup func(string) (string, bool)) (task plan.Task, from string, err error) {
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

// sayTask is what can always be done about a scheduler that says too little.
const sayTask = "set " + tasksVariable + " to the number of tasks, or name this one by --task K/N"

// An environment looks up variables.
type environment func(string) (string, bool)

func (e environment) text(name string) string {
	text, _ := e(name)
	return text
}

var errNoNumber = errors.New("want a whole number")

// number returns a variable's number of least or more; −1 where it is not set.
func (e environment) number(name string, least int64) (int64, error) {
	text := e.text(name)
	if text == "" {
		return -1, nil
	}
	n, err := strconv.ParseUint(text, 10, 31) // products of two fit
	if err != nil || int64(n) < least {
		return 0, fmt.Errorf("%s=%q: %w from %d to %d", name, text, errNoNumber, least, 1<<31-1)
	}
	return int64(n), nil
}

// scheduler returns the one that says which task this is; nil: none does.
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

// taskIn returns the task that a scheduler has made this one; of so many, where that is
// above 0, whatever it says itself.
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
