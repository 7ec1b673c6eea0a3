//go:build !linux

package files

func renameNew(f *Temp, name string) error { return renameByLink(f, name) }

func renameOver(f *Temp, name string) error { return f.To.Rename(f.From, name) }
