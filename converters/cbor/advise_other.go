//go:build !linux

package cbor

import "os"

// access is how a part is going to be read.
type access int

const (
	plain access = iota
	hops
	sweep
)

func advise(*os.File, access) {}
