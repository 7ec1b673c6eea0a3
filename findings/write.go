package findings

import (
	"fmt"
	"io"
)

// A Format is a form of a report.
type Format string

// The formats.
const (
	Text  Format = "text"
	JSON  Format = "json"
	JUnit Format = "junit"
	SARIF Format = "sarif"
)

// Formats returns the names of the formats.
func Formats() []string {
	return []string{string(Text), string(JSON), string(JUnit), string(SARIF)}
}

// Write writes a report. The same report always gives the same bytes.
func Write(w io.Writer, f Format, r *Report) error {
	switch f {
	case Text:
		return writeText(w, r)
	case JSON:
		return writeJSON(w, r)
	case JUnit:
		return writeJUnit(w, r)
	case SARIF:
		return writeSARIF(w, r)
	}
	return fmt.Errorf("write report: unknown format %q", f)
}
