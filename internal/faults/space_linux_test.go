package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// onSmallDisk runs in a mount namespace of its own, so that nothing stays mounted: a
// conversion on a file system of so many KiB, then again on one that has grown. What is
// there after each run is copied out. $1 is a directory, $2 the size, $3 the target below the mount; the rest is the
// program.
const onSmallDisk = `
dir=$1; size=$2; target=$3; shift 3
mount -t tmpfs -o size=${size}k none "$dir/disk" || exit 99
"$@" "$dir/disk/$target" 2>"$dir/stderr"; echo $? >"$dir/code"
cp -R "$dir/disk" "$dir/then" || exit 99
mount -t tmpfs -o remount,size=1g none "$dir/disk" || exit 99
"$@" "$dir/disk/$target" || exit $?
cp -R "$dir/disk" "$dir/now" || exit 99
umount "$dir/disk"
`

// unshared returns what runs a shell script in a namespace where it may mount.
func unshared() []string {
	if os.Geteuid() == 0 {
		return []string{"unshare", "-m", "sh", "-c"}
	}
	return []string{"unshare", "-rm", "sh", "-c"}
}

// TestFaultC2 converts, and exports, onto file systems that are too small.
func TestFaultC2(t *testing.T) {
	slow(t)
	t.Parallel()
	need.Tools(t, "unshare", "mount")
	want, err := reference()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := execute("unshare", append(unshared()[1:], "mount -t tmpfs none /mnt")...); err != nil || r.code != 0 {
		need.Missing(t, "no tmpfs: ", r, err)
	}
	usual := conversion{args: func(out string) []string { return convert(out) }, want: want}
	t.Logf("C2 %s", filled(t, usual, cases(256, 16)))
	for _, c := range exports(t) {
		t.Logf("C2 [%s] %s", c.name, filled(t, c, cases(64, 4)))
	}
}

// filled runs a conversion on n file systems, from one of 64 KiB to one on which all fits.
func filled(t *testing.T, c conversion, n int) string {
	t.Helper()
	finals, all := 0, 0
	for name, data := range c.want {
		if final(name) {
			finals += len(data)
		}
		all += len(data)
	}
	all += max(all/10, 64<<10) // for what is rounded up to pages, so that the last of them fit
	const least = 64 << 10
	var refused atomic.Int64
	sum := each(t, spread(n, n), func(i int, dir string) error {
		size := least + (all-least)/(n-1)*i
		if err := os.Mkdir(filepath.Join(dir, "disk"), 0o755); err != nil {
			return err
		}
		without := c.args("")
		target := filepath.Join("out", without[len(without)-1])
		args := append(unshared(), onSmallDisk, "sh", dir, strconv.Itoa(size>>10), target, program())
		r, err := execute(args[0], append(args[1:], without[:len(without)-1]...)...)
		if err != nil || r.code != 0 {
			return fmt.Errorf("%d bytes: grown: %v, %v", size, r, err)
		}
		then := result{}
		code, err1 := os.ReadFile(filepath.Join(dir, "code"))
		stderr, err2 := os.ReadFile(filepath.Join(dir, "stderr"))
		then.code, err = strconv.Atoi(strings.TrimSpace(string(code)))
		then.stderr = string(stderr)
		if err := errors.Join(err, err1, err2); err != nil {
			return err
		}
		switch {
		case then.code == 0 && size < finals:
			err = errors.New("all fits where it cannot")
		case then.code == 0:
			err = sameAs(filepath.Join(dir, "then", "out"), c.want)
		default:
			refused.Add(1)
			if err = then.clean(4); err == nil && !strings.Contains(then.stderr, "no space left on device") {
				err = fmt.Errorf("%v; want it to speak of space", then)
			}
			if err == nil {
				err = c.sound(filepath.Join(dir, "then", "out"))
			}
		}
		if err == nil {
			err = sameAs(filepath.Join(dir, "now", "out"), c.want)
		}
		if err != nil {
			return fmt.Errorf("%d bytes: %w", size, err)
		}
		return nil
	})
	return fmt.Sprintf("%v too_small=%d", sum, refused.Load())
}
