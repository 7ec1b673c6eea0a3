package arrayjob

import "fmt"

// A scheduler is how one kind of batch system tells a process which task of an array it is.
type scheduler struct {
	index string // the variable of this task's index
	first int64  // index of the first task, where FFCONVERT_TASKS says how many there are
	alone string // the index of what is no task of an array; "": there is none

	// array says which indexes there are; nil: the system does not tell.
	array func(e environment, index int64) (array, error)
}

// schedulers are those that are known. What they set stands in: man sbatch, Output
// Environment Variables; Kubernetes, Jobs, Completion mode; man qsub of PBS, -J; LSF,
// Environment variables set for job execution.
var schedulers = []scheduler{
	{index: "SLURM_ARRAY_TASK_ID", array: slurmArray},
	{index: "JOB_COMPLETION_INDEX"},
	{index: "PBS_ARRAY_INDEX"},
	{index: "LSB_JOBINDEX", first: 1, alone: "0"},
}

// An array is the indexes first, first + step, … up to last.
type array struct{ first, last, step int64 }

func (a array) String() string {
	text := fmt.Sprintf("%d to %d", a.first, a.last)
	if a.step > 1 {
		text += fmt.Sprintf(" in steps of %d", a.step)
	}
	return text
}

// slurmArray takes an array for the whole of the work only where it looks like it. Indexes
// that are listed, and one alone that is not the first of anything, are tasks of an array
// that are run again, and their slices are those of that array.
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
