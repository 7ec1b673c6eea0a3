package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// writeArchive writes base.zip for Windows, else base.tar.gz: the files in a directory of that name,
// sorted, of root, with the time of the commit.
func (r *release) writeArchive(base string, t target, files []file) error {
	top := filepath.Base(base) + "/"
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	var b bytes.Buffer
	if t.os == "windows" {
		if err := writeZip(&b, top, files, r.source.time); err != nil {
			return err
		}
		return os.WriteFile(base+".zip", b.Bytes(), 0o644)
	}
	if err := writeTar(&b, top, files, r.source.time); err != nil {
		return err
	}
	packed, err := compressed(b.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(base+".tar.gz", packed, 0o644)
}

func writeTar(b *bytes.Buffer, top string, files []file, at time.Time) error {
	w := tar.NewWriter(b)
	for _, f := range files {
		h := &tar.Header{Format: tar.FormatUSTAR, Typeflag: tar.TypeReg, Name: top + f.name, Size: int64(len(f.data)), Mode: int64(f.mode), ModTime: at, Uname: "root", Gname: "root"}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	return w.Close()
}

func writeZip(b *bytes.Buffer, top string, files []file, at time.Time) error {
	w := zip.NewWriter(b)
	for _, f := range files {
		h := &zip.FileHeader{Name: top + f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		to, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := to.Write(f.data); err != nil {
			return err
		}
	}
	return w.Close()
}

// writeSums writes SHA256SUMS of all files of dir, as sha256sum --check reads it.
func writeSums(dir string) error {
	var b bytes.Buffer
	var names []string
	for _, pattern := range []string{"ffconvert_*", "ffconvert-*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), filepath.Base(name))
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), b.Bytes(), 0o644)
}
