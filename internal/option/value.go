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

// A value is a setting that parse reads and show writes.
type value[T any] struct {
	p     *T
	typ   string
	parse func(text string) (T, error)
	show  func(T) string
}

func (v value[T]) Set(text string) error {
	parsed, err := v.parse(text)
	if err == nil {
		*v.p = parsed
	}
	return err
}

func (v value[T]) Type() string   { return v.typ }
func (v value[T]) String() string { return v.show(*v.p) }

// Bool is true or false.
func Bool(p *bool) Value {
	parse := func(text string) (bool, error) {
		b, err := strconv.ParseBool(text)
		if err != nil {
			err = errors.New("want true or false")
		}
		return b, err
	}
	return value[bool]{p, "bool", parse, strconv.FormatBool}
}

// Text is any text.
func Text(p *string) Value {
	return value[string]{p, "string", func(text string) (string, error) { return text, nil }, func(text string) string { return text }}
}

// List is several texts with commas between them, a line of CSV. The first Set replaces the default, others append.
func List(p *[]string) Value {
	given := false
	parse := func(text string) (list []string, err error) {
		if text != "" {
			if list, err = csv.NewReader(strings.NewReader(text)).Read(); err != nil {
				return nil, errors.New("want a list with commas, as a,b")
			}
		}
		if given {
			list = append(*p, list...)
		}
		given = true
		return append([]string{}, list...), nil
	}
	return value[[]string]{p, listType, parse, Join}
}

// listType is the type of a list.
const listType = "stringSlice"

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

// MaxSize is a limit in bytes, 1 or more; n by default.
func MaxSize(p *int64, n int64) Value { return MaxSizeTo(p, n, math.MaxInt64) }

// MaxSizeTo is a limit in bytes, from 1 to most; n by default.
func MaxSizeTo(p *int64, n, most int64) Value {
	*p = n
	parse := func(text string) (int64, error) {
		var n Size
		err := n.Set(text)
		switch {
		case err == nil && n < 1:
			err = errors.New("a limit must be 1 byte or more")
		case err == nil && int64(n) > most:
			err = fmt.Errorf("it can be %s at most", (*Size)(&most))
		}
		return int64(n), err
	}
	return value[int64]{p, "size", parse, func(n int64) string { return (*Size)(&n).String() }}
}

// Count is a whole number of 1 or more; n by default.
func Count[T int | int64](p *T, n T) Value {
	*p = n
	return AtLeast(p, 1)
}

// AtLeast is a whole number of least or more.
func AtLeast[T int | int64](p *T, least T) Value { return number(p, int64(least), math.MaxInt64) }

// Between is a whole number from least to most; the current value is the default.
func Between[T int | int64](p *T, least, most T) Value { return number(p, int64(least), int64(most)) }

// number is a whole number from least to most; math.MaxInt64 means no upper limit.
func number[T int | int64](p *T, least, most int64) Value {
	parse := func(text string) (T, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		fits := err == nil && n >= least && n <= most
		switch {
		case fits && int64(T(n)) == n:
			return T(n), nil
		case most < math.MaxInt64:
			return 0, fmt.Errorf("want a whole number from %d to %d", least, most)
		case fits, errors.Is(err, strconv.ErrRange) && n > 0: // does not fit in a T, or in 64 bits
			return 0, errors.New("the number is too large")
		}
		return 0, fmt.Errorf("want a whole number of %d or more", least)
	}
	return value[T]{p, "number", parse, func(n T) string { return strconv.FormatInt(int64(n), 10) }}
}
