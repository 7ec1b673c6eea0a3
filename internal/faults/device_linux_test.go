package faults

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A device is a file system in an image, mounted by a loop device.
type device struct {
	name   string // in the table
	image  string
	dir    string // where the test writes
	proven bool   // reports say that they read from the device
}

// diskTypes are the file systems of row H3, and what makes one in an image of diskSize bytes.
var diskTypes = []struct {
	name   string
	mkfs   []string
	mount  string // options
	proven bool
}{
	{"ext4", []string{"mkfs.ext4", "-q", "-F"}, "loop", true},
	{"xfs", []string{"mkfs.xfs", "-q", "-f"}, "loop", true},
	{"btrfs", []string{"mkfs.btrfs", "-q", "-f"}, "loop", true},
	{"btrfs-nodatasum", []string{"mkfs.btrfs", "-q", "-f"}, "loop,nodatasum", true},
	{"overlay", []string{"mkfs.xfs", "-q", "-f"}, "loop", false},
}

const diskSize = 400 << 20 // XFS wants 300 MiB

// mountDisk mounts a file system until the test ends.
func mountDisk(t *testing.T, i int) device {
	t.Helper()
	kind, dir := diskTypes[i], own(t)
	d := device{name: kind.name, image: filepath.Join(dir, "image"), dir: filepath.Join(dir, "mounted"), proven: kind.proven}
	must := func(name string, args ...string) {
		t.Helper()
		if r, err := execute(name, args...); err != nil || r.code != 0 {
			t.Fatal(name, args, r, err)
		}
	}
	mount := func(at string, args ...string) {
		t.Helper()
		if r, err := execute("mount", append(args, at)...); err != nil || r.code != 0 {
			t.Skip("it may not be mounted here: ", r, err)
		}
		t.Cleanup(func() { must("umount", at) }) // which detaches the loop device, too
	}
	if err := errors.Join(os.Mkdir(d.dir, 0o755), os.WriteFile(d.image, nil, 0o644), os.Truncate(d.image, diskSize)); err != nil {
		t.Fatal(err)
	}
	must(kind.mkfs[0], append(kind.mkfs[1:], d.image)...)
	mount(d.dir, "-o", kind.mount, d.image)
	if d.name != "overlay" {
		return d
	}
	below, upper := d.dir, filepath.Join(d.dir, "upper")
	d.dir = filepath.Join(dir, "merged")
	if err := errors.Join(os.Mkdir(upper, 0o755), os.Mkdir(filepath.Join(below, "work"), 0o755), os.Mkdir(filepath.Join(dir, "lower"), 0o755), os.Mkdir(d.dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	mount(d.dir, "-t", "overlay", "-o", fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", filepath.Join(dir, "lower"), upper, filepath.Join(below, "work")), "overlay")
	return d
}

// damage flips a bit of a file in the image, below the file system, with all of the file in the page
// cache. Which byte depends on i.
func (d *device) damage(file string, i int) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Syncfs(int(f.Fd())); err != nil {
		return err
	}
	data, err := io.ReadAll(f) // now it is cached
	if err != nil {
		return err
	}
	const known = 64 // bytes that are nowhere else: samples are noise
	at := len(data)/2 + i*997%(len(data)/2-known)
	image, err := os.OpenFile(d.image, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer image.Close()
	places, err := find(image, data[at:][:known])
	if err == nil && len(places) == 0 {
		err = errors.New("it is not in the image")
	}
	for _, off := range places {
		_, err2 := image.WriteAt([]byte{data[at] ^ 1<<(i%8)}, off)
		err = errors.Join(err, err2)
	}
	if err = errors.Join(err, image.Sync()); err != nil {
		return fmt.Errorf("byte %d of %s: %w", at, file, err)
	}
	return nil
}

// find returns where bytes are in a file with holes: also where they were in one that was removed.
func find(f *os.File, want []byte) (places []int64, err error) {
	const step = 4 << 20
	buf := make([]byte, step+len(want)-1)
	for next := int64(0); ; next += step {
		if next, err = unix.Seek(int(f.Fd()), next, unix.SEEK_DATA); errors.Is(err, unix.ENXIO) {
			return places, nil
		} else if err != nil {
			return nil, err
		}
		n, err := f.ReadAt(buf, next)
		if err != nil && err != io.EOF {
			return nil, err
		}
		for from := 0; ; from++ {
			i := bytes.Index(buf[from:n], want)
			if i < 0 {
				break
			}
			from += i
			places = append(places, next+int64(from))
		}
	}
}

// TestFaultH3 changes a byte on the device below a file system, while the page cache has the file
// as it was: before verify, and before a conversion re-reads a shard that it has synced.
func TestFaultH3(t *testing.T) {
	slow(t)
	if os.Geteuid() != 0 {
		t.Skip("only root may mount an image")
	}
	need.Tools(t, "mount", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs")
	want, err := reference()
	if err != nil {
		t.Fatal(err)
	}
	for i := range diskTypes {
		d := mountDisk(t, i)
		n := cases(20, 2)
		sum := atOnce(t, 1, spread(n, n), func(i int, _ string) error {
			out := filepath.Join(d.dir, fmt.Sprint("verify", i))
			defer os.RemoveAll(out)
			if err := os.CopyFS(out, os.DirFS(filepath.Join(base, "reference"))); err != nil {
				return err
			}
			return d.verify(out, i)
		})
		sum = sum.plus(atOnce(t, 1, spread(n, n), func(i int, _ string) error {
			out := filepath.Join(d.dir, fmt.Sprint("convert", i))
			defer os.RemoveAll(out)
			return d.convert(out, want, i)
		}))
		t.Logf("H3 [%s] %v", d.name, sum)
	}
}

// verify damages a shard of a dataset, and verifies it before and after.
func (d *device) verify(out string, i int) error {
	shard := fmt.Sprintf("PART_%05d.ffr", i%3)
	rep, err := verifyReport(nil, out)
	if err == nil && (rep["sound"] != true || (rep["read_from"] == "device") != d.proven) {
		err = fmt.Errorf("sound is %v, read from %v", rep["sound"], rep["read_from"])
	}
	if err == nil {
		err = d.damage(filepath.Join(out, shard), i)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	r, err := run("verify", "--format", "json", "--progress", "none", out)
	switch {
	case err != nil:
		return err
	case r.code == 0 && strings.Contains(r.stdout, `"device"`):
		return fmt.Errorf("%s: %w as sound from the device: %s", d.name, errBad, r.stdout)
	case r.code != 0 && !strings.Contains(r.stdout, shard):
		return fmt.Errorf("%s: %v does not name %s", d.name, r, shard)
	}
	return nil
}

// convert converts, and damages one shard between its sync and its re-reading.
func (d *device) convert(out string, want tree, i int) error {
	var done bool
	var failed error
	shard := fmt.Sprintf("PART_%05d.ffr", i%3)
	strike := func(c *call) verdict {
		const reading = unix.O_DIRECT // and O_RDONLY, which is 0
		if done || failed != nil || c.args[2]&(unix.O_ACCMODE|unix.O_DIRECT) != reading || !strings.HasPrefix(c.path(), out) {
			return verdict{}
		}
		if path := c.path(); strings.Contains(filepath.Base(path), shard) {
			done = true
			failed = d.damage(path, i)
		}
		return verdict{}
	}
	args := convert(out, "--progress", "json")
	r, err := supervise([]string{"openat"}, strike, args...)
	if err == nil {
		err = failed
	}
	if err == nil && !done {
		err = fmt.Errorf("%s is never re-read: %v", shard, r)
	}
	switch {
	case err != nil:
	case r.code == 0 && strings.Contains(r.stderr, `"device"`):
		err = fmt.Errorf("%w as verified from the device: %s", errBad, r.stderr)
	case r.code == 0: // not found, and not proven
	default:
		if err = sound(out, want); err == nil && !strings.Contains(r.stderr, shard) {
			err = fmt.Errorf("%v does not name %s", r, shard)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: conversion: %w", d.name, err)
	}
	return nil
}

// What a FUSE server gives is not called the device.
func TestFuseIsNotTheDevice(t *testing.T) {
	slow(t)
	t.Parallel()
	need.Tools(t, "bindfs", "fusermount3")
	dir := own(t)
	from, at := filepath.Join(dir, "from"), filepath.Join(dir, "at")
	if err := errors.Join(os.Mkdir(from, 0o755), os.Mkdir(at, 0o755)); err != nil {
		t.Fatal(err)
	}
	if r, err := execute("bindfs", from, at); err != nil || r.code != 0 {
		t.Skip("no FUSE: ", r, err)
	}
	t.Cleanup(func() {
		if r, err := execute("fusermount3", "-u", at); err != nil || r.code != 0 {
			t.Error(r, err)
		}
	})
	out := filepath.Join(at, "out")
	args := convert(out)
	args[slices.Index(args, "none")] = "plain"
	r, err := run(args...)
	if err != nil || r.code != 0 || !strings.Contains(r.stderr, "as fuse serves it") || strings.Contains(r.stderr, "from the device") {
		t.Error(r, err)
	}
	r, err = run("verify", out)
	if err != nil || r.code != 0 || !strings.Contains(r.stdout, "as fuse serves it") || strings.Contains(r.stdout, "from the device") {
		t.Error(r, r.stdout, err)
	}
	// syncfs does nothing there: each file is synced.
	tree, packed := filepath.Join(from, "tree"), filepath.Join(dir, "tree.ffr")
	if err := os.CopyFS(tree, os.DirFS(filepath.Dir(sources[0]))); err != nil {
		t.Fatal(err)
	}
	if r, err := run("pack", tree, packed); err != nil || r.code != 0 {
		t.Fatal(r, err)
	}
	synced := make(map[string]bool)
	r, err = supervise([]string{"fsync"}, func(c *call) verdict {
		synced[filepath.Base(c.path())] = true
		return verdict{}
	}, "unpack", packed, filepath.Join(at, "copy"))
	if err != nil || r.code != 0 || !strings.Contains(r.stderr, "verified as fuse serves it") {
		t.Error(r, err)
	}
	for _, name := range sources {
		if !synced[filepath.Base(name)] {
			t.Errorf("%s is not synced: %v", filepath.Base(name), synced)
		}
	}
	manifest, err := os.ReadFile(filepath.Join(out, "manifest.json"))
	if err != nil || !bytes.Contains(manifest, []byte(`"verified_from": "fuse"`)) {
		t.Errorf("%s %v", manifest, err)
	}
}
