//go:build !unix

package need

// lock does nothing: tests run on Unix.
func lock(string) (unlock func(), err error) { return func() {}, nil }
