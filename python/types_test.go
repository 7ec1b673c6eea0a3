package python_test

import (
	"os/exec"
	"path/filepath"
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

// What type checkers of editors say of the package is nothing, too: pyright, with the settings of pyrightconfig.json.
func TestTypesPyright(t *testing.T) {
	t.Parallel()
	need.Time(t, "pyright reads the package, and torch's types")
	readAll(t, append(packageFiles, "pyrightconfig.json")...)
	py := python.Path(t, "numpy", "torch")
	pyright := filepath.Join(need.Node(t, "pyright"), "index.js")
	if out, err := exec.Command(need.Tool(t, "node"), pyright, "-p", ".", "--pythonpath", py).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
