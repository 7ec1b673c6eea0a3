package aio

// A request is one positioned read with the alignment of its file.
type request struct {
	slot int // index of the slot, less than the depth
	tag  uint64
	file *File
	buf  []byte // in the Reader's mapping; owned by the kernel until getevents returns the event
	off  int64
}

// An event is the completion of a request.
type event struct {
	tag uint64 // of the request
	n   int    // bytes read; may be short anywhere, not only at the end of the file
	err error  // a syscall.Errno; n is 0 then
}

// A kernel executes requests and completes them in any order. Implementations are Linux AIO, the
// pread pool, and a simulation in tests. Only one goroutine may call it.
type kernel interface {
	// setup prepares for depth requests in flight. mem is the part of the Reader's mapping for the
	// structures of the kernel.
	setup(depth int, mem []byte) error

	// submit accepts the first n requests. If n < len(reqs) and err is nil, the caller submits the others later. An
	// error comes with n = 0 and concerns the first request. EAGAIN means that the caller must call getevents first.
	submit(reqs []request) (n int, err error)

	// getevents stores completions in events and returns their number. It waits until there are at
	// least min, 0 or 1. After EINTR the caller tries again.
	getevents(min int, events []event) (n int, err error)

	// destroy waits for all requests in flight and drops their events. If it returns nil the kernel
	// does not use any buffer.
	destroy() error
}

// tagOf and slotOf convert between aio_data and a slot with its generation.
func tagOf(slot int, gen uint32) uint64         { return uint64(gen)<<32 | uint64(uint32(slot)) }
func slotOf(tag uint64) (slot uint32, g uint32) { return uint32(tag), uint32(tag >> 32) }
