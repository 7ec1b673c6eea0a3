package whole_test

import (
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/wholetest"
	"github.com/ffconvert/ffconvert/internal/whole"
)

func BenchmarkProblem(b *testing.B) {
	for suffix, data := range wholetest.Files() {
		b.Run(suffix, func(b *testing.B) {
			kind := whole.Named(suffix)
			b.ReportAllocs()
			for b.Loop() {
				whole.Problem(kind, data)
			}
		})
	}
}
