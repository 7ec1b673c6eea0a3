// Package files opens, reads and replaces files of any file system, also where that is a network or FUSE.
//
//	f, err := files.Open(path)                                  // does not wait at a named pipe
//	f, err := files.Blocking(root.OpenFile(name, os.O_RDWR, 0)) // EAGAIN is an error of its calls
//
//	t, err := files.Create(root, ".tool/tmp/report.tmp") // complete under its name, or not there
//	…write to t…
//	err = t.Sync()
//	err = t.Commit("report.json") // renamed
//	err = files.SyncDir(root, ".") // the name is durable
//
//	a := files.ReadAhead(src, 0, n, nil) // many small files: several reads at once, results in order
//	defer a.Stop()
//	data, err := a.Next(0) // valid until the next call
//
//	was := files.PinOf("etag", "9a0364b9", "version", "3") // the state of a file or object
//	how, other := was.Differs(now)
//
// Names given with an [os.Root] are relative to it and cannot leave it.
package files
