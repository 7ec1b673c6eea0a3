// Package record reads, writes and checks FFRecord files: shards of samples, each under a CRC-32.
//
// A [Writer] is told the number of samples first and writes the twelve-byte head last. A [Reader]
// opens one file or a directory of them as one sequence, and reads samples one by one or in batches
// of many at once. A [Scanner] checks a whole file that is handed to it block by block, and never
// holds the payload. Both obey one set of rules.
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
//	sample CRCs                                                          ╰─ one a sample ──╯
//
//	checksum      CRC-32 of N, checksums and offsets, that is of bytes 4 to T
//	checksums[i]  CRC-32 of sample i; 0 when it is empty
//	offsets[i]    absolute position of sample i; offsets[0] = T, never decreasing
//
// Sample i ends where the next one starts, the last one at the end of the file. CRC-32 is the IEEE
// polynomial, as in zlib. So each byte is under exactly one CRC, save the checksum itself, which is
// compared. The format is that of HFAiLab/ffrecord 1.4.0; docs/format.md has an example in
// hexadecimal and the list of what is refused.
package record
