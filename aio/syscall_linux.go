package aio

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// iocb is struct iocb of linux/aio_abi.h. aio_key and aio_rw_flags are always zero; their order
// depends on the byte order of the machine.
type iocb struct {
	data    uint64 // returned in ioEvent.data
	_       uint64 // aio_key, aio_rw_flags
	opcode  uint16
	reqprio int16
	fd      uint32
	buf     uint64 // address
	nbytes  uint64
	off     int64
	_       uint64 // aio_reserved2
	flags   uint32
	resfd   uint32
}

// ioEvent is struct io_event of linux/aio_abi.h.
type ioEvent struct {
	data uint64
	obj  uint64 // address of the iocb
	res  int64  // bytes, or a negated errno
	res2 int64
}

const cmdPread = 0 // IOCB_CMD_PREAD

// A ring is an AIO context. All structures with addresses that the kernel uses are in the mem of
// setup, which is not Go memory and never moves.
type ring struct {
	ctx    uintptr // aio_context_t
	iocbs  []iocb  // by slot
	events []ioEvent
	ptrs   []uintptr // addresses of iocbs, for one io_submit
}

func newRing() kernel { return new(ring) }

// ringMem returns the number of bytes of mem that ring.setup needs.
func ringMem(depth int) int {
	return depth * int(unsafe.Sizeof(iocb{})+unsafe.Sizeof(ioEvent{})+unsafe.Sizeof(uintptr(0)))
}

func (k *ring) setup(depth int, mem []byte) error {
	_ = mem[ringMem(depth)-1] // panics if the caller's mem is too small
	p := unsafe.Pointer(&mem[0])
	k.iocbs = unsafe.Slice((*iocb)(p), depth)
	p = unsafe.Add(p, uintptr(depth)*unsafe.Sizeof(iocb{}))
	k.events = unsafe.Slice((*ioEvent)(p), depth)
	p = unsafe.Add(p, uintptr(depth)*unsafe.Sizeof(ioEvent{}))
	k.ptrs = unsafe.Slice((*uintptr)(p), depth)

	k.ctx = 0
	_, _, errno := unix.Syscall(unix.SYS_IO_SETUP, uintptr(depth), uintptr(unsafe.Pointer(&k.ctx)), 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func (k *ring) submit(reqs []request) (int, error) {
	for i := range reqs {
		r := &reqs[i]
		cb := &k.iocbs[r.slot]
		*cb = iocb{
			data:   r.tag,
			opcode: cmdPread,
			fd:     uint32(r.file.fd),
			buf:    uint64(uintptr(unsafe.Pointer(unsafe.SliceData(r.buf)))),
			nbytes: uint64(len(r.buf)),
			off:    r.off,
		}
		k.ptrs[i] = uintptr(unsafe.Pointer(cb))
	}
	n, _, errno := unix.Syscall(unix.SYS_IO_SUBMIT, k.ctx, uintptr(len(reqs)), uintptr(unsafe.Pointer(&k.ptrs[0])))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

func (k *ring) getevents(min int, events []event) (int, error) {
	var zero unix.Timespec
	var timeout *unix.Timespec // nil means no timeout
	if min == 0 {
		timeout = &zero
	}
	// The call blocks, so the scheduler must know of it: Syscall6, not RawSyscall6.
	n, _, errno := unix.Syscall6(unix.SYS_IO_GETEVENTS, k.ctx, uintptr(min), uintptr(len(events)),
		uintptr(unsafe.Pointer(&k.events[0])), uintptr(unsafe.Pointer(timeout)), 0)
	if errno != 0 {
		return 0, errno
	}
	for i, ev := range k.events[:n] {
		events[i] = event{tag: ev.data, n: int(ev.res)}
		if ev.res < 0 {
			events[i].n, events[i].err = 0, syscall.Errno(-ev.res)
		}
	}
	return int(n), nil
}

// mincore sets bit 0 of pages[i] if page i of span, which must be mapped, is in memory.
func mincore(span, pages []byte) error {
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(span))), uintptr(len(span)), uintptr(unsafe.Pointer(unsafe.SliceData(pages))))
	if errno != 0 {
		return errno
	}
	return nil
}

// destroy calls io_destroy, which waits for all requests in flight.
func (k *ring) destroy() error {
	if k.ctx == 0 {
		return nil
	}
	_, _, errno := unix.Syscall(unix.SYS_IO_DESTROY, k.ctx, 0, 0)
	if errno != 0 {
		return errno
	}
	k.ctx = 0
	return nil
}

// hugePage is the size in bytes of a large page on common processors.
const hugePage = 2 << 20

// useHugePages asks for large pages for b, to save time (BenchmarkSweep). With pages of 4 KiB a read
// of 1 MiB has 256 segments, more than many disks accept in one request, and the kernel faults in
// and pins each page separately. If the kernel refuses, b has small pages.
func useHugePages(b []byte) {
	if len(b) >= hugePage {
		unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}
