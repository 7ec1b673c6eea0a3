// Package checksum finds bytes of files that differ from the bytes that were written.
//
// Lines of plans, journals and indexes of tasks have a checksum each. A line is the CRC-32 of a text in eight hexadecimal
// digits, a space, and the text, which is JSON:
//
//	line, err := checksum.Line(v)         // to be written
//	text, ok := checksum.CheckLine(line)  // as it was read
//	err = checksum.Decode(text, &v)
//
// Blocks of a staged copy have checksums in memory. A [Recorder] computes them as the file is written. [Sums.Check] compares
// every block that is read, before it returns the bytes:
//
//	rec.Wrote(p, off)               // after each write
//	sums, err := rec.Sums(size, f)  // after the last write
//	r := sums.Check(f)              // r.ReadAt fails if f has other bytes
package checksum
