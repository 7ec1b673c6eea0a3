package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A file is one of a release's archives and packages.
type file struct {
	name string // with slashes, below the top directory
	data []byte
	mode os.FileMode
}

// completions are the files that shells look for.
var completions = []struct{ shell, name string }{
	{"bash", "completions/ffconvert.bash"},
	{"zsh", "completions/_ffconvert"},
	{"fish", "completions/ffconvert.fish"},
	{"powershell", "completions/ffconvert.ps1"},
}

// commonFiles returns the files that are the same for all systems, sorted: documents, manual pages and
// completions. The program of this machine writes the last two.
func (r *release) commonFiles(program, work string) (files []file, err error) {
	for _, name := range []string{"CHANGELOG.md", "LICENSE", "README.md"} {
		data, err := os.ReadFile(filepath.Join(r.source.dir, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, data, 0o644})
	}
	env := []string{fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.source.time.Unix()), "TZ=UTC", "LC_ALL=C"}
	for _, c := range completions {
		script, err := outputWith(env, work, program, "completion", c.shell)
		if err != nil {
			return nil, err
		}
		files = append(files, file{c.name, []byte(script + "\n"), 0o644})
	}
	said, err := outputWith(env, work, program, "version")
	if err == nil && !strings.HasPrefix(said, fmt.Sprintf("ffconvert %s (%.12s) ", r.version, r.source.commit)) {
		err = fmt.Errorf("%s version says %q; want %s and commit %.12s", program, said, r.version, r.source.commit)
	}
	if err == nil {
		_, err = outputWith(env, work, program, "man", "man")
	}
	if err != nil {
		return nil, err
	}
	pages, err := filepath.Glob(filepath.Join(work, "man", "*.1"))
	if err != nil || len(pages) == 0 {
		return nil, fmt.Errorf("%s: %d manual pages: %w", work, len(pages), err)
	}
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"man/man1/" + filepath.Base(page), data, 0o644})
	}
	return files, nil
}

// compressed returns data as a gzip file without a name and a time.
func compressed(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}
