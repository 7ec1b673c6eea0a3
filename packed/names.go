package packed

import (
	"fmt"
	"iter"
	"strings"

	"github.com/ffconvert/ffconvert/internal/pickle"
)

// prefix begins the sample with the names, as in ffrecord.PackedFolder.
const prefix = "piouhjgbr"

// maxPath is the longest path in bytes that Linux accepts. Few programs can read deeper trees. The
// limit also bounds the memory for paths: every file repeats the names of its directories.
const maxPath = 4095

// appendNames appends the content of the last sample to b.
func appendNames(b []byte, root *pickle.Dict) []byte {
	return pickle.AppendDict(append(b, prefix...), root)
}

// parseNames parses the last sample of a packed folder. The names must name each of the samples
// 0 to files-1 exactly once. dirs is the number of directories without the root.
func parseNames(sample string, files int64) (root *pickle.Dict, dirs int64, err error) {
	data, ok := strings.CutPrefix(sample, prefix)
	if !ok {
		return nil, 0, fmt.Errorf("%w: its last sample does not begin with %s", ErrNotPacked, prefix)
	}
	c := checker{files: files, seen: make([]uint64, (files+63)/64)}
	if root, err = pickle.DecodeDict(data); err == nil {
		err = c.check(root, 0)
	}
	if err == nil && c.named < files {
		err = fmt.Errorf("sample %d has no name", c.unnamed())
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", errMalformed, err)
	}
	return root, c.dirs, nil
}

// A checker checks that no two files of a tree have the same sample.
type checker struct {
	files int64    // samples to be named
	named int64    // samples named so far
	dirs  int64    // directories so far
	seen  []uint64 // bit set of the samples named so far
}

// check checks a directory. length is the length of its path in bytes, with a trailing slash.
func (c *checker) check(d *pickle.Dict, length int) error {
	for _, it := range d.Items {
		if it.Key == "" || it.Key == "." || it.Key == ".." || strings.ContainsAny(it.Key, "/\x00") {
			return fmt.Errorf("%q is not the name of a file", it.Key)
		}
		length := length + len(it.Key)
		if length > maxPath {
			return fmt.Errorf("the path of %q has more than %d bytes", it.Key, maxPath)
		}
		if it.Dict != nil {
			c.dirs++
			if err := c.check(it.Dict, length+1); err != nil {
				return err
			}
			continue
		}
		if it.Int < 0 || it.Int >= c.files {
			return fmt.Errorf("%q is sample %d of %d files", it.Key, it.Int, c.files)
		}
		word, bit := it.Int/64, uint64(1)<<(it.Int%64)
		if c.seen[word]&bit != 0 {
			return fmt.Errorf("%q is sample %d, and so is another file", it.Key, it.Int)
		}
		c.seen[word] |= bit
		c.named++
	}
	return nil
}

// unnamed returns the first sample without a name. There must be one.
func (c *checker) unnamed() int64 {
	for i := range c.files {
		if c.seen[i/64]&(1<<(i%64)) == 0 {
			return i
		}
	}
	panic("packed: every sample has a name")
}

// walk yields the items below a directory with their paths, depth first, in stored order. dir is
// the path of the directory.
func walk(d *pickle.Dict, dir string) iter.Seq2[string, pickle.Item] {
	return func(yield func(string, pickle.Item) bool) { visit(d, dir, yield) }
}

func visit(d *pickle.Dict, dir string, yield func(string, pickle.Item) bool) bool {
	for _, it := range d.Items {
		name := join(dir, it.Key)
		if !yield(name, it) || it.Dict != nil && !visit(it.Dict, name, yield) {
			return false
		}
	}
	return true
}

// join returns the path of a name in the directory dir; "." is the root.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}
