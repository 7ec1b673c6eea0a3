package faults

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A disk is a model of the files below a directory, as programs see them and as they
// survive a loss of power. POSIX promises little: the bytes of a file at its last fsync,
// and the names in a directory at the last fsync of that directory. What came later may
// have reached the device or not, each piece for itself. A rename is one piece.
type disk struct {
	root  string
	names map[string]*inode // what programs see; root is ""
	safe  map[string]*inode // what is promised
	later []*nameChange     // what is not, in order
}

// An inode is a file or a directory.
type inode struct {
	dir   bool
	data  []byte
	safe  []byte
	later []dataChange
}

// A dataChange is a write, or a change of size.
type dataChange struct {
	off  int64
	data []byte
	size int64 // -1: a write
}

// A nameChange enters and removes names at once.
type nameChange []nameEffect

type nameEffect struct {
	name string
	node *inode // nil: removed
}

func newDisk(root string) *disk {
	top := &inode{dir: true}
	return &disk{root: root, names: map[string]*inode{"": top}, safe: map[string]*inode{"": top}}
}

// adopt takes what is there for what has long been synced.
func (d *disk) adopt() error {
	return filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
		name, _ := d.local(path)
		if err != nil || name == "" {
			return err
		}
		node := &inode{dir: e.IsDir()}
		if !node.dir {
			node.data, err = os.ReadFile(path)
			node.safe = node.data
		}
		d.names[name], d.safe[name] = node, node
		return err
	})
}

// local returns the name of a path on the disk.
func (d *disk) local(path string) (string, bool) {
	if path == d.root {
		return "", true
	}
	return strings.CutPrefix(path, d.root+"/")
}

// dirOf returns the directory of a name.
func dirOf(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return ""
}

// change changes names, for programs at once.
func (d *disk) change(effects ...nameEffect) {
	for _, e := range effects {
		if e.node == nil {
			delete(d.names, e.name)
		} else {
			d.names[e.name] = e.node
		}
	}
	c := nameChange(effects)
	d.later = append(d.later, &c)
}

func (n *inode) change(c dataChange) {
	n.data = c.apply(n.data)
	n.later = append(n.later, c)
}

// apply returns the data changed; the old is left alone.
func (c dataChange) apply(data []byte) []byte { return c.applyTo(bytes.Clone(data)) }

// applyTo changes the data, and returns it.
func (c dataChange) applyTo(data []byte) []byte {
	size := c.size
	if size < 0 {
		size = max(c.off+int64(len(c.data)), int64(len(data)))
	}
	if more := int(size) - len(data); more > 0 {
		data = append(data, make([]byte, more)...)
	}
	data = data[:size]
	if c.size < 0 {
		copy(data[c.off:], c.data)
	}
	return data
}

// sync is an fsync of a file or a directory.
func (d *disk) sync(name string) {
	node := d.names[name]
	if node == nil {
		return
	}
	if !node.dir {
		node.safe, node.later = node.data, nil
		return
	}
	var later []*nameChange
	for _, c := range d.later {
		var rest nameChange
		for _, e := range *c {
			switch {
			case dirOf(e.name) != name:
				rest = append(rest, e)
			case e.node == nil:
				delete(d.safe, e.name)
			default:
				d.safe[e.name] = e.node
			}
		}
		if len(rest) > 0 {
			later = append(later, &rest)
		}
	}
	d.later = later
}

