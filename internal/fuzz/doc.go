// Package fuzz runs the fuzzing targets of this module, and has what several of them need.
//
//	go test ./internal/fuzz                                          // the list of targets is true
//	FFCONVERT_FUZZ=F1 go test -timeout 0 -v -run TestRun ./internal/fuzz // make fuzz-row
package fuzz

import (
	"runtime/metrics"
	"testing"
)

// WantAllocated wants that f, which may be called three times, allocates at most so many
// bytes: what was allocated before may be counted late. Fuzz targets run by themselves.
func WantAllocated(t testing.TB, most int, f func()) {
	t.Helper()
	count := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	var n uint64
	for range 3 {
		metrics.Read(count)
		before := count[0].Value.Uint64()
		f()
		metrics.Read(count)
		if n = count[0].Value.Uint64() - before; n <= uint64(most) {
			return
		}
	}
	t.Fatalf("%d bytes allocated, at most %d are warranted", n, most)
}
