// Package bench measures the whole tool: the program against cp, fio and its own limits
// of memory, on a real device.
//
//	make bench           # every row, into docs/performance.md
//	make bench ROW=S5    # one row, printed
//
// It holds tests alone. TestS1 measures row S1, and so on, behind the build tag bench: they
// write many GiB under $TMPDIR and take minutes. What turns figures into a page is built
// and tested without the tag. FFCONVERT_BENCH_BYTES is the size of the main set, 2 GiB by
// default. What is measured, and how, is in docs/benchmarks.md.
package bench
