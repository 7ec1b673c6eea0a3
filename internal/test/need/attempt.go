package need

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// An Attempt is a test that records a failure or a skip instead of reporting it, to test test helpers.
type Attempt struct {
	testing.TB
	Ended string       // "failed", "skipped", or "" if the test returned
	Said  bytes.Buffer // its messages

	cleanups []func()
}

// Try runs a test and its cleanups. Methods that Attempt does not define call t.
func Try(t testing.TB, test func(t testing.TB)) (a *Attempt) {
	a = &Attempt{TB: t}
	defer func() {
		if x := recover(); x != nil && x != any(a) {
			panic(x)
		}
		for _, f := range a.cleanups {
			f()
		}
	}()
	test(a)
	return a
}

func (a *Attempt) Helper()                           {}
func (a *Attempt) Cleanup(f func())                  { a.cleanups = append(a.cleanups, f) }
func (a *Attempt) Errorf(format string, args ...any) { fmt.Fprintf(&a.Said, format+"\n", args...) }
func (a *Attempt) Fatalf(format string, args ...any) { a.end("failed", fmt.Sprintf(format, args...)) }
func (a *Attempt) Fatal(args ...any)                 { a.end("failed", strings.TrimSpace(fmt.Sprintln(args...))) }
func (a *Attempt) Skip(args ...any)                  { a.end("skipped", strings.TrimSpace(fmt.Sprintln(args...))) }

func (a *Attempt) end(how, why string) {
	a.Ended = how
	a.Said.WriteString(why)
	panic(a)
}
