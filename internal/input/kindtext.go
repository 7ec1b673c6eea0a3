package input

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/gabriel-vasile/mimetype"
)

// isText reports whether head is UTF-8 without control characters. If cut is set, head may end
// within a character.
func isText(head []byte, cut bool) bool {
	if cut {
		for i := 1; i < utf8.UTFMax && i <= len(head) && !utf8.Valid(head); i++ {
			if utf8.RuneStart(head[len(head)-i]) {
				head = head[:len(head)-i]
				break
			}
		}
	}
	for _, c := range head {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			return false
		}
	}
	return utf8.Valid(head)
}

// isEncodedText reports whether head may be text in another encoding with ASCII's control characters, such as
// Latin-1: it has line breaks, and at most one byte in a hundred is another control character.
func isEncodedText(head []byte) bool {
	breaks, control := 0, 0
	for _, c := range head {
		switch {
		case c == '\n' || c == '\r':
			breaks++
		case c < ' ' && c != '\t' || c == 0x7f:
			control++
		}
	}
	return breaks > 0 && 100*control <= len(head)
}

func kindOfText(name string, mime *mimetype.MIME, head []byte, cut bool) []Kind {
	first := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case mime.Is("application/x-ndjson"), ext(name) == ".jsonl", ext(name) == ".ndjson":
		return []Kind{jsonlKind}
	case mime.Is("application/json"), mime.Is("application/geo+json"), len(first) > 0 && (first[0] == '{' || first[0] == '[') && ext(name) == ".json":
		return []Kind{{ID: "json", What: "JSON"}}
	case mime.Is("text/html"), mime.Is("text/xml"), mime.Is("image/svg+xml"):
		return []Kind{{ID: "markup", What: "HTML or XML"}}
	case ext(name) == ".yaml" || ext(name) == ".yml":
		return []Kind{{ID: "yaml", What: "YAML"}}
	}
	if delimiter, ok := delimiterOf(name, head, cut); ok {
		return []Kind{table(delimiter)}
	}
	return []Kind{{ID: "text", What: "text"}}
}

// table returns the kind of CSV with a delimiter.
func table(delimiter rune) Kind {
	k := Kind{ID: "csv", What: "CSV", Format: "csv"}
	switch delimiter {
	case ',':
	case '\t':
		k.What, k.Flags = "CSV with tabulators", []string{"--delimiter", "tab"}
	default:
		k.What, k.Flags = "CSV with "+strconv.Quote(string(delimiter)), []string{"--delimiter", string(delimiter)}
	}
	return k
}

// partName matches the names of CSV parts of OneFlow's loader.
var partName = text.Pattern(`^part-[0-9]+$`)

// delimiterOf returns the delimiter of a table. All rows of a table have the same number of columns. A
// table with one column must have only numbers or the name of a table.
func delimiterOf(name string, head []byte, cut bool) (rune, bool) {
	named := ext(name) == ".csv" || ext(name) == ".tsv" || partName().MatchString(path.Base(name))
	if cut {
		head = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	single, numbers := false, true
	for _, delimiter := range ",\t;|" {
		rows, columns, numeric := shape(head, delimiter)
		if columns > 1 && (rows > 1 || named) {
			return delimiter, true
		}
		single, numbers = single || columns == 1, numbers && numeric
	}
	return ',', single && (named || numbers)
}

// shape returns the numbers of rows and columns of text as a table, and whether all values are
// numbers. It returns no columns if the rows differ in their number of columns.
func shape(text []byte, delimiter rune) (rows, columns int, numeric bool) {
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma, r.ReuseRecord = delimiter, true
	numeric = true
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, columns, numeric
		}
		if err != nil {
			return 0, 0, false
		}
		rows, columns = rows+1, len(row)
		for _, value := range row {
			_, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			numeric = numeric && err == nil
		}
	}
}
