package heads

import (
	"fmt"
	"strconv"
)

// AppendArray appends the head of an array file of numpy, of at most 1,000 axes. descr is numpy's name of the type,
// with its byte order.
//
//	93 'NUMPY' 1 0, length of the rest u16 little-endian, a Python dict, blanks and a newline up to a multiple of 64 bytes
//
// (numpy.lib.format, version 1.0).
func AppendArray(b []byte, descr string, shape []int64) []byte {
	const fixed = 10
	from := len(b)
	b = append(b, "\x93NUMPY\x01\x00\x00\x00"...)
	b = fmt.Appendf(b, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr)
	for i, n := range shape {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, n, 10)
		if i == 0 || i < len(shape)-1 {
			b = append(b, ',')
		}
	}
	b = append(b, "), }"...)
	for (len(b)-from+1)%64 != 0 {
		b = append(b, ' ')
	}
	b = append(b, '\n')
	n := len(b) - from - fixed
	b[from+8], b[from+9] = byte(n), byte(n>>8)
	return b
}
