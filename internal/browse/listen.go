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

// A Link opens the pages of a server. It contains a secret that every request needs.
type Link struct {
	URL      string
	Public   bool   // other machines can reach the server, without encryption
	Launcher []byte // a page that navigates to URL
}

// Listen listens at an address and a port, as in "127.0.0.1:8000"; port 0 means any free port.
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
		err = op.Err // without the address
	} else if wrong, ok := errors.AsType[*net.AddrError](err); ok {
		err = errors.New(wrong.Err)
	}
	if err != nil {
		return nil, &place.Error{Where: "listen at " + address, Off: -1, Kind: place.Usage, Err: err, Hint: "ADDRESS:PORT, as in 127.0.0.1:8000; port 0 takes any that is free"}
	}
	return l, nil
}

// Launch starts the default browser. It passes the link in a file in dir that only this user can read, since all users
// of the machine can read a program's arguments. The caller removes dir, which is "" if it could not be made.
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
	go cmd.Wait() // the browser may stay a child process
	return dir, nil
}
