// Package packed puts a directory tree into one FFRecord file and takes it out again. The
// file is what ffrecord.PackedFolder of Python opens.
//
//	report, err := packed.Write(ctx, "images", "images.ffr", packed.WriteOptions{})
//
//	f, err := packed.Open("images.ffr", record.Options{})
//	defer f.Close()
//	data, err := f.ReadFile("train/cat.jpg")  // a Folder is an fs.FS
//	from, err := f.Extract(ctx, "copy", packed.ExtractOptions{})
//
// # Layout
//
// A file of F files has F+1 samples. The last one names the others:
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
// Directories are dicts, empty ones and hidden ones too. A directory's names are sorted by
// code point, files and directories mixed, and files are numbered as they then come, depth
// first. Nothing else is kept: no times, no modes, no links. The same tree gives the same bytes.
//
// The pickle that is written is of protocol 4, which Python reads from 3.4 on. No pickle is
// ever executed: of one that is read, only the opcodes of such a tree are known, and the tree
// must name each sample exactly once, by names that are safe to make files of.
package packed
