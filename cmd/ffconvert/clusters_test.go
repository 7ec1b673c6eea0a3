package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The commands of docs/clusters.md exist, with those flags.
func TestCommandsOfDocsClusters(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "clusters.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile("(?m)(?:^    |`|/)(ffconvert [a-z][^`\n#…]*)").FindAllStringSubmatch(string(page), -1)
	if len(commands) < 8 {
		t.Fatalf("%d commands", len(commands))
	}
	for _, c := range commands {
		root := newRootCommand()
		root.SetOut(io.Discard)
		args := strings.Fields(strings.ReplaceAll(c[1], "K/N", "3/40"))[1:]
		root.SetArgs(append(args, "--help"))
		if err := root.Execute(); err != nil {
			t.Errorf("%s: %v", c[1], err)
		}
		if named, _, err := root.Find(args); err != nil || named == root {
			t.Errorf("%s: no such command, %v", c[1], err)
		}
	}
}
