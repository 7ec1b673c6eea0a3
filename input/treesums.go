package input

import (
	"fmt"
	"strings"
	"time"

	"github.com/ffconvert/ffconvert/internal/blocksum"
)

// treeSums are the checksums of the files of a tree as they were written: 8 bytes a file.
type treeSums struct {
	tree  *ObjectTree
	files []uint64 // of each file of the tree, see [blocksum.Sum64]
	dir   string   // of the cache
}

// coarse is how much the time of a file may differ from what was set: file systems round it.
const coarse = 2 * time.Second

func (s *treeSums) CheckFile(path string, b []byte) error {
	if i := s.tree.from(path); i == len(s.files) || s.tree.files[i].name() != path || blocksum.Sum64(b) != s.files[i] {
		return copyError(s.dir, ErrCopy)
	}
	return nil
}

func (s *treeSums) CheckListed(path string, size int64, modified time.Time) error {
	i := s.tree.from(path)
	if i == len(s.files) || s.tree.files[i].name() != path || s.tree.files[i].size != size || modified.Sub(s.tree.files[i].time()).Abs() > coarse {
		return copyError(s.dir, ErrCopy)
	}
	return nil
}

func (s *treeSums) CheckDir(path string, entries int) error {
	if n := s.tree.entries(path); n != entries {
		return copyError(s.dir, fmt.Errorf("%w: a directory of %d entries has %d", ErrCopy, n, entries))
	}
	return nil
}

// entries returns how many files and directories lie directly in a directory; "" is the root.
func (t *ObjectTree) entries(path string) (n int) {
	if path != "" {
		path += "/"
	}
	for i := t.from(path); i < len(t.files) && strings.HasPrefix(t.files[i].name(), path); n++ {
		below := t.files[i].name()[len(path):]
		if name, _, dir := strings.Cut(below, "/"); dir {
			i = t.from(path + name + "0") // the byte behind a slash
		} else {
			i++
		}
	}
	return n
}
