// Package aio reads files at the speed of the device: many positioned reads in
// flight at once, past the page cache, into buffers outside the Go heap.
//
// A [Reader] serves one goroutine at a time. It has a fixed queue of block-sized
// buffers and two ways to use it: [Reader.Sweep] streams a range in file order,
// [Reader.ReadBatch] fills any number of scattered requests, of any files, and
// reads neighbours together. Both return only when the kernel owns none of the
// buffers. A [File] may be read by many Readers at once.
//
//	r, err := aio.NewReader(aio.Options{})
//	if err != nil {
//		return err
//	}
//	defer r.Close()
//	f, err := r.Open("PART_00000.ffr")
//	if err != nil {
//		return err
//	}
//	defer f.Close()
//	for block, err := range r.Sweep(ctx, f, 0, f.Size()) {
//		if err != nil {
//			return err
//		}
//		crc = crc32.Update(crc, crc32.IEEETable, block)
//	}
//
// # Backends
//
// On Linux the reads go through Linux AIO (io_setup, io_submit, io_getevents)
// with O_DIRECT. Three things take a file, or the whole Reader, to a pool of
// goroutines that call pread, as many as the queue is deep: the kernel refuses
// AIO; the file system refuses O_DIRECT, without which AIO is synchronous; or
// the file system turns out to complete its AIO inside io_submit. [Stats] says
// which backend did the work, why, and whether the page cache was read. Other
// systems have the pool alone.
//
// # Alignment
//
// Callers ask for any offset and any length. With O_DIRECT a request to the
// kernel starts and ends at multiples of what statx(STATX_DIOALIGN) tells, or
// of 4096 where it tells nothing; what was read around the edges is cut off:
//
//	file     |--------|--------|--------|--------|----·      EOF at ·
//	asked         [=====================]
//	read     [=================|=================]           BlockSize each
//	yielded       [============|========]
//
// The kernel answers a misaligned request with EINVAL, and a request across
// the end of the file with a short count. Any other short count is continued
// from the last aligned position that arrived.
//
// # Memory
//
// One anonymous mapping holds everything that the kernel reads or writes, at
// addresses that never move:
//
//	Depth × BlockSize   block buffers, page aligned
//	Depth × 64 B        struct iocb          ┐
//	Depth × 32 B        struct io_event      │ Linux AIO only
//	Depth ×  8 B        pointers to iocbs    ┘
//
// A request carries its slot in the low 32 bits of aio_data and the slot's
// generation in the high 32. A completion that matches no request in flight is
// an internal error and ends the Reader; it is never taken for data.
package aio
