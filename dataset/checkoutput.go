package dataset

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

var (
	// ErrNotEmpty says that a directory holds files but no dataset.
	ErrNotEmpty = errors.New("not empty, and not a dataset of ffconvert")
	// ErrNotDirectory says that an output is a file, is below a file, is a link that leads nowhere, or has no name.
	ErrNotDirectory = errors.New("not a directory")
)

// mountName is a directory that file systems make at their root.
const mountName = "lost+found"

// halfURL matches URLs that have lost a slash: a directory of that name is hardly meant.
var halfURL = text.Pattern(`^(?i:s3|gs|ais|https?):`)

// CheckPath returns [ErrNotDirectory] if the path of an output cannot be a directory. It accepts a path
// that does not exist.
func CheckPath(dir string) error {
	switch st, err := os.Stat(dir); {
	case dir == "":
		return fmt.Errorf("%q: %w", dir, ErrNotDirectory)
	case errors.Is(err, fs.ErrNotExist):
		if st, err := os.Lstat(dir); err == nil && st.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s: a link to what does not exist: %w", dir, ErrNotDirectory)
		}
		if halfURL().MatchString(dir) {
			return &place.Error{Where: dir, Off: -1, Err: ErrNotDirectory, Hint: "a URL has two slashes after its scheme, s3://bucket/name/", Kind: place.Usage}
		}
		return nil
	case errors.Is(err, syscall.ENOTDIR), err == nil && !st.IsDir():
		return fmt.Errorf("%s: %w", dir, ErrNotDirectory)
	default:
		return err
	}
}

// CheckDir refuses a directory that a conversion would have to share with files of another
// program: it is [ErrNotEmpty]. A directory that is missing or empty, or in which a conversion was
// begun or finished, is accepted. It changes nothing; [Open] accepts every directory.
func CheckDir(dir string) error {
	if err := CheckPath(dir); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	if _, err := root.Lstat(WorkDir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	m, err := (&Dataset{Dir: &Dir{path: dir, Root: root}}).Manifest()
	if m != nil || errors.Is(err, ErrManifestVersion) {
		return nil
	}
	if err != nil && !errors.Is(err, ErrManifest) {
		return err
	}
	return onlyOurs(root, dir)
}

// onlyOurs reads the names in a directory up to the first that a conversion has not made.
func onlyOurs(root *os.Root, dir string) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(64)
		for _, name := range names {
			switch name {
			case mountName:
			case WorkDir: // made since
				return nil
			default:
				return fmt.Errorf("%s: %w", dir, ErrNotEmpty)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
