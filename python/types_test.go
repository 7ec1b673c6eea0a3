package python_test

import (
	"os/exec"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// The package is typed to the last name, as py.typed says.
func TestTypes(t *testing.T) {
	t.Parallel()
	need.Time(t, "mypy reads the package, and numpy's types")
	readAll(t, packageFiles...)
	py := python.Path(t, "mypy", "numpy")
	if out, err := exec.Command(py, "-m", "mypy", "--config-file", "mypy.ini", "--cache-dir", t.TempDir(), "-p", "ffconvert").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
