package faults

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// A lie is what a server answers to one request of a kind.
type lie struct {
	name  string
	kinds []string      // of requests that it may be told to
	errno syscall.Errno // the answer
	done  bool          // the request was carried out all the same
	alter func(data []byte, off int64) ([]byte, int64)
	count func(n int) int // of the bytes that it says were taken or given
}

func same(n int) int  { return n }
func fewer(n int) int { return (n + 1) / 2 }

var content = []string{"read", "write"}

// lies are those of row H4. Without an errno the answer is that all is well.
var lies = []lie{
	{name: "flip", kinds: content, done: true, count: same, alter: func(data []byte, off int64) ([]byte, int64) {
		if len(data) > 0 {
			data[int(off/512)%len(data)] ^= 1 << (off / 4096 % 8)
		}
		return data, off
	}},
	{name: "zero", kinds: content, done: true, count: same, alter: func(data []byte, off int64) ([]byte, int64) {
		clear(data[len(data)/2:])
		return data, off
	}},
	{name: "swap", kinds: content, done: true, count: same, alter: func(data []byte, off int64) ([]byte, int64) {
		half := len(data) / 2
		return append(slices.Clone(data[half:]), data[:half]...), off
	}},
	{name: "elsewhere", kinds: []string{"write"}, done: true, count: same, alter: func(data []byte, off int64) ([]byte, int64) { return data, off + 512 }},
	{name: "cut", kinds: []string{"write"}, done: true, count: same, alter: func(data []byte, off int64) ([]byte, int64) { return data[:len(data)/2], off }},
	{name: "short", kinds: content, done: true, count: fewer, alter: func(data []byte, off int64) ([]byte, int64) { return data[:fewer(len(data))], off }},
	{name: "drop", kinds: []string{"write", "fsync", "rename", "allocate", "truncate"}},
	{name: "done-but-EIO", kinds: []string{"write", "fsync", "rename", "create", "mkdir", "unlink", "allocate", "truncate"}, done: true, errno: syscall.EIO},
	{name: "EIO", kinds: requests, errno: syscall.EIO},
	{name: "EAGAIN", kinds: requests, errno: syscall.EAGAIN},
	{name: "ESTALE", kinds: requests, errno: syscall.ESTALE},
}

// requests are the kinds that are lied about.
var requests = []string{"read", "write", "fsync", "rename", "create", "open", "mkdir", "unlink", "allocate", "truncate", "flush", "getattr"}

// A liar is a file system in user space that tells one lie, or none.
type liar struct {
	behind string // where its files are
	dir    string // where it is mounted

	mu     sync.Mutex
	lie    *lie
	kind   string
	at     int  // the request of that kind, from 0
	always bool // and all that follow
	seen   map[string]int
	hit    string // the file that the lie was about; "": it was not told yet
}

