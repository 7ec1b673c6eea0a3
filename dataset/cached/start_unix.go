//go:build unix

package cached

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// Start starts this program with arguments that make it call [Serve] for the directory at path, and returns when it has
// printed [Ready]. It gets input on its standard input and no signals of the terminal, and writes what goes wrong to the
// file log in the directory.
func Start(path, input string, arguments ...string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	log, err := root.OpenFile("log", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return unwritable(path, err)
	}
	defer log.Close()
	server := exec.Command(program, arguments...)
	server.Stdin = strings.NewReader(input)
	server.Stderr, server.SysProcAttr = log, &syscall.SysProcAttr{Setsid: true}
	said, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	if line, _ := bufio.NewReader(said).ReadString('\n'); strings.TrimSpace(line) == Ready {
		return nil
	}
	why := make([]byte, 4096)
	err = server.Wait()
	n, _ := log.ReadAt(why, 0)
	if text := strings.TrimSpace(strings.TrimPrefix(string(why[:n]), "ffconvert: ")); text != "" {
		err = errors.New(text)
	}
	return fmt.Errorf("%s: the process that fetches did not start: %w", path, err)
}
