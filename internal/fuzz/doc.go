// Package fuzz runs the fuzz targets of this module and has helpers for them.
//
//	go test ./internal/fuzz                                         // checks the list of targets
//	go test -tags fuzz -timeout 0 -v -run TestRowF1 ./internal/fuzz // make fuzz-row
package fuzz

import (
	"runtime/metrics"
	"testing"
)

// WantAllocated fails the test unless f allocates at most most bytes. It calls f up to three times,
// because the runtime may count earlier allocations late. Nothing else may allocate meanwhile, which
// holds in fuzz targets.
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
