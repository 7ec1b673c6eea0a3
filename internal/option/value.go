package option

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

type boolValue bool

// Bool is true or false.
func Bool(p *bool) Value { return (*boolValue)(p) }

func (v *boolValue) Set(text string) error {
	b, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("want true or false")
	}
	*v = boolValue(b)
	return nil
}

func (v *boolValue) Type() string   { return "bool" }
func (v *boolValue) String() string { return strconv.FormatBool(bool(*v)) }

type textValue string

// Text is any text.
func Text(p *string) Value { return (*textValue)(p) }

func (v *textValue) Set(text string) error { *v = textValue(text); return nil }
func (v *textValue) Type() string          { return "string" }
func (v *textValue) String() string        { return string(*v) }

// A listValue is set by a line of CSV. The first Set replaces the default, others append.
type listValue struct {
	p     *[]string
	given bool
}

// List is several texts with commas between them.
func List(p *[]string) Value { return &listValue{p: p} }

func (v *listValue) Set(text string) error {
	list := []string{}
	if text != "" {
		var err error
		if list, err = csv.NewReader(strings.NewReader(text)).Read(); err != nil {
			return errors.New("want a list with commas, as a,b")
		}
	}
	if v.given {
		list = append(*v.p, list...)
	}
	*v.p, v.given = list, true
	return nil
}

func (v *listValue) Type() string   { return "stringSlice" }
func (v *listValue) String() string { return Join(*v.p) }

// Join makes of values the text that sets a list to them.
func Join(values []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Write(values) // to memory
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

// A Choice is one of a few words.
type Choice struct {
	Value string
	Words []string
}

func (c *Choice) Set(text string) error {
	if !slices.Contains(c.Words, text) {
		return fmt.Errorf("want one of %s", strings.Join(c.Words, ", "))
	}
	c.Value = text
	return nil
}

// Type lists short choices; of more the usage says which there are.
func (c *Choice) Type() string {
	if all := strings.Join(c.Words, "|"); len(all) <= 10 {
		return all
	}
	return "word"
}

func (c *Choice) String() string { return c.Value }

// A Size is a number of bytes: 1048576, 256MiB, 1.5GB.
type Size int64

func (v *Size) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	switch {
	case err == nil && n > math.MaxInt64, err != nil && strings.HasPrefix(err.Error(), "too large"):
		return errors.New("the size is too large: want less than 8EiB")
	case err != nil:
		return errors.New("want a number of bytes, or one with a unit, as in 256MiB")
	}
	*v = Size(n)
	return nil
}

func (v *Size) Type() string { return "size" }

// String is exact: a plan may keep it.
func (v *Size) String() string {
	units := []string{"", "KiB", "MiB", "GiB", "TiB"}
	n, unit := int64(*v), 0
	for ; n != 0 && n%1024 == 0 && unit < len(units)-1; unit++ {
		n /= 1024
	}
	return strconv.FormatInt(n, 10) + units[unit]
}

type maxSize struct {
	p    *int64
	most int64
}

// MaxSize is a limit in bytes, 1 or more; n by default.
func MaxSize(p *int64, n int64) Value { return MaxSizeTo(p, n, math.MaxInt64) }

// MaxSizeTo is a limit in bytes, from 1 to most; n by default.
func MaxSizeTo(p *int64, n, most int64) Value {
	*p = n
	return maxSize{p, most}
}

func (v maxSize) Set(text string) error {
	var n Size
	if err := n.Set(text); err != nil {
		return err
	}
	if n < 1 {
		return errors.New("a limit must be 1 byte or more")
	}
	if int64(n) > v.most {
		most := Size(v.most)
		return fmt.Errorf("it can be %s at most", &most)
	}
	*v.p = int64(n)
	return nil
}

func (v maxSize) Type() string   { return "size" }
func (v maxSize) String() string { return (*Size)(v.p).String() }

// Count is a whole number of 1 or more; n by default.
func Count[T int | int64](p *T, n T) Value {
	*p = n
	return AtLeast(p, 1)
}

// AtLeast is a whole number of least or more.
func AtLeast[T int | int64](p *T, least T) Value {
	return numberValue[T]{p, int64(least), math.MaxInt64}
}

// Between is a whole number from least to most; the current value is the default.
func Between[T int | int64](p *T, least, most T) Value {
	return numberValue[T]{p, int64(least), int64(most)}
}

type numberValue[T int | int64] struct {
	p           *T
	least, most int64 // inclusive; math.MaxInt64 means no upper limit
}

func (v numberValue[T]) Set(text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	fits := err == nil && n >= v.least && n <= v.most
	switch {
	case fits && int64(T(n)) == n:
		*v.p = T(n)
		return nil
	case v.most < math.MaxInt64:
		return fmt.Errorf("want a whole number from %d to %d", v.least, v.most)
	case fits, errors.Is(err, strconv.ErrRange) && n > 0: // does not fit in a T, or in 64 bits
		return errors.New("the number is too large")
	}
	return fmt.Errorf("want a whole number of %d or more", v.least)
}

func (v numberValue[T]) Type() string   { return "number" }
func (v numberValue[T]) String() string { return strconv.FormatInt(int64(*v.p), 10) }
