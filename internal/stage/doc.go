// Package stage makes inputs local, seekable and uncompressed.
//
//	names, err := input.Find(ctx, []string{"shards-{000..009}.tar.gz", "more/"}, opts.Options)
//	set, err := stage.Open(ctx, names, opts)
//	defer set.Release()
//	for _, f := range set.Parts { … } // f.Path can be opened, seeked, read twice
//
// [Open] tells compression by content. A file that is not compressed is used where it is. Anything else is
// decompressed into a cache directory, and its checksums are verified to the last byte: compressed
// files, standard input, the output of commands, and objects, which are fetched first.
// A [Stager] does the same for a group of names at a time, which needs less room. Package cache
// describes the directory.
//
// A copy is kept under the identity of its source: SHA-256 of its path, size and modification time,
// or of an object's name, version, size and checksum; and of its compression. The next run finds a
// complete copy, unless the source has changed since. Standard input, the output of a command, and
// an object without a version have a random identity, because a later run cannot tell whether the bytes
// are the same: their copies serve one run. So does the directory made of an [input.ObjectTree].
//
// The checksums of a copy's blocks are kept in memory from when it was written (package blocksum).
// A caller reads the copy through [converters.Part.Open], which compares them.
//
// Magic bytes of compressed files, at offset 0:
//
//	1f 8b                               gzip, any number of members
//	28 b5 2f fd                         zstd, any number of frames;
//	5x 2a 4d 18 <u32 LE size>           skippable frames before them
//	"BZh" '1'..'9' 31 41 59 26 53 59    bzip2 with a block; 17 72 45 38 50 90 without
//	fd "7zXZ" 00                        xz, any number of streams
package stage
