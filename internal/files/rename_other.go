//go:build !linux

package files

import "os"

func renameNew(root *os.Root, from, to string) error { return renameByLink(root, from, to) }

func renameOver(root *os.Root, from, to string) error { return root.Rename(from, to) }
