package aio

import "golang.org/x/sys/unix"

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
