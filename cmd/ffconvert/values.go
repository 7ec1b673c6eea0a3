package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// A number is a flag value: a whole number from least to most.
type number struct {
	p           *int
	least, most int
}

func (v number) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < v.least || n > v.most {
		return fmt.Errorf("want a whole number from %d to %d", v.least, v.most)
	}
	*v.p = n
	return nil
}

func (v number) Type() string   { return "number" }
func (v number) String() string { return strconv.Itoa(*v.p) }

// A period is a flag value: a time of 0 or more, or above 0.
type period struct {
	p     *time.Duration
	above bool // 0 is refused
}

func (v period) Set(text string) error {
	d, err := time.ParseDuration(text)
	switch {
	case err == nil && (d > 0 || d == 0 && !v.above):
		*v.p = d
		return nil
	case v.above:
		return errors.New("want a time above 0 with a unit, as in 90s or 15m")
	}
	return errors.New("want a time of 0 or more with a unit, as in 90s or 15m")
}

func (v period) Type() string { return "duration" }

func (v period) String() string {
	if *v.p == 0 {
		return "0" // pflag prints no default for it
	}
	return v.p.String()
}

// queueDepth returns the flag value of --queue-depth. The kernel accepts at most 1024 reads.
func queueDepth(p *int) number { return number{p, 1, 1024} }