// do follows a system call. Those that are going to fail change nothing.
func (d *disk) do(c *call) error {
	name, ok := d.local(c.path())
	if !ok {
		return nil // another file, or one that has no name any more
	}
	node := d.names[name]
	if kind := c.kind(); node == nil && kind.at == [2]int{} {
		return nil // an open file that was removed, as the lock is at the end
	}
	switch kind := c.kind().name; kind {
	case "openat":
		flags := int(c.args[2])
		if flags&unix.O_CREAT != 0 && node == nil && d.names[dirOf(name)] != nil {
			d.change(nameEffect{name, &inode{}})
		} else if flags&unix.O_TRUNC != 0 && node != nil {
			node.change(dataChange{})
		}
	case "mkdirat":
		if node == nil && d.names[dirOf(name)] != nil {
			d.change(nameEffect{name, &inode{dir: true}})
		}
	case "unlinkat":
		rmdir := int(c.args[2])&unix.AT_REMOVEDIR != 0
		if node != nil && node.dir == rmdir && !(rmdir && d.holds(name)) {
			d.change(nameEffect{name, nil})
		}
	case "renameat", "renameat2":
		to, ok := d.local(c.target())
		if !ok || node == nil || node.dir {
			return fmt.Errorf("rename of %s to %s", name, c.target())
		}
		if kind == "renameat2" && c.args[4] == unix.RENAME_NOREPLACE && d.names[to] != nil {
			return nil
		}
		d.change(nameEffect{name, nil}, nameEffect{to, node})
	case "write", "pwrite64":
		data, err := c.memory(c.args[1], c.args[2], false)
		off := int64(c.args[3])
		if kind == "write" && err == nil {
			off, err = c.position()
		}
		if err != nil {
			return err
		}
		node.change(dataChange{off: off, data: data, size: -1})
	case "fallocate":
		node.change(dataChange{size: max(int64(len(node.data)), int64(c.args[2]+c.args[3]))})
	case "ftruncate":
		node.change(dataChange{size: int64(c.args[1])})
	case "fsync", "fdatasync":
		d.sync(name)
	case "syncfs":
		for _, name := range slices.Collect(maps.Keys(d.names)) {
			d.sync(name)
		}
	default:
		return fmt.Errorf("%s is not in the model", kind)
	}
	return nil
}

func (d *disk) holds(dir string) bool {
	for name := range d.names {
		if dirOf(name) == dir && name != "" {
			return true
		}
	}
	return false
}

// keep is how much of what was not promised has reached the device all the same.
type keep int

const (
	nothing keep = iota
	some
	everything
)

// after returns what is there when the power comes back. Of some, every other piece is
// kept, beginning with the one that salt says, and the last one at times to half of its
// bytes; or, of a file, all but one page.
func (d *disk) after(names, data keep, salt int) tree {
	kept := maps.Clone(d.safe)
	for i, c := range d.later {
		if names == nothing || names == some && (i+salt)%2 == 0 {
			continue
		}
		for _, e := range *c {
			if e.node == nil {
				delete(kept, e.name)
			} else {
				kept[e.name] = e.node
			}
		}
	}
	out := make(tree)
	for _, name := range slices.Sorted(maps.Keys(kept)) { // a directory before what is in it
		node := kept[name]
		if _, ok := out[dirOf(name)+"/"]; name == "" || dirOf(name) != "" && !ok {
			continue
		}
		if node.dir {
			out[name+"/"] = nil
			continue
		}
		out[name] = node.after(data, salt)
	}
	return out
}

func (n *inode) after(data keep, salt int) []byte {
	switch data {
	case nothing:
		return n.safe
	case everything:
		return n.data
	}
	out := append(make([]byte, 0, len(n.data)), n.safe...)
	for i, c := range n.later {
		switch {
		case salt%3 == 2: // all but one page
			if i != salt/3%len(n.later) {
				break
			}
			before := bytes.Clone(out)
			out = c.applyTo(out)
			c.losePage(out, before, salt)
			continue
		case (i+salt/2)%2 == 0:
			continue
		case c.size < 0 && i+2 >= len(n.later) && salt/4%2 == 0:
			c.data = c.data[:len(c.data)/2]
		}
		out = c.applyTo(out)
	}
	return out
}

// losePage takes back one page of a write, though not the size that it gave the file:
// that is how a file comes to have zeros where its size says that there is data.
func (c dataChange) losePage(whole, before []byte, salt int) {
	const size = 4096
	if len(c.data) == 0 {
		return
	}
	start := (int(c.off) + salt*7919*size%len(c.data)) &^ (size - 1)
	page := whole[start:min(start+size, len(whole))]
	clear(page)
	if start < len(before) {
		copy(page, before[start:])
	}
}

// write makes a tree real.
func (t tree) write(dir string) error {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		path := filepath.Join(dir, name)
		var err error
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(path, 0o755)
		} else {
			err = os.WriteFile(path, t[name], 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
