package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A source is a clone of the released commit, with the tag: nothing that is not committed gets into a
// release, and the go command finds the version where it looks for it, in the tag.
type source struct {
	temporary string // holds dir
	dir       string
	commit    string
	time      time.Time // of the commit; all dates in the files are this
}

// checkOut clones the commit that is checked out at root.
func checkOut(root, version string) (*source, error) {
	commit, err := output(root, "git", "rev-parse", "--verify", "HEAD^{commit}")
	if err != nil {
		return nil, err
	}
	if tagged, err := output(root, "git", "rev-parse", "--verify", "--quiet", version+"^{commit}"); err == nil && tagged != commit {
		return nil, fmt.Errorf("the tag %s is of commit %.12s; %.12s is checked out", version, tagged, commit)
	}
	if changes, err := output(root, "git", "status", "--porcelain"); err != nil || changes != "" {
		fmt.Fprintf(os.Stderr, "release: uncommitted changes are left out\n%s\n", changes)
	}
	temporary, err := os.MkdirTemp("", "ffconvert-release-*")
	if err != nil {
		return nil, err
	}
	s := &source{temporary: temporary, dir: filepath.Join(temporary, "source"), commit: commit}
	if err := s.clone(root, version); err != nil {
		os.RemoveAll(temporary)
		return nil, err
	}
	return s, nil
}

func (s *source) clone(root, version string) error {
	if _, err := output(root, "git", "clone", "--quiet", "--shared", "--no-checkout", ".", s.dir); err != nil {
		return err
	}
	for _, args := range [][]string{{"checkout", "--quiet", "--detach", s.commit}, {"tag", "--force", version, s.commit}} {
		if _, err := output(s.dir, "git", args...); err != nil {
			return err
		}
	}
	seconds, err := output(s.dir, "git", "show", "--no-patch", "--format=%ct", s.commit)
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	s.time = time.Unix(n, 0).UTC()
	return err
}

var measuredRE = regexp.MustCompile("(?m)^They are of ffconvert .*commit `([0-9a-f]{12})`")

// measured returns an error unless docs/performance.md measured the code of the release.
func (s *source) measured() error {
	page, err := os.ReadFile(filepath.Join(s.dir, "docs", "performance.md"))
	if err != nil {
		return err
	}
	commit := measuredRE.FindSubmatch(page)
	if commit == nil {
		return fmt.Errorf("docs/performance.md does not say of which commit it is: no match of %s", measuredRE)
	}
	changed, err := output(s.dir, "git", "diff", "--name-only", string(commit[1]), s.commit, "--", "go.mod", "go.sum", "*.go", ":(exclude)*_test.go", ":(exclude)release")
	if err != nil {
		return fmt.Errorf("docs/performance.md measured the commit %s: %w", commit[1], err)
	}
	if changed != "" {
		return fmt.Errorf("docs/performance.md measured the commit %s; code has changed since: run make bench, and commit the page. Changed: %s",
			commit[1], strings.ReplaceAll(changed, "\n", ", "))
	}
	return nil
}

func (s *source) remove() error { return os.RemoveAll(s.temporary) }

// output runs a program in dir and returns its output, without line breaks at the end.
func output(dir, name string, args ...string) (string, error) {
	return outputWith(nil, dir, name, args...)
}

// outputWith is output with more environment.
func outputWith(env []string, dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	var said strings.Builder
	cmd.Dir, cmd.Stderr, cmd.Env = dir, &said, append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", cmd, err, &said)
	}
	return strings.TrimRight(string(out), "\n"), nil
}
