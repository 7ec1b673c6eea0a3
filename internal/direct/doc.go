// Package direct writes files from aligned blocks, asynchronously and past the page cache.
//
//	blocks, err := direct.NewBlocks(record.WriterBuffers + 1)
//	defer blocks.Free()
//	err = direct.Reserve(f, size)
//	out := direct.NewWriter(direct.NewFile(f), blocks.Empty)
//	defer out.Close()
//	w, err := record.NewWriter(out, samples) // a Writer is a record.BufferSwapper
//	…
//	err = out.Close() // the error of the first write that failed; then sync f
package direct
