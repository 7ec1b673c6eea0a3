package browse

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/ffconvert/ffconvert/internal/place"
)

// A Link opens the pages of a server. It has a secret, without which nothing is answered.
type Link struct {
	URL      string
	Public   bool   // other machines reach the server, without encryption
	Launcher []byte // a page that leads to URL
}

// Listen listens at an address and a port, as in "127.0.0.1:8000"; port 0 is any that is free.
func Listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err == nil && host == "" {
		err = errors.New("no address")
	}
	var l net.Listener
	if err == nil {
		l, err = net.Listen("tcp", address)
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err // which does not name the address
	} else if wrong, ok := errors.AsType[*net.AddrError](err); ok {
		err = errors.New(wrong.Err)
	}
	if err != nil {
		return nil, &place.Error{Where: "listen at " + address, Off: -1, Kind: place.Usage, Err: err, Hint: "ADDRESS:PORT, as in 127.0.0.1:8000; port 0 takes any that is free"}
	}
	return l, nil
}

// Launch starts the browser of the desktop. The link is in a file in dir that its user alone can read: the arguments of a
// program are seen by all users of the machine. The caller removes dir, which is "" if it could not be made.
func (l *Link) Launch() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "ffconvert-browse-*"); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return dir, err
	}
	defer root.Close()
	if err := root.WriteFile("open.html", l.Launcher, 0o600); err != nil {
		return dir, err
	}
	name := filepath.Join(dir, "open.html")
	words := []string{"xdg-open", name}
	switch runtime.GOOS {
	case "darwin":
		words = []string{"open", name}
	case "windows":
		words = []string{"rundll32", "url.dll,FileProtocolHandler", name}
	}
	cmd := exec.Command(words[0], words[1:]...)
	if err := cmd.Start(); err != nil {
		return dir, err
	}
	go cmd.Wait() // a browser that was not running before may stay its child
	return dir, nil
}
