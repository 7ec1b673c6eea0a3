package format

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/text"
)

const defaultMaxClasses = 64 << 20 // bytes; a million names have some 20 MB

// readClasses reads the names of classes, in numerical order.
func readClasses(name string, most int64) ([]string, error) {
	f, err := openNamed(name, "classes")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, min(most, math.MaxInt64-1)+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, &converters.Error{Where: name, Off: -1, Err: fmt.Errorf("%w: it has more than %s", converters.ErrLimit, text.Count(most, "byte")), Hint: "option max-classes-size"}
	}
	if !utf8.Valid(data) {
		return nil, &converters.Error{Where: name, Off: -1, Err: fmt.Errorf("%w: it is not UTF-8", converters.ErrMalformed), Hint: "save it as UTF-8"}
	}
	if filepath.Ext(name) != ".json" {
		text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\ufeff"), "\r\n", "\n")
		lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
		if i := slices.Index(lines, ""); i >= 0 {
			return nil, &converters.Error{Where: name, Off: -1, Err: fmt.Errorf("line %d: %w: it names no class, and the number of a class is that of its line", i+1, converters.ErrMalformed)}
		}
		return lines, listedTwice(name, lines)
	}
	var meta dataset.Meta
	if err := json.Unmarshal(data, &meta); err != nil {
		return nil, fmt.Errorf("%s: %w", name, checksum.Words(err))
	}
	if len(meta.Classes) == 0 {
		return nil, fmt.Errorf("%s: it names no classes", name)
	}
	return meta.Classes, listedTwice(name, meta.Classes)
}

func listedTwice(file string, classes []string) error {
	seen := make(map[string]bool, len(classes))
	for _, class := range classes {
		if seen[class] {
			return &option.Error{Name: "classes", Text: file, Err: fmt.Errorf("class %q is listed twice", class)}
		}
		seen[class] = true
	}
	return nil
}
