package python_test

import (
	"os/exec"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/python"
)

// docs/python.md is what the docstrings of the package say.
func TestAPI(t *testing.T) {
	t.Parallel()
	readAll(t, append(packageFiles, "api.py")...)
	out, err := exec.Command(python.Path(t), "api.py").Output()
	if err != nil {
		t.Fatal(err)
	}
	if string(out) != read(t, "docs/python.md") {
		t.Error("docs/python.md is not what python/api.py prints: run make python-page")
	}
}
