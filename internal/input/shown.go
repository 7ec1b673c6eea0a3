package input

import (
	"regexp"
	"strings"

	"github.com/ffconvert/ffconvert/internal/store"
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
	if !store.Supports(schemeOf(name)) {
		return urlInText.ReplaceAllStringFunc(name, store.Redact)
	}
	if at := urlJoined.FindStringIndex(name); at != nil {
		return store.Redact(name[:at[0]]) + "::" + Shown(name[at[0]+2:])
	}
	return store.Redact(name)
}
