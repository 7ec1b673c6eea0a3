package aio

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openDirect opens a file with O_DIRECT and returns the alignment of reads. If the system refuses
// O_DIRECT the file is nil and why is the reason.
func openDirect(open func(flag int) (*os.File, error)) (f *os.File, align int, why string, err error) {
	f, err = open(os.O_RDONLY | unix.O_DIRECT)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil, 0, "the file system refuses O_DIRECT", nil
	}
	if err != nil {
		return nil, 0, "", err
	}
	align, why = dioAlign(int(f.Fd()))
	if why != "" {
		f.Close()
		return nil, 0, why, nil
	}
	return f, align, "", nil
}

// SetDirect turns O_DIRECT of an open file on or off, for every read and write through this descriptor or a
// duplicate of it. The error is that of the kernel, unwrapped.
func SetDirect(f *os.File, on bool) error {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	flags &^= unix.O_DIRECT
	if on {
		flags |= unix.O_DIRECT
	}
	_, err = unix.FcntlInt(f.Fd(), unix.F_SETFL, flags)
	return err
}

// asDirect returns a File that reads f past the page cache through the same descriptor, since descriptors may be
// scarce. O_DIRECT is on. The caller turns it off to read f through the page cache, and closes f, not the File.
func asDirect(f *os.File) (*File, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	d := &File{path: f.Name(), os: f, fd: int(f.Fd()), size: st.Size(), both: true}
	if err := d.setDirect(true); err != nil {
		return nil, err
	}
	var why string
	if d.align, why = dioAlign(d.fd); why != "" {
		return nil, errors.Join(errors.New(why), d.setDirect(false))
	}
	return d, nil
}

// dioAlign returns the alignment of offsets, lengths and addresses for O_DIRECT on fd. If direct
// reads are not possible, why is the reason.
func dioAlign(fd int) (align int, why string) {
	var stx unix.Statx_t
	err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN, &stx)
	if err != nil || stx.Mask&unix.STATX_DIOALIGN == 0 {
		// Linux before 6.1, and many file systems, do not report it. Some accept the flag at open
		// and refuse every read, so try one.
		if err := probeDirect(fd); err != nil {
			return 0, fmt.Sprintf("a read with O_DIRECT was refused: %v", err)
		}
		return pageSize, ""
	}
	return checkAlign(stx.Dio_mem_align, stx.Dio_offset_align)
}

func checkAlign(mem, off uint32) (align int, why string) {
	n := max(mem, off)
	switch {
	case mem == 0 || off == 0:
		return 0, "the file does not support O_DIRECT"
	case n&(n-1) != 0 || n > pageSize:
		return 0, fmt.Sprintf("O_DIRECT wants an alignment of %d bytes", n)
	}
	return int(n), ""
}

// probeDirect reads the first page. It returns only EINVAL and EOPNOTSUPP, which mean that O_DIRECT
// is refused. Any other error occurs again in the read of a caller, which reports it with its offset.
func probeDirect(fd int) error {
	buf, err := Alloc(pageSize)
	if err != nil {
		return nil
	}
	defer Free(buf)
	_, err = unix.Pread(fd, buf, 0)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOPNOTSUPP) {
		return err
	}
	return nil
}
