// Package export takes a dataset out of FFRecord shards again: to WebDataset tars, to a folder of files, or as a
// stream of samples to another program.
//
//	done, err := export.Tars(ctx, src, "out/train-%06d.tar", export.Options{})
//	done, err := export.Folder(ctx, src, "images", export.Options{})
//	err := export.Stream(ctx, os.Stdout, src, "jsonl", export.Options{})
//
// A field in a tar or in a folder is a file:
//
//	bytes, text     unchanged; text is UTF-8
//	integer         in decimal ASCII: 17
//	float           the shortest decimal form that reads back as the same float64, with a point or an exponent: 1.0
//	list, map       JSON; in a field whose suffix is mp, msgpack or cbor in that format
//	true, false, null
//	                JSON
//
// A tar depends on the samples and the options alone, to the byte. Its members are in ustar, with a PAX header where
// ustar cannot hold a name or a size. Each has
//
//	name    KEY.FIELD       mode  0444      uid, gid  0, without names
//	mtime   Options.ModTime, 0 by default
//
// and the tar ends with zeros, at least two blocks, in a multiple of 10,240 bytes.
package export
