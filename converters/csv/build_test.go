package csv

import (
	"fmt"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
)

// openMemory opens parts that are in memory; they are named part-0 and so on.
func openMemory(opts Options, parts ...[]byte) (*Source, error) {
	var list []converters.Part
	data := make(map[string][]byte)
	for i, b := range parts {
		name := fmt.Sprintf("part-%d", i)
		list = append(list, converters.Part{Name: name, Path: name, Size: int64(len(b))})
		data[name] = b
	}
	return openSource(list, opts, func(p converters.Part) (file, error) {
		return convertertest.Memory(data[p.Name]), nil
	})
}

func memory(t testing.TB, opts Options, parts ...[]byte) *Source {
	t.Helper()
	src, err := openMemory(opts, parts...)
	if err != nil {
		t.Fatal(err)
	}
	return src
}
