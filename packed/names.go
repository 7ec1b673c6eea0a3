package packed

import (
	"fmt"
	"iter"
	"strings"

	"github.com/ffconvert/ffconvert/internal/pickle"
)

// prefix marks the sample that holds the names.
const prefix = "piouhjgbr"

// maxPath is the longest path in bytes that Linux takes. Deeper trees can be made, but
// hardly anything can read them; and a few long names in each other would be repeated
// in the path of every file below.
const maxPath = 4095

// appendNames appends the last sample.
func appendNames(b []byte, root *pickle.Dict) []byte {
	return pickle.AppendDict(append(b, prefix...), root)
}

// parseNames is the reverse. The names must be those of so many files; dirs counts the
// directories, the root left out.
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
		return nil, 0, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return root, c.dirs, nil
}

// A checker proves that a tree is one of files, each with a sample of its own.
type checker struct {
	files int64
	named int64
	dirs  int64
	seen  []uint64 // a bit a sample
}

// check judges a directory whose path has so many bytes.
func (c *checker) check(d *pickle.Dict, length int) error {
	for _, it := range d.Items {
		if err := checkName(it.Key); err != nil {
			return err
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

// unnamed is the first sample that no name has led to.
func (c *checker) unnamed() int64 {
	for i := range c.files {
		if c.seen[i/64]&(1<<(i%64)) == 0 {
			return i
		}
	}
	panic("packed: every sample has a name")
}

// checkName refuses what is no name of a file, or is more than one.
func checkName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return fmt.Errorf("%q is not the name of a file", name)
	}
	return nil
}

// walk yields what is below a directory with its path, depth first, in stored order.
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

// join is the path of a name in a directory; "." is the root.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}
