//go:build bench && linux

package bench

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// machine describes what the figures were measured on, a line each.
func machine() []string {
	kernel, _, _ := strings.Cut(contents("/proc/sys/kernel/osrelease"), "-") // the rest names its builder
	fs, _ := exec.Command("df", "--output=fstype", work).Output()
	fio, _ := exec.Command("fio", "--version").Output()
	cp, _, _ := strings.Cut(string(first(exec.Command("cp", "--version").Output())), "\n")
	return []string{
		fmt.Sprintf("%d CPUs (%s), %s; %s of memory", runtime.NumCPU(), runtime.GOARCH, orDash(entry("/proc/cpuinfo", "model name")), size(field([]byte(contents("/proc/meminfo")), "MemTotal:"))),
		fmt.Sprintf("Linux %s, %s; device: %s", kernel, strings.TrimSpace(strings.TrimPrefix(string(fs), "Type")), orDash(queue())),
		fmt.Sprintf("%s, %s, %s", runtime.Version(), cp, bytes.TrimSpace(fio)),
	}
}

func first(b []byte, _ error) []byte { return b }

// queue is how the device that holds the data is set up.
func queue() string {
	var st unix.Stat_t
	if unix.Stat(work, &st) != nil {
		return ""
	}
	dir, err := filepath.EvalSymlinks(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)))
	if err != nil {
		return "" // no block device
	}
	if _, err := os.Stat(filepath.Join(dir, "partition")); err == nil {
		dir = filepath.Dir(dir)
	}
	var settings []string
	for _, name := range []string{"scheduler", "nr_requests", "max_sectors_kb", "max_segments", "read_ahead_kb", "rotational", "write_cache"} {
		if value := chosen(contents(filepath.Join(dir, "queue", name))); value != "" {
			settings = append(settings, name+" "+value)
		}
	}
	return strings.Join(settings, ", ")
}

// chosen is the word in brackets of a list of choices, or all of another text.
func chosen(text string) string {
	if _, after, ok := strings.Cut(text, "["); ok {
		text, _, _ = strings.Cut(after, "]")
	}
	return text
}

// contents is the text of a small file, "" if it cannot be read.
func contents(name string) string {
	text, _ := os.ReadFile(name)
	return strings.TrimSpace(string(text))
}

// entry is the value of the first line "name : value" of a file.
func entry(file, name string) string {
	for line := range strings.Lines(contents(file)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// load is the load average of the last minute, five and fifteen.
func load() string {
	return strings.Join(strings.Fields(contents("/proc/loadavg"))[:3], " ")
}

// commit names the state of the tree, and says when it was committed.
func commit() (name string, at time.Time, err error) {
	head, err := git("show", "--no-patch", "--abbrev=12", "--format=%h %cI", "HEAD")
	if err != nil {
		return "", at, err
	}
	hash, when, _ := strings.Cut(strings.TrimSpace(head), " ")
	if at, err = time.Parse(time.RFC3339, when); err != nil {
		return "", at, err
	}
	status, err := git("status", "--porcelain", "--", ":(top,exclude)docs/performance.md")
	if err != nil {
		return "", at, err
	}
	if n := strings.Count(status, "\n"); n > 0 {
		return fmt.Sprintf("`%s` **with %d changed files that are not committed**", hash, n), at, nil
	}
	return fmt.Sprintf("`%s`", hash), at, nil
}

func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(exit.Stderr))
	}
	return string(out), err
}

// shortOf says what is missing where n bytes are to be written, "" if there is room.
func shortOf(n int64) (string, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(work, &st); err != nil {
		return "", fmt.Errorf("statfs %s: %w", work, err)
	}
	if free := int64(st.Bavail) * st.Bsize; free < n {
		return fmt.Sprintf("%s needed, %s free", size(n), size(free)), nil
	}
	return "", nil
}

func size(n int64) string {
	if n < 1<<30 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%.3g GiB", gib(n))
}

func gib(n int64) float64 { return float64(n) / (1 << 30) }
