package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/convert"
)

// A plan has the flags and the help of its conversion, but for what is of writing alone, and
// for standard input, which no task could read again.
func TestPlanCommands(t *testing.T) {
	t.Parallel()
	root := newRootCommand()
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	for _, name := range append(names, convert.SpecFormat) {
		conversion, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		plan, _, err := root.Find([]string{"plan", name})
		if err != nil || plan.CommandPath() != "ffconvert plan "+name {
			t.Fatal(plan.CommandPath(), err)
		}
		var want, got []string
		for _, line := range strings.Split(conversion.Flags().FlagUsages(), "\n") {
			if !slices.ContainsFunc(append(notOfPlans, "jobs", "aio"), func(not string) bool { return strings.Contains(line, "--"+not+" ") }) {
				want = append(want, strings.Join(strings.Fields(line), " "))
			}
		}
		for _, line := range strings.Split(plan.Flags().FlagUsages(), "\n") {
			if !strings.Contains(line, "--task ") && !strings.Contains(line, "--jobs ") {
				got = append(got, strings.Join(strings.Fields(line), " "))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: flags\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		for _, not := range notOfPlans {
			if plan.Flags().Lookup(not) != nil || conversion.Flags().Lookup(not) == nil {
				t.Errorf("%s: --%s", name, not)
			}
		}
		if plan.Flags().Lookup("task") == nil || conversion.Flags().Lookup("task") != nil {
			t.Errorf("%s: --task", name)
		}
		if !strings.Contains(plan.Long, planHelp) || strings.Contains(plan.Long, outputHelp) || strings.Contains(plan.Long, "standard input") {
			t.Errorf("%s: help\n%s", name, plan.Long)
		}
		for _, line := range strings.Split(plan.Example, "\n") {
			if !strings.HasPrefix(line, "  ffconvert plan "+name+" ") {
				t.Errorf("%s: example %q", name, line)
			}
		}
	}
}
