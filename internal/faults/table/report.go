package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// The lines before and after the table in a page.
const (
	tableBegins = "<!-- fault table: written by make faults REPORT=docs/reliability.md -->\n"
	tableEnds   = "<!-- end of the fault table -->\n"
)

// writeReport replaces the table in a page.
func (s *suite) writeReport(page string, took time.Duration) error {
	if err := clean(page); err != nil { // it may have changed meanwhile
		return err
	}
	commit, err := git("rev-parse", "--short=12", "HEAD")
	if err != nil {
		return err
	}
	text, err := replaceTable(page, s.markdown(strings.TrimSpace(commit), machine(), took))
	if err != nil {
		return err
	}
	return os.WriteFile(page, text, 0o644)
}

// markdown returns the table. It has no date; the commit has one.
func (s *suite) markdown(commit, machine string, took time.Duration) string {
	var b strings.Builder
	all := line{}
	for _, f := range s.rows {
		sum := f.sum()
		all.cases += sum.cases
		all.undetected += sum.undetected
		all.lost += sum.lost
	}
	fmt.Fprintf(&b, "Commit `%s`, on %s: %s cases, %d undetected, %d lost, in %v.\n\n", commit, machine, grouped(all.cases), all.undetected, all.lost, took.Round(time.Second))
	b.WriteString("| row | fault | cases | undetected | lost | target | |\n| --- | --- | ---: | ---: | ---: | --- | --- |\n")
	for _, f := range s.rows {
		sum := f.sum()
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %s | %s |\n", f.id, f.fault, f.counts(), sum.undetected, sum.lost, f.target, f.verdict())
	}
	return b.String()
}

// counts returns the number of cases, and of the cases of each part if there are several.
func (f *finding) counts() string {
	total := grouped(f.sum().cases)
	if len(f.lines) < 2 {
		return total
	}
	var parts []string
	for _, l := range f.lines {
		parts = append(parts, strings.TrimSpace(l.part+" "+grouped(l.cases)))
	}
	return total + " (" + strings.Join(parts, ", ") + ")"
}

// replaceTable returns the text of a page with its table replaced.
func replaceTable(page, table string) ([]byte, error) {
	text, err := os.ReadFile(page)
	if err != nil {
		return nil, err
	}
	before, rest, found := bytes.Cut(text, []byte(tableBegins))
	_, after, ended := bytes.Cut(rest, []byte(tableEnds))
	if !found || !ended {
		return nil, fmt.Errorf("%s: the table's place is not marked", page)
	}
	return fmt.Appendf(nil, "%s%s\n%s\n%s%s", before, tableBegins, table, tableEnds, after), nil
}

// clean returns an error if files other than the page have uncommitted changes, because a table must
// belong to a commit.
func clean(page string) error {
	changes, err := git("status", "--porcelain")
	if err != nil {
		return err
	}
	prefix, err := git("rev-parse", "--show-prefix") // git status prints paths from the root of the tree
	if err != nil {
		return err
	}
	own := filepath.ToSlash(filepath.Join(strings.TrimSpace(prefix), page))
	for change := range strings.Lines(changes) {
		if name := strings.TrimSpace(change[min(3, len(change)):]); name != own {
			return fmt.Errorf("%s has changed: the table of a commit is wanted", name)
		}
	}
	return nil
}

func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(exit.Stderr))
	}
	return string(out), err
}

// machine describes the machine by CPUs, system and file system, without its name.
func machine() string {
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	version, _, _ := strings.Cut(strings.TrimSpace(string(kernel)), "-") // the rest names the builder of the kernel
	mounts, _ := os.ReadFile("/proc/self/mounts")
	return fmt.Sprintf("%d CPUs (%s), %s %s, %s", runtime.NumCPU(), runtime.GOARCH, runtime.GOOS, version, fileSystem(string(mounts), os.TempDir()))
}

// fileSystem returns the type of the file system of a path.
func fileSystem(mounts, path string) string {
	kind, longest := "unknown", -1
	for mount := range strings.Lines(mounts) {
		field := strings.Fields(mount)
		if len(field) < 3 || len(field[1]) < longest {
			continue
		}
		if rel, err := filepath.Rel(field[1], path); err == nil && filepath.IsLocal(rel) {
			kind, longest = field[2], len(field[1])
		}
	}
	return kind
}
