// Package stage makes inputs local, seekable and uncompressed.
//
//	names, err := input.Find(ctx, []string{"shards-{000..009}.tar.gz", "more/"}, opts.Options)
//	set, err := stage.Open(ctx, names, opts)
//	defer set.Release()
//	for _, f := range set.Parts { … } // f.Path can be opened, seeked, read twice
//
// [Open] detects compression by content. It uses an uncompressed local file in place. Everything else is
// copied, decompressed, to a cache directory, and all checksums of the compressed format are verified: compressed
// files, standard input, the output of commands, and objects, which are fetched first.
// A [Stager] does the same for a group of names at a time, which needs less room. Package cache
// describes the directory.
//
// The cache key of a copy is the SHA-256 of the path, size and modification time of its source,
// or of the URL, version, size and checksum of an object; and of its compression. A later run uses a
// complete copy unless the source has changed. Standard input, the output of a command, and
// an object without a version have a random key, because a later run cannot know whether the bytes
// are the same: their copies serve one run, as does the directory made of an [input.ObjectTree].
//
// The checksums of the blocks of a copy stay in memory after it is written (package checksum).
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
