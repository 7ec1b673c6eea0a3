// Package bench measures the whole tool: the program against cp, fio and its own limits
// of memory, on a real device.
//
//	go test -tags bench -timeout 60m -v ./internal/bench
//
// It holds tests alone, behind the build tag bench, since they write many GiB under
// $TMPDIR and take minutes. FFCONVERT_BENCH_BYTES is the size of the main set, 2 GiB by
// default. What is measured, and how, is in docs/benchmarks.md.
package bench
