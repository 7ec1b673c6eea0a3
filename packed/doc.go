// Package packed packs a directory tree into one FFRecord file and unpacks it. Python's
// ffrecord.PackedFolder reads the same files.
//
//	report, err := packed.Write(ctx, "images", "images.ffr", packed.WriteOptions{})
//
//	f, err := packed.Open("images.ffr", record.Options{})
//	defer f.Close()
//	data, err := f.ReadFile("train/cat.jpg")  // a Folder is an fs.FS
//	from, err := f.Extract(ctx, "copy", packed.ExtractOptions{}) // from: where the files were re-read from
//
// # Layout
//
// A packed folder with F files has F+1 samples. The last one has the names of the others:
//
//	sample    0        1               F-1      F
//	          ┌────────┬───────┬──────┬────────┬───────────┬──────────────────────────────┐
//	          │ file 0 │ file 1│  …   │file F-1│ piouhjgbr │ pickle of the names          │
//	          └────────┴───────┴──────┴────────┴───────────┴──────────────────────────────┘
//	                                            9 bytes     to the end
//	CRC       ╰─ one ──╯╰─ one ─╯      ╰─ one ─╯╰──────────────── one ───────────────────╯
//
//	pickle    collections.OrderedDict of name → index of the sample, or such a dict
//
// Directories, also empty and hidden ones, are dicts. The names in a directory are sorted by code
// point, files and directories together, and files are numbered in this order, depth first. Times,
// modes and links are not kept. The same tree always gives the same bytes.
//
// Write uses pickle protocol 4, which Python reads from 3.4 on. Open does not execute pickles: it accepts only the
// opcodes of such a tree, and the tree must name each sample exactly once, by names that are valid file names.
package packed
