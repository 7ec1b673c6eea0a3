package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

// sizeValue is a flag of bytes: 1048576, 256MiB, 1.5GB.
type sizeValue int64

func (v *sizeValue) Set(s string) error {
	n, err := humanize.ParseBytes(s)
	if err != nil || n > math.MaxInt64 {
		return errors.New("want a number of bytes, or one with a unit, as in 256MiB")
	}
	*v = sizeValue(n)
	return nil
}

func (v *sizeValue) Type() string { return "size" }

// String is exact: a plan keeps it.
func (v *sizeValue) String() string {
	n, unit := int64(*v), 0
	for units := len(sizeUnits); n != 0 && n%1024 == 0 && unit < units-1; unit++ {
		n /= 1024
	}
	return strconv.FormatInt(n, 10) + sizeUnits[unit]
}

var sizeUnits = []string{"", "KiB", "MiB", "GiB", "TiB"}

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

// Type lists short choices; of more the usage says which there are.
func (v *choiceValue) Type() string {
	if all := strings.Join(v.choices, "|"); len(all) <= 10 {
		return all
	}
	return "word"
}

func (v *choiceValue) String() string  { return v.value }
func (v *choiceValue) words() []string { return v.choices }
