package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
)

// sizeValue is a flag of bytes: 1048576, 256MiB, 1.5GB.
type sizeValue int64

func (v *sizeValue) Set(s string) error {
	n, err := humanize.ParseBytes(s)
	if err != nil || n > math.MaxInt64 {
		return fmt.Errorf("%q is no size; want a number of bytes, or one with a unit as in 256MiB", s)
	}
	*v = sizeValue(n)
	return nil
}

func (v *sizeValue) Type() string { return "size" }

func (v *sizeValue) String() string {
	if *v == 0 {
		return "0"
	}
	return strings.ReplaceAll(humanize.IBytes(uint64(*v)), " ", "")
}

// choiceValue is a flag that takes one of a few words.
type choiceValue struct {
	value   string
	choices []string
}

func (v *choiceValue) Set(s string) error {
	if !slices.Contains(v.choices, s) {
		return fmt.Errorf("want one of %s", strings.Join(v.choices, ", "))
	}
	v.value = s
	return nil
}

func (v *choiceValue) Type() string   { return strings.Join(v.choices, "|") }
func (v *choiceValue) String() string { return v.value }
