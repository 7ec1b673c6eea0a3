package cliflag

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/ffconvert/ffconvert/internal/option"
)

// A shardSize is a target size in bytes. One below leastShard is a number whose unit was forgotten: --shard-size 1 makes a shard of each sample.
type shardSize int64

// leastShard is the least target size, bytes. FFRecord's rule is 256 MiB.
const leastShard = 64 << 10

func (v *shardSize) Set(text string) error {
	var n option.Size
	if err := n.Set(text); err != nil {
		return err
	}
	if n == 0 || n >= leastShard {
		*v = shardSize(n)
		return nil
	}
	if _, err := strconv.ParseInt(text, 10, 64); err != nil {
		return errors.New("want 64KiB or more")
	}
	unit := "MiB"
	if n <= 64 {
		unit = "GiB"
	}
	return fmt.Errorf("want 64KiB or more; did you mean %d%s?", n, unit)
}

func (v *shardSize) Type() string { return (*option.Size)(v).Type() }

func (v *shardSize) String() string { return (*option.Size)(v).String() }
