// Package record reads, writes and checks FFRecord files: shards of samples, each with a CRC-32.
//
// A [Writer] needs the number of samples first and writes the 12-byte head last. A [Reader] opens a file, or all files
// of a directory as one sequence, and reads samples one by one or in batches. A scanner, of [NewScanner], checks a
// whole file that the caller passes block by block, without holding the payload. Reader and scanner refuse the same
// files.
//
//	w, err := record.NewWriter(file, 2)
//	w.Append([]byte("hello"))                 // one sample
//	w.Append([]byte("wor"), []byte("ld"))     // one sample given in two pieces
//	summary, err := w.Close()                 // then sync, close and rename the file
//
// # Layout
//
// All numbers are little-endian. N is the number of samples, T = 12 + 12·N.
//
//	          0        4                12              12+4N            T                 EOF
//	          ┌────────┬────────────────┬───────────────┬────────────────┬─────────────────┐
//	          │checksum│       N        │   checksums   │    offsets     │     samples     │
//	          │  u32   │      i64       │    u32 × N    │    i64 × N     │  back to back   │
//	          └────────┴────────────────┴───────────────┴────────────────┴─────────────────┘
//	          ╰──head: 12 bytes─────────╯
//	header CRC         ╰────────────────── bytes 4 to T ─────────────────╯
//	sample CRCs                                                          ╰─one per sample──╯
//
//	checksum      CRC-32 of N, checksums and offsets, that is of bytes 4 to T
//	checksums[i]  CRC-32 of sample i; 0 when it is empty
//	offsets[i]    absolute position of sample i; offsets[0] = T, never decreasing
//
// Sample i ends where sample i+1 starts, the last one at the end of the file. CRC-32 uses the IEEE polynomial, as zlib
// does. Exactly one CRC covers each byte but the first four, which are the header CRC. The format is defined by
// HFAiLab/ffrecord 1.4.0; docs/format.md has an example in hexadecimal and lists the files that are refused.
package record
