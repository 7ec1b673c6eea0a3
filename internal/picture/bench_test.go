package picture_test

import (
	"testing"

	"github.com/ffconvert/ffconvert/internal/picture"
	"github.com/ffconvert/ffconvert/internal/test/wholetest"
)

func BenchmarkProblem(b *testing.B) {
	for suffix, data := range wholetest.Files() {
		b.Run(suffix, func(b *testing.B) {
			kind := picture.Named(suffix)
			b.ReportAllocs()
			for b.Loop() {
				picture.Problem(kind, data)
			}
		})
	}
}
