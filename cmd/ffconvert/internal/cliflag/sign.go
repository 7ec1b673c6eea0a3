package cliflag

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/ffconvert/ffconvert/dataset/signature"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/text"
)

// Sign has the flags of commands that sign a dataset.
type Sign struct {
	SHA256   bool   // the manifest gets the SHA-256 of all files
	Key      string // file of the private key; "": nothing is signed
	Password string // file of its password; "": the user is asked
}

// Add registers --sha256, --sign and --password-file.
func (s *Sign) Add(flags *pflag.FlagSet) {
	flags.BoolVar(&s.SHA256, "sha256", false, "write the SHA-256 of all files into the manifest, for sha256sum and verify --sha256; a signature needs them")
	flags.Var(Name(&s.Key), "sign", "sign the dataset with this private key of minisign, when it is finished")
	s.AddPassword(flags)
}

// AddPassword registers --password-file.
func (s *Sign) AddPassword(flags *pflag.FlagSet) {
	flags.Var(Name(&s.Password), "password-file", "file whose first line is the password of the private key (default: ask on the terminal)")
}

// Load reads the key, if one is named, and asks for its password: before the work, not at its end.
func (s *Sign) Load(ctx context.Context) (*signature.PrivateKey, error) {
	if s.Key == "" {
		return nil, nil
	}
	return signature.ReadPrivateKey(s.Key, func() (string, error) {
		if s.Password != "" {
			return firstLine(s.Password)
		}
		return ask(ctx, s.Key)
	})
}

// maxPassword bounds a password, in bytes: minisign takes as many.
const maxPassword = 1024

// firstLine reads the first line of a file.
func firstLine(name string) (string, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w", name, input.ErrNotFound)
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, maxPassword+2)).ReadString('\n')
	if err != nil && err != io.EOF {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	if len(line) > maxPassword {
		return "", fmt.Errorf("%s: its first line has more than %d bytes: not a password", name, maxPassword)
	}
	return line, nil
}

// ask asks for a password on the terminal, which does not show it.
func ask(ctx context.Context, key string) (string, error) {
	in := int(os.Stdin.Fd())
	state, err := term.GetState(in)
	if err != nil {
		return "", fmt.Errorf("%s is encrypted, and there is no terminal to ask for its password; --password-file names a file with it", key)
	}
	fmt.Fprint(os.Stderr, "Password of "+text.Name(key)+": ")
	defer fmt.Fprintln(os.Stderr)
	type answer struct {
		word []byte
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		word, err := term.ReadPassword(in)
		answered <- answer{word, err}
	}()
	select {
	case a := <-answered:
		return string(a.word), a.err
	case <-ctx.Done(): // the read goes on until the process ends
		return "", errors.Join(ctx.Err(), term.Restore(in, state))
	}
}
