package stage

import (
	"os"
	"path/filepath"
	"testing"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func noEnv(string) (string, bool) { return "", false }

// tree makes files, each of which holds its own name, in a new directory.
func tree(t testing.TB, names ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range names {
		must(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755))
		write(t, filepath.Join(root, filepath.Dir(name)), filepath.Base(name), []byte(name))
	}
	return root
}

// span returns first … first+n-1.
func span(first, n int) (places []int) {
	for i := range n {
		places = append(places, first+i)
	}
	return places
}