// newLiar mounts one until the test ends.
func newLiar(t *testing.T, dir string) *liar {
	t.Helper()
	l := &liar{behind: filepath.Join(dir, "behind"), dir: filepath.Join(dir, "mounted")}
	if err := errors.Join(os.Mkdir(l.behind, 0o755), os.Mkdir(l.dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	root := &fs.LoopbackRoot{Path: l.behind}
	top := &liarNode{LoopbackNode: &fs.LoopbackNode{RootData: root}, liar: l}
	root.RootNode = top
	server, err := fs.Mount(l.dir, top, &fs.Options{MountOptions: fuse.MountOptions{DirectMount: true, FsName: "liar", Name: "liar"}})
	if err != nil {
		t.Skip("no FUSE here: ", err)
	}
	t.Cleanup(func() {
		if err := server.Unmount(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// tell sets the next lie, nil for none, and forgets what was asked.
func (l *liar) tell(told *lie, kind string, at int, always bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lie, l.kind, l.at, l.always, l.seen, l.hit = told, kind, at, always, map[string]int{}, ""
}

// asked counts a request, and returns the lie to answer it with; nil: the truth.
func (l *liar) asked(kind, path string) *lie {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.seen[kind]
	l.seen[kind]++
	if l.lie == nil || kind != l.kind || k != l.at && !(l.always && k > l.at) {
		return nil
	}
	if l.hit == "" {
		l.hit = kind + " " + path
	}
	return l.lie
}

// counts returns how often each kind was asked for.
func (l *liar) counts() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen
}

func (l *liar) told() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hit
}

// fails returns the errno of a request that is not of content, and whether it is to be carried out.
func (l *liar) fails(kind, path string) (errno syscall.Errno, carry bool) {
	told := l.asked(kind, path)
	if told == nil {
		return 0, true
	}
	return told.errno, told.done
}

// A liarNode is a name in it.
type liarNode struct {
	*fs.LoopbackNode
	liar *liar
}

// WrapChild makes liars of the nodes below.
func (n *liarNode) WrapChild(_ context.Context, ops fs.InodeEmbedder) fs.InodeEmbedder {
	return &liarNode{LoopbackNode: ops.(*fs.LoopbackNode), liar: n.liar}
}

func (n *liarNode) below(name string) string { return filepath.Join(n.Path(n.Root()), name) }

// carry asks whether to carry a request out, does so, and returns what to answer.
func (n *liarNode) carry(kind, name string, do func() syscall.Errno) syscall.Errno {
	errno, carry := n.liar.fails(kind, n.below(name))
	if carry {
		if real := do(); real != 0 {
			return real
		}
	}
	return errno
}

func (n *liarNode) Open(ctx context.Context, flags uint32) (fh fs.FileHandle, fuseFlags uint32, errno syscall.Errno) {
	if errno = n.carry("open", "", func() syscall.Errno {
		fh, fuseFlags, errno = n.LoopbackNode.Open(ctx, flags&^syscall.O_DIRECT)
		return errno
	}); errno != 0 {
		return nil, 0, errno
	}
	return n.file(fh), fuseFlags, 0
}

func (n *liarNode) Create(ctx context.Context, name string, flags, mode uint32, out *fuse.EntryOut) (inode *fs.Inode, fh fs.FileHandle, fuseFlags uint32, errno syscall.Errno) {
	if errno = n.carry("create", name, func() syscall.Errno {
		inode, fh, fuseFlags, errno = n.LoopbackNode.Create(ctx, name, flags&^syscall.O_DIRECT, mode, out)
		return errno
	}); errno != 0 {
		return nil, nil, 0, errno
	}
	return inode, &liarFile{f: fh.(*fs.LoopbackFile), liar: n.liar, path: n.below(name)}, fuseFlags, 0
}

func (n *liarNode) file(fh fs.FileHandle) fs.FileHandle {
	return &liarFile{f: fh.(*fs.LoopbackFile), liar: n.liar, path: n.below("")}
}

func (n *liarNode) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (inode *fs.Inode, errno syscall.Errno) {
	errno = n.carry("mkdir", name, func() (errno syscall.Errno) {
		inode, errno = n.LoopbackNode.Mkdir(ctx, name, mode, out)
		return errno
	})
	return inode, errno
}

func (n *liarNode) Unlink(ctx context.Context, name string) syscall.Errno {
	return n.carry("unlink", name, func() syscall.Errno { return n.LoopbackNode.Unlink(ctx, name) })
}

func (n *liarNode) Rename(ctx context.Context, name string, parent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	return n.carry("rename", name, func() syscall.Errno { return n.LoopbackNode.Rename(ctx, name, parent, newName, flags) })
}

func (n *liarNode) Getattr(ctx context.Context, f fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	return n.carry("getattr", "", func() syscall.Errno { return n.LoopbackNode.Getattr(ctx, f, out) })
}

func (n *liarNode) Setattr(ctx context.Context, f fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if _, truncates := in.GetSize(); !truncates {
		return n.LoopbackNode.Setattr(ctx, f, in, out)
	}
	return n.carry("truncate", "", func() syscall.Errno { return n.LoopbackNode.Setattr(ctx, f, in, out) })
}

// A liarFile is an open file. It is no [fs.FilePassthroughFder]: the kernel would not ask any more.
type liarFile struct {
	f    *fs.LoopbackFile
	liar *liar
	path string
}

func (f *liarFile) Read(ctx context.Context, buf []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	told := f.liar.asked("read", f.path)
	if told != nil && !told.done {
		return nil, told.errno
	}
	res, errno := f.f.Read(ctx, buf, off)
	if errno != 0 {
		return nil, errno
	}
	data, status := res.Bytes(buf)
	if status != fuse.OK {
		return nil, syscall.Errno(status)
	}
	if told != nil {
		data, _ = told.alter(data, off)
	}
	return fuse.ReadResultData(data), 0
}

func (f *liarFile) Write(ctx context.Context, data []byte, off int64) (uint32, syscall.Errno) {
	told := f.liar.asked("write", f.path)
	if told == nil {
		return f.f.Write(ctx, data, off)
	}
	n := len(data)
	if told.done {
		if told.alter != nil {
			data, off = told.alter(slices.Clone(data), off)
		}
		if _, errno := f.f.Write(ctx, data, off); errno != 0 {
			return 0, errno
		}
	}
	if told.count != nil {
		n = told.count(n)
	}
	return uint32(n), told.errno
}

func (f *liarFile) carry(kind string, do func() syscall.Errno) syscall.Errno {
	errno, carry := f.liar.fails(kind, f.path)
	if carry {
		if real := do(); real != 0 {
			return real
		}
	}
	return errno
}

func (f *liarFile) Fsync(ctx context.Context, flags uint32) syscall.Errno {
	return f.carry("fsync", func() syscall.Errno { return f.f.Fsync(ctx, flags) })
}

func (f *liarFile) Flush(ctx context.Context) syscall.Errno {
	return f.carry("flush", func() syscall.Errno { return f.f.Flush(ctx) })
}

func (f *liarFile) Allocate(ctx context.Context, off, size uint64, mode uint32) syscall.Errno {
	return f.carry("allocate", func() syscall.Errno { return f.f.Allocate(ctx, off, size, mode) })
}

func (f *liarFile) Release(ctx context.Context) syscall.Errno { return f.f.Release(ctx) }

func (f *liarFile) Getattr(ctx context.Context, out *fuse.AttrOut) syscall.Errno {
	return f.f.Getattr(ctx, out)
}

func (f *liarFile) Setattr(ctx context.Context, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	return f.f.Setattr(ctx, in, out)
}

func (f *liarFile) Lseek(ctx context.Context, off uint64, whence uint32) (uint64, syscall.Errno) {
	return f.f.Lseek(ctx, off, whence)
}
