package main

import (
	"os"
	"strconv"

	"github.com/fxamacker/cbor/v2"
)

// cleanMain is a filter of scripts, the command ffclean. Of three samples it drops one and answers one with two. The
// field n is made anew.
func cleanMain() {
	sorted, err := cbor.CanonicalEncOptions().EncMode() // a Go map has another order each time
	if err != nil {
		panic(err)
	}
	in, out := cbor.NewDecoder(os.Stdin), sorted.NewEncoder(os.Stdout)
	for {
		var s map[string]any
		if in.Decode(&s) != nil {
			return
		}
		number, err := strconv.Atoi(s["__key__"].(string))
		if err != nil {
			os.Exit(1)
		}
		s["n"] = number % 6
		switch number % 3 {
		case 0:
			out.Encode([]any{})
		case 1:
			out.Encode(s)
		case 2:
			delete(s, "__key__")
			out.Encode([]any{s, s})
		}
	}
}
