package signature_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aead.dev/minisign"

	"github.com/ffconvert/ffconvert/dataset/signature"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

var manifest = []byte("{\n  \"ffconvert_manifest\": 4\n}\n")

// noPassword is the password of keys that have none.
func noPassword() (string, error) { return "", errors.New("a password was asked for") }

// newKeys writes a pair of keys without a password and reads it.
func newKeys(t *testing.T) (*signature.PublicKey, *signature.PrivateKey) {
	t.Helper()
	public, private, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := private.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	k, err := signature.ReadPrivateKey(write(t, string(secret)), noPassword)
	if err != nil {
		t.Fatal(err)
	}
	p, err := signature.ReadPublicKey(public.String())
	if err != nil || p.ID() != k.ID() {
		t.Fatal(p, err)
	}
	return p, k
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func sign(t *testing.T, k *signature.PrivateKey, manifest []byte) string {
	t.Helper()
	text, err := k.Sign(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Minisign accepts what is signed here, and what it signs is accepted here, with its keys, encrypted or not. A key that
// minisign encrypts takes 1 GiB to read, which is slow under the race detector: the program, built without it, signs with it.
func TestMinisign(t *testing.T) {
	t.Parallel()
	tool := need.Tool(t, "minisign")
	for _, password := range []string{"", "päss word"} {
		t.Run(fmt.Sprintf("%q", password), func(t *testing.T) {
			t.Parallel()
			if password != "" {
				need.Time(t, "deriving a key takes a second and 1 GiB, three times")
			}
			dir := t.TempDir()
			in := func(name string) string { return filepath.Join(dir, name) }
			must := func(program string, args ...string) {
				t.Helper()
				if program == tool && password == "" && (args[0] == "-G" || args[0] == "-S") {
					args = append(args, "-W")
				}
				cmd := exec.Command(program, args...)
				cmd.Dir, cmd.Stdin = dir, strings.NewReader(strings.Repeat(password+"\n", 2))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%q: %v\n%s", cmd.Args, err, out)
				}
			}
			must(tool, "-G", "-p", "a.pub", "-s", "a.key")
			public, err := signature.ReadPublicKey(in("a.pub"))
			if err != nil {
				t.Fatal(err)
			}
			signed := in("manifest.json")
			if password == "" {
				private, err := signature.ReadPrivateKey(in("a.key"), nil)
				if err != nil {
					t.Fatal(err)
				}
				if text, err := os.ReadFile(in("a.pub")); err != nil || !bytes.Contains(text, []byte(private.ID()+"\n")) || public.ID() != private.ID() {
					t.Errorf("key %s and %s of %s, %v", public.ID(), private.ID(), text, err)
				}
				if err := errors.Join(os.WriteFile(signed, manifest, 0o644), os.WriteFile(signed+".minisig", []byte(sign(t, private, manifest)), 0o644)); err != nil {
					t.Fatal(err)
				}
			} else {
				shards, err := filepath.Abs(filepath.Join("..", "..", "testdata", "shards-000.tar"))
				if err := errors.Join(err, os.WriteFile(in("password"), []byte(password+"\n"), 0o600)); err != nil {
					t.Fatal(err)
				}
				must(need.Program(t), "tar", "--sign", "a.key", "--password-file", "password", shards, "out")
				signed = in("out/manifest.json")
			}
			must(tool, "-V", "-m", signed, "-p", "a.pub")
			must(tool, "-S", "-m", signed, "-s", "a.key")
			data, err := os.ReadFile(signed)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(signed + ".minisig")
			if err != nil || public.Check(data, text) != nil {
				t.Errorf("%v, %v, of\n%s", err, public.Check(data, text), text)
			}
		})
	}
}

// A key that is encrypted is not read without its password.
func TestPassword(t *testing.T) {
	t.Parallel()
	locked := filepath.Join("..", "..", "testdata", "minisign", "locked.key")
	password := func(word string) func() (string, error) { return func() (string, error) { return word, nil } }
	if _, err := signature.ReadPrivateKey(locked, password("secret")); err != nil {
		t.Error(err)
	}
	if _, err := signature.ReadPrivateKey(locked, password("x")); !errors.Is(err, signature.ErrPassword) {
		t.Errorf("with another password: %v", err)
	}
	if _, err := signature.ReadPrivateKey(locked, noPassword); err == nil || err.Error() != "a password was asked for" {
		t.Errorf("without a password: %v", err)
	}
}

// An editor on Windows changes the ends of the lines, and writes a mark before the first.
func TestKeysOfWindows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"locked.key", "locked.pub"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "minisign", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("\ufeff"+strings.ReplaceAll(string(text), "\n", "\r\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	private, err := signature.ReadPrivateKey(filepath.Join(dir, "locked.key"), func() (string, error) { return "secret", nil })
	if err != nil {
		t.Fatal(err)
	}
	if public, err := signature.ReadPublicKey(filepath.Join(dir, "locked.pub")); err != nil || public.ID() != private.ID() {
		t.Errorf("%v, of the key %s", err, private.ID())
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	public, private := newKeys(t)
	_, other := newKeys(t)
	text := sign(t, private, manifest)
	if err := public.Check(manifest, []byte(text)); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(text, "\n")
	foreign := strings.SplitAfter(sign(t, other, manifest), "\n")
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(foreign[1]))
	if err != nil {
		t.Fatal(err)
	}
	mine, _ := base64.StdEncoding.DecodeString(strings.TrimSpace(lines[1]))
	copy(raw[2:10], mine[2:10]) // says that it is of our key
	claimed := foreign[0] + base64.StdEncoding.EncodeToString(raw) + "\n" + foreign[2] + foreign[3]
	for name, row := range map[string]struct{ text, want string }{
		"of another manifest":         {sign(t, private, append(manifest, ' ')), "has not signed this manifest"},
		"of another key":              {sign(t, other, manifest), "it is of the key " + other.ID() + ", not of " + public.ID()},
		"of another key, in our name": {claimed, "has not signed this manifest"},
		"another signed comment":      {strings.Replace(text, "manifest.json", "manifest.jsoN", 1), "has not signed this manifest"},
		"the comment of another":      {lines[0] + lines[1] + foreign[2] + foreign[3], "has not signed this manifest"},
		"empty":                       {"", "damaged"},
		"the manifest":                {string(manifest), "damaged"},
		"a line twice":                {lines[0] + text, "damaged"},
		"a public key":                {"untrusted comment: x\n" + "RWS/gT+NZ2uwxNn9WE9/CpA9IHKM0kWaCFi8Sju5n2RGUwbPOB8rBxEZ\n", "damaged"},
	} {
		err := public.Check(manifest, []byte(row.text))
		if !errors.Is(err, signature.ErrWrong) || place.KindOf(err) != place.Corrupt || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %s", name, err, row.want)
		}
	}
	if err := public.Check(manifest, nil); !errors.Is(err, signature.ErrUnsigned) || place.KindOf(err) != place.Refused {
		t.Errorf("no signature: %v", err)
	}
	for n := range len(strings.TrimRight(text, "\n")) {
		if public.Check(manifest, []byte(text[:n])) == nil {
			t.Errorf("cut after %d bytes: accepted", n)
		}
	}
	for _, line := range []int{1, 3} { // base64 has bits that a decoder drops, in the last digit before =
		const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
		end := len(strings.TrimRight(lines[line], "=\n")) - 1
		other := digits[strings.IndexByte(digits, lines[line][end])+1]
		changed := slices.Clone(lines)
		changed[line] = lines[line][:end] + string(other) + lines[line][end+1:]
		if err := public.Check(manifest, []byte(strings.Join(changed, ""))); !errors.Is(err, signature.ErrWrong) {
			t.Errorf("line %d, bits that decode to nothing: %v", line+1, err)
		}
	}
	if err := public.Check(manifest, []byte(strings.ReplaceAll(text, "\n", "\r\n"))); err != nil {
		t.Errorf("ends of lines of Windows: %v", err)
	}
	for i := len(lines[0]); i < len(text)-1; i++ { // the first line is not signed
		b := []byte(text)
		if b[i] ^= 1; public.Check(manifest, b) == nil {
			t.Errorf("byte %d changed to %q: accepted", i, b[i])
		}
	}
}

func TestKeysRefused(t *testing.T) {
	t.Parallel()
	public, private, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	secret, _ := private.MarshalText()
	open, _ := public.MarshalText()
	raw, _ := base64.StdEncoding.DecodeString(strings.SplitN(string(secret), "\n", 2)[1])
	raw[len(raw)-40] ^= 1 // of the public half
	halves := "untrusted comment: x\n" + base64.StdEncoding.EncodeToString(raw)
	for name, row := range map[string]struct{ file, want string }{
		"a public key": {write(t, string(open)), "want the private key"},
		"empty":        {write(t, ""), "want the private key"},
		"large":        {write(t, strings.Repeat("x", 1<<20)), "more than 16384 bytes"},
		"missing":      {filepath.Join(t.TempDir(), "nosuch"), "no such file"},
	} {
		if _, err := signature.ReadPrivateKey(row.file, noPassword); !errors.Is(err, signature.ErrKey) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %s", name, err, row.want)
		}
	}
	for name, text := range map[string]string{"a private key": string(secret), "empty": "", "large": strings.Repeat("x", 1<<20)} {
		if _, err := signature.ReadPublicKey(write(t, text)); !errors.Is(err, signature.ErrKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
	k, err := signature.ReadPrivateKey(write(t, halves), noPassword)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := k.Sign(manifest); !errors.Is(err, signature.ErrKey) {
		t.Errorf("halves that do not fit: %s, %v", text, err)
	}
}
