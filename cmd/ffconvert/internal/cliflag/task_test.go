package cliflag

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// slurm is what Slurm sets in task id of an array.
func slurm(id, count, first, last, step string) string {
	return "SLURM_ARRAY_TASK_ID=" + id + " SLURM_ARRAY_TASK_COUNT=" + count + " SLURM_ARRAY_TASK_MIN=" + first + " SLURM_ARRAY_TASK_MAX=" + last + " SLURM_ARRAY_TASK_STEP=" + step
}

func TestTaskOf(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, flag, env string
		want            string // K/N, or what the error begins with
	}{
		{"nothing", "", "", "0/1"},
		{"empty variables", "", "FFCONVERT_TASK= FFCONVERT_TASKS= JOB_COMPLETION_INDEX= " + slurm("", "", "", "", ""), "0/1"},
		{"the flag goes before all", "3/40", "FFCONVERT_TASK=1/2 FFCONVERT_TASKS=x JOB_COMPLETION_INDEX=7 LSB_JOBINDEX=9", "3/40"},
		{"the flag of a task that is none", "40/40", "", "no such task: 40/40"},
		{"our variable goes before schedulers", "", "FFCONVERT_TASK=3/40 " + slurm("1", "2", "0", "1", "1"), "3/40"},
		{"our variables agree", "", "FFCONVERT_TASK=3/40 FFCONVERT_TASKS=40", "3/40"},
		{"our variables differ", "", "FFCONVERT_TASK=3/40 FFCONVERT_TASKS=20", "FFCONVERT_TASK=3/40 and FFCONVERT_TASKS=20: they differ in how many tasks there are; unset one of them"},
		{"our variable without N", "", "FFCONVERT_TASK=3", `FFCONVERT_TASK: no such task: "3" is not K/N`},
		{"our variable out of range", "", "FFCONVERT_TASK=40/40", "FFCONVERT_TASK: no such task: 40/40"},
		{"how many, and no which", "", "FFCONVERT_TASKS=40", "FFCONVERT_TASKS=40, and nothing says which of them this is; set FFCONVERT_TASK=K/40 or run an array job"},
		{"one task is the whole", "", "FFCONVERT_TASKS=1", "0/1"},
		{"no tasks at all", "", "FFCONVERT_TASKS=0", `FFCONVERT_TASKS="0": want a whole number from 1`},
		{"garbage for how many", "", "FFCONVERT_TASKS=many", `FFCONVERT_TASKS="many": want a whole number`},
		{"garbage beside our variable", "", "FFCONVERT_TASK=3/40 FFCONVERT_TASKS=many", `FFCONVERT_TASKS="many": want a whole number`},

		{"Slurm 0-39, first", "", slurm("0", "40", "0", "39", "1"), "0/40"},
		{"Slurm 0-39, last", "", slurm("39", "40", "0", "39", "1"), "39/40"},
		{"Slurm 1-40, first", "", slurm("1", "40", "1", "40", "1"), "0/40"},
		{"Slurm 1-40, last", "", slurm("40", "40", "1", "40", "1"), "39/40"},
		{"Slurm 101-140", "", slurm("104", "40", "101", "140", "1"), "3/40"},
		{"Slurm 0-8:2", "", slurm("6", "5", "0", "8", "2"), "3/5"},
		{"Slurm 1-7:3", "", slurm("7", "3", "1", "7", "3"), "2/3"},
		{"Slurm 0-7:3, the end as it was written", "", slurm("6", "3", "0", "7", "3"), "2/3"},
		{"Slurm 0", "", slurm("0", "1", "0", "0", "1"), "0/1"},
		{"Slurm 1", "", slurm("1", "1", "1", "1", "1"), "0/1"},
		{"Slurm, one task of an array again", "", slurm("7", "1", "7", "7", "1"), "SLURM_ARRAY_TASK_COUNT=1 of the indexes 7 to 7: some tasks of an array do not say of how many; set FFCONVERT_TASKS to all of them, counted from 0, or"},
		{"Slurm, two tasks of an array again", "", slurm("7", "2", "3", "7", "1"), "SLURM_ARRAY_TASK_COUNT=2 of the indexes 3 to 7: some tasks of an array do not say of how many; set FFCONVERT_TASKS to all"},
		{"Slurm, the same with FFCONVERT_TASKS", "", "FFCONVERT_TASKS=40 " + slurm("7", "2", "3", "7", "1"), "7/40"},
		{"Slurm, FFCONVERT_TASKS counts from 0", "", "FFCONVERT_TASKS=40 " + slurm("1", "40", "1", "40", "1"), "1/40"},
		{"Slurm, beyond FFCONVERT_TASKS", "", "FFCONVERT_TASKS=40 " + slurm("40", "40", "1", "40", "1"), "SLURM_ARRAY_TASK_ID=40: with FFCONVERT_TASKS=40 the tasks are 0 to 39; number the array so, or name this one by --task K/N"},
		{"Slurm 1-7:2,20", "", slurm("20", "5", "1", "20", "2"), "SLURM_ARRAY_TASK_COUNT=5 of the indexes 1 to 20 in steps of 2: some tasks"},
		{"Slurm, between the steps", "", slurm("3", "5", "0", "8", "2"), "SLURM_ARRAY_TASK_ID=3: the tasks are 0 to 8 in steps of 2, as the scheduler says; set FFCONVERT_TASKS"},
		{"Slurm, above all", "", slurm("9", "5", "0", "4", "1"), "SLURM_ARRAY_TASK_ID=9: the tasks are 0 to 4, as"},
		{"Slurm, below all", "", slurm("0", "5", "1", "5", "1"), "SLURM_ARRAY_TASK_ID=0: the tasks are 1 to 5, as"},
		{"Slurm, an end before the start", "", slurm("3", "1", "5", "3", "1"), "SLURM_ARRAY_TASK_COUNT=1 of the indexes 5 to 3: some"},
		{"Slurm, a step of nothing", "", slurm("0", "5", "0", "4", "0"), `SLURM_ARRAY_TASK_STEP="0": want a whole number from 1`},
		{"Slurm, an id alone", "", "SLURM_ARRAY_TASK_ID=3", "SLURM_ARRAY_TASK_ID=3 without SLURM_ARRAY_TASK_COUNT; set FFCONVERT_TASKS to the number of tasks, or name this one by --task K/N"},
		{"Slurm, without the first", "", "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=40", "SLURM_ARRAY_TASK_ID=3 without SLURM_ARRAY_TASK_MIN; set"},
		{"Slurm, without the last", "", slurm("3", "40", "0", "", "1"), "SLURM_ARRAY_TASK_ID=3 without SLURM_ARRAY_TASK_MAX; set"},
		{"Slurm, without the step", "", slurm("3", "40", "0", "39", ""), "SLURM_ARRAY_TASK_ID=3 without SLURM_ARRAY_TASK_STEP; set"},
		{"Slurm, garbage", "", slurm("x", "40", "0", "39", "1"), `SLURM_ARRAY_TASK_ID="x": want a whole number from 0`},
		{"Slurm, a sign", "", slurm("-1", "40", "0", "39", "1"), `SLURM_ARRAY_TASK_ID="-1": want a whole number`},
		{"Slurm, too large", "", slurm("3", "4294967294", "0", "39", "1"), `SLURM_ARRAY_TASK_COUNT="4294967294": want a whole number from 1 to 2147483647`},
		{"Slurm, no array", "", "SLURM_JOB_ID=77 SLURM_PROCID=0", "0/1"},

		{"Kubernetes", "", "JOB_COMPLETION_INDEX=3 FFCONVERT_TASKS=40", "3/40"},
		{"Kubernetes, first", "", "JOB_COMPLETION_INDEX=0 FFCONVERT_TASKS=40", "0/40"},
		{"Kubernetes without how many", "", "JOB_COMPLETION_INDEX=0", "JOB_COMPLETION_INDEX=0 does not say of how many tasks; set FFCONVERT_TASKS"},
		{"Kubernetes, beyond", "", "JOB_COMPLETION_INDEX=40 FFCONVERT_TASKS=40", "JOB_COMPLETION_INDEX=40: with FFCONVERT_TASKS=40 the tasks are 0 to 39; number"},
		{"Kubernetes, garbage", "", "JOB_COMPLETION_INDEX=0x3 FFCONVERT_TASKS=40", `JOB_COMPLETION_INDEX="0x3": want`},
		{"PBS", "", "PBS_ARRAY_INDEX=39 FFCONVERT_TASKS=40", "39/40"},
		{"PBS without how many", "", "PBS_ARRAY_INDEX=3", "PBS_ARRAY_INDEX=3 does not say of how many tasks; set FFCONVERT_TASKS"},
		{"PBS, numbered from 1", "", "PBS_ARRAY_INDEX=40 FFCONVERT_TASKS=40", "PBS_ARRAY_INDEX=40: with FFCONVERT_TASKS=40 the tasks are 0 to 39; number"},

		{"LSF, no array", "", "LSB_JOBINDEX=0 LSB_JOBINDEX_STEP=1", "0/1"},
		{"LSF without how many", "", "LSB_JOBINDEX=4 LSB_JOBINDEX_END=40 LSB_JOBINDEX_STEP=1", "LSB_JOBINDEX=4 does not say of how many tasks; set FFCONVERT_TASKS"},
		{"LSF with FFCONVERT_TASKS", "", "LSB_JOBINDEX=8 LSB_JOBINDEX_END=8 FFCONVERT_TASKS=40", "7/40"},
		{"LSF, last of FFCONVERT_TASKS", "", "LSB_JOBINDEX=40 FFCONVERT_TASKS=40", "39/40"},
		{"LSF, beyond FFCONVERT_TASKS", "", "LSB_JOBINDEX=41 FFCONVERT_TASKS=40", "LSB_JOBINDEX=41: with FFCONVERT_TASKS=40 the tasks are 1 to 40; number"},
		{"LSF, no array, and how many", "", "LSB_JOBINDEX=0 FFCONVERT_TASKS=40", "FFCONVERT_TASKS=40, and nothing says which"},

		{"two schedulers", "", "JOB_COMPLETION_INDEX=0 FFCONVERT_TASKS=40 " + slurm("3", "40", "0", "39", "1"), "SLURM_ARRAY_TASK_ID=3 and JOB_COMPLETION_INDEX=0 both say which task this is; say it by --task K/N or FFCONVERT_TASK=K/N"},
		{"two schedulers, one without an array", "", "LSB_JOBINDEX=0 " + slurm("3", "40", "0", "39", "1"), "3/40"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			env := make(map[string]string)
			for _, v := range strings.Fields(row.env) {
				name, value, _ := strings.Cut(v, "=")
				env[name] = value
			}
			var flag Task
			var err error
			if row.flag != "" {
				err = flag.Set(row.flag)
			}
			if err == nil {
				var task plan.Task
				if task, err = flag.find(func(name string) (string, bool) { v, ok := env[name]; return v, ok }); err == nil {
					if task.String() != row.want {
						t.Errorf("%v, want %s", task, row.want)
					}
					return
				}
			}
			if !strings.HasPrefix(err.Error(), row.want) || regexp.MustCompile(`^\d+/\d+$`).MatchString(row.want) {
				t.Errorf("error %v, want %s", err, row.want)
			}
			if kind := place.KindOf(err); kind != place.None {
				t.Errorf("kind %d: its status is not that of a usage error", kind)
			}
		})
	}
}

// The flag is refused where it stands, and goes before what the environment of the test says.
func TestTaskFlag(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		args string
		want plan.Task
		err  string
	}{
		{"--task 3/40", plan.Task{K: 3, N: 40}, ""},
		{"--task=0/1", plan.Task{N: 1}, ""},
		{"--task=", plan.Task{}, `invalid argument "" for "--task" flag: no such task`},
		{"--task 40/40", plan.Task{}, `invalid argument "40/40" for "--task" flag: no such task: 40/40`},
	} {
		var o Task
		flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
		o.Add(flags)
		err := flags.Parse(strings.Fields(row.args))
		if row.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), row.err) {
				t.Errorf("%s: error %v", row.args, err)
			}
			continue
		}
		task, err2 := o.Find()
		if err != nil || err2 != nil || task != row.want {
			t.Errorf("%s: %v: %v %v", row.args, task, err, err2)
		}
	}
}
