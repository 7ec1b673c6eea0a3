package golden

import (
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// step does one step of preparation:
//
//	flip FILE OFFSET        flip a bit; an offset below 0 is counted from the end
//	cut FILE N              keep N bytes; below 0: drop so many
//	write FILE TEXT...      write a file of lines, a word each; \t is a tabulator
//	hex FILE DIGITS...      write a file of bytes
//	sub FILE OLD NEW        replace the first OLD in a file
//	rm PATH                 remove a file or a tree
//	mv OLD NEW              rename
//	cp OLD NEW              copy a file or a tree
//	mkdir DIR
//	link TARGET NAME        make a symbolic link
//	script NAME LINE...     write a program into bin, which is on PATH
//	touch FILE              give a file another time
//	env NAME=VALUE          set a variable for what follows
//	stdin FILE              let standard input be a file for what follows
//	run ARGS...             run ffconvert, which must succeed; nothing of it is compared
func (c *refusalCase) step(args []string) {
	c.t.Helper()
	if len(args) < 2 {
		c.t.Fatalf("a step wants more words: %q", args)
	}
	path := func(i int) string { return filepath.Join(c.dir, args[i]) }
	switch args[0] {
	case "flip":
		c.edit(path(1), func(data []byte) []byte { data[c.offset(args[2], data)] ^= 1; return data })
	case "cut":
		c.edit(path(1), func(data []byte) []byte { return data[:c.offset(args[2], data)] })
	case "sub":
		c.edit(path(1), func(data []byte) []byte {
			if !strings.Contains(string(data), args[2]) {
				c.t.Fatalf("%s has no %q", args[1], args[2])
			}
			return []byte(strings.Replace(string(data), args[2], args[3], 1))
		})
	case "write":
		text := ""
		for _, line := range args[2:] {
			text += strings.ReplaceAll(line, `\t`, "\t") + "\n"
		}
		c.write(path(1), []byte(text), 0o644)
	case "hex":
		data, err := hex.DecodeString(strings.Join(args[2:], ""))
		c.check(err)
		c.write(path(1), data, 0o644)
	case "script":
		c.write(filepath.Join(c.dir, "bin", args[1]), []byte("#!/bin/sh\n"+strings.Join(args[2:], "\n")+"\n"), 0o755)
	case "rm":
		c.check(os.RemoveAll(path(1)))
	case "mv":
		c.check(os.Rename(path(1), path(2)))
	case "cp":
		if st, err := os.Stat(path(1)); err == nil && st.IsDir() {
			c.check(os.CopyFS(path(2), os.DirFS(path(1))))
			return
		}
		data, err := os.ReadFile(path(1))
		c.check(err)
		c.write(path(2), data, 0o644)
	case "mkdir":
		c.check(os.MkdirAll(path(1), 0o755))
	case "link":
		c.check(os.Symlink(args[1], path(2)))
	case "touch":
		later := fixtureTime.Add(time.Hour)
		c.check(os.Chtimes(path(1), later, later))
	case "env":
		c.env = append(c.env, args[1])
	case "stdin":
		data, err := os.ReadFile(path(1))
		c.check(err)
		c.stdin = string(data)
	case "run":
		succeed(c.t, c.dir, args[1:]...)
	default:
		c.t.Fatalf("no step is called %q", args[0])
	}
}

// write writes a file, with its directory, of the time that all files have.
func (c *refusalCase) write(path string, data []byte, mode fs.FileMode) {
	c.t.Helper()
	c.check(os.MkdirAll(filepath.Dir(path), 0o755))
	c.check(os.WriteFile(path, data, mode))
	c.check(os.Chtimes(path, fixtureTime, fixtureTime))
}

func (c *refusalCase) edit(path string, change func([]byte) []byte) {
	c.t.Helper()
	data, err := os.ReadFile(path)
	c.check(err)
	c.check(os.WriteFile(path, change(data), 0o644))
	c.check(os.Chtimes(path, fixtureTime, fixtureTime))
}

func (c *refusalCase) offset(text string, data []byte) int {
	c.t.Helper()
	n, err := strconv.Atoi(text)
	c.check(err)
	if n < 0 {
		n += len(data)
	}
	return n
}
