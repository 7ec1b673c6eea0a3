package aio

import "golang.org/x/sys/unix"

// hugePage is the size of a large page on the common processors, bytes.
const hugePage = 2 << 20

// useHugePages asks for large pages below b. In pages of 4 KiB a read of 1 MiB has
// 256 segments, more than many disks take in one request, and each page is faulted in
// and pinned by itself; in large ones it has one. It is a speed trick alone, which
// BenchmarkSweep shows: a kernel that refuses gives small pages.
func useHugePages(b []byte) {
	if len(b) >= hugePage {
		unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
}
