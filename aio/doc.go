// Package aio reads files at the speed of the device: with many positioned reads in flight, past the page cache, into
// buffers outside the Go heap.
//
// A [Reader] has a fixed queue of block-sized buffers and serves one goroutine at a time. [Reader.Sweep] streams a
// range of a file in order. [Reader.ReadBatch] reads any number of scattered requests, of several files, and those at
// most 16 KiB apart together. It may take what the page cache has from there; see [File.UsePageCache]. Both return only
// when the kernel does not own any buffer. Several Readers may read a [File] at once.
//
//	r, err := aio.NewReader(aio.Options{})
//	if err != nil {
//		return err
//	}
//	defer r.Close()
//	f, err := aio.Open("PART_00000.ffr")
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
// A [Stream] reads a source of a conversion, whose samples are not known beforehand, ahead of its caller.
//
// # Backends
//
// On Linux a Reader uses Linux AIO (io_setup, io_submit, io_getevents) with O_DIRECT. Otherwise a pool of goroutines,
// as many as the queue is deep, calls pread: for the whole Reader if the kernel refuses AIO, and for a file if its file
// system refuses O_DIRECT, without which AIO is synchronous, or completes AIO within io_submit. [Stats] has the backend
// that was used, the reason, and whether the page cache was read. Other systems have only the pool.
//
// # Alignment
//
// A caller may read any offset and any length. With O_DIRECT a request to the kernel starts and ends at multiples of
// the alignment that statx(STATX_DIOALIGN) returns, or of 4096 if it returns none. The caller does not see the
// additional bytes:
//
//	file     |--------|--------|--------|--------|----·      EOF at ·
//	request       [=====================]
//	read     [=================|=================]           BlockSize each
//	yielded       [============|========]
//
// The kernel answers a misaligned request with EINVAL, and a request across the end of the file with a short count.
// After any other short count the Reader reads the rest, from the last aligned position that was read.
//
// # Memory
//
// One anonymous mapping, which never moves, holds all memory that the kernel reads or writes:
//
//	Depth × BlockSize   block buffers, page aligned
//	Depth × 64 B        struct iocb          ┐
//	Depth × 32 B        struct io_event      │ Linux AIO only
//	Depth ×  8 B        pointers to iocbs    ┘
//
// aio_data of a request has its slot in the low 32 bits and the slot's generation in the high 32. A completion that
// does not match a request in flight is an internal error: the Reader fails and does not return the data.
package aio
