package arrayjob

import "fmt"

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
