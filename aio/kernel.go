package aio

// A request is one positioned read, aligned as its file wants it.
type request struct {
	slot int // index of the slot, below the depth
	tag  uint64
	file *File
	buf  []byte // in the Reader's mapping; the kernel's until its event is reaped
	off  int64
}

// An event is the end of a request.
type event struct {
	tag uint64 // of the request
	n   int    // bytes read; short at the end of the file, and at whim
	err error  // a syscall.Errno, n being 0
}

// A kernel completes requests in any order. Linux AIO is one, the pread pool
// another, the tests have a third. One goroutine calls it.
type kernel interface {
	// setup makes room for depth requests in flight. mem is the part of the
	// Reader's mapping that is left for the kernel's own structures.
	setup(depth int, mem []byte) error

	// submit takes the first n requests. n below len(reqs) with a nil error
	// means: the rest later. An error comes with n = 0 and concerns the first
	// request; EAGAIN says that nothing more fits until something is reaped.
	submit(reqs []request) (n int, err error)

	// getevents stores completions in events, as many as there are. It waits
	// until there are min, which is 0 or 1. EINTR is to be tried again.
	getevents(min int, events []event) (n int, err error)

	// destroy waits for what is in flight and forgets its events. After a nil
	// error no buffer is in use.
	destroy() error
}

// tagOf and slotOf join and part what aio_data carries.
func tagOf(slot int, gen uint32) uint64         { return uint64(gen)<<32 | uint64(uint32(slot)) }
func slotOf(tag uint64) (slot uint32, g uint32) { return uint32(tag), uint32(tag >> 32) }
