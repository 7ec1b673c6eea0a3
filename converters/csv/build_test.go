package csv

import (
	"testing"

	"github.com/ffconvert/ffconvert/converters/convertertest"
)

// openMemory opens parts that are in memory.
func openMemory(opts Options, contents ...[]byte) (*source, error) {
	parts, open := convertertest.InMemory("", contents...)
	return openSource(parts, opts, open)
}

func inMemory(t testing.TB, opts Options, parts ...[]byte) *source {
	t.Helper()
	src, err := openMemory(opts, parts...)
	if err != nil {
		t.Fatal(err)
	}
	return src
}
