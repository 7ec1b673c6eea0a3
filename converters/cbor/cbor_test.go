package cbor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// openFiles opens parts as they are now.
func openFiles(t testing.TB, opts Options, paths ...string) *Source {
	t.Helper()
	var parts []converters.Part
	for _, path := range paths {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, converters.Part{Name: filepath.Base(path), Path: path, Size: st.Size(), ModTime: st.ModTime()})
	}
	return Open(parts, opts)
}
