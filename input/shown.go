package input

import (
	"regexp"
	"strings"

	"github.com/ffconvert/ffconvert/input/remote"
)

var (
	urlInText = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s'"]+`)
	urlJoined = regexp.MustCompile(`::[A-Za-z][A-Za-z0-9+.-]*://`)
)

// Shown returns a name, a pattern or a command for errors and manifests, with passwords, tokens and
// signatures redacted in its URLs. The rest of a command is unchanged.
func Shown(name string) string {
	if !strings.Contains(name, ":") {
		return name
	}
	if !remote.Supports(schemeOf(name)) {
		return urlInText.ReplaceAllStringFunc(name, remote.Redact)
	}
	if at := urlJoined.FindStringIndex(name); at != nil {
		return remote.Redact(name[:at[0]]) + "::" + Shown(name[at[0]+2:])
	}
	return remote.Redact(name)
}
