// Package export converts FFRecord shards to WebDataset tars, to a folder of files, or to a stream of samples for
// another program.
//
//	done, err := export.Tars(ctx, src, "out/train-%06d.tar", export.Options{})
//	done, err := export.Folder(ctx, src, "images", export.Options{})
//	err := export.Stream(ctx, os.Stdout, src, "jsonl", export.Options{})
//
// In tars and folders each field is a file:
//
//	bytes, text     unchanged; text is UTF-8
//	integer         in decimal ASCII: 17
//	float           the shortest decimal form that reads back as the same float64, with a point or an exponent: 1.0
//	list, map       JSON; in a field with the suffix mp, msgpack or cbor that format
//	true, false, null
//	                JSON
//
// The bytes of a tar depend only on the samples and the options. Its members have ustar headers, and a PAX header if
// ustar cannot hold a name or a size. Each has
//
//	name    KEY.FIELD       mode  0444      uid, gid  0, without names
//	mtime   Options.ModTime, 0 by default
//
// and the tar ends with at least two blocks of zeros, at a multiple of 10,240 bytes.
package export
