package findings

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"github.com/ffconvert/ffconvert/internal/text"
)

// maxCaseLines is the number of findings listed in one testcase. Programs that read JUnit refuse
// texts of 10 MB.
const maxCaseLines = 100

// writeJUnit writes one testcase per file. The file's errors are the failure of the testcase;
// warnings and notes do not fail it and are its output.
func writeJUnit(w io.Writer, r *Report) error {
	seconds := strconv.FormatFloat(r.Seconds, 'f', 3, 64)
	suite := junit.Testsuite{Name: text.Line(r.Tool), Time: seconds}
	suite.AddProperty("version", text.Line(r.Version))
	for _, f := range r.Facts {
		suite.AddProperty(text.Line(f.Name), text.Line(fmt.Sprint(f.Value)))
	}
	suite.SystemOut = &junit.Output{Data: r.totals()}

	var files []string
	found := make(map[string][]*Finding)
	for _, f := range r.Files {
		if _, ok := found[f.Name]; !ok {
			files = append(files, f.Name)
			found[f.Name] = nil
		}
	}
	for i := range r.Found {
		f := &r.Found[i]
		if _, ok := found[f.File]; !ok {
			files = append(files, f.File)
		}
		found[f.File] = append(found[f.File], f)
	}
	for _, file := range slices.Sorted(maps.Keys(r.unlisted)) {
		if _, ok := found[file]; !ok {
			files = append(files, file)
		}
	}
	for _, file := range files {
		suite.AddTestcase(r.testcase(file, found[file]))
	}

	var doc junit.Testsuites
	doc.Name, doc.Time = suite.Name, seconds
	doc.AddSuite(suite)
	if _, err := io.WriteString(w, xmlHeader); err != nil {
		return err
	}
	return doc.WriteXML(w)
}

const xmlHeader = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// testcase returns the testcase of one file. The message of its failure describes the first error,
// the text of the failure lists all errors with their places.
func (r *Report) testcase(file string, found []*Finding) junit.Testcase {
	tc := junit.Testcase{Name: allFiles, Classname: text.Line(r.Tool)}
	if file != "" {
		tc.Name = name(file)
	}
	var errors, others []string
	for _, f := range found {
		line := fmt.Sprintf("%s [%s]", clip(f.message(), maxMessage), text.Line(f.Rule))
		rule := r.rule(f)
		if rule.Level != Error {
			others = append(others, string(rule.Level)+": "+line)
			continue
		}
		if tc.Failure == nil {
			tc.Failure = &junit.Result{Message: text.Line(cmp.Or(rule.Short, f.Rule)), Type: text.Line(f.Rule)}
		}
		errors = append(errors, line)
	}
	unlisted := r.unlisted[file]
	switch more := int64(len(errors)) - 1 + unlisted; {
	case tc.Failure == nil && unlisted > 0:
		tc.Failure = &junit.Result{Message: text.Count(unlisted, "error") + ", not listed"}
	case tc.Failure != nil && more > 0:
		tc.Failure.Message += fmt.Sprintf(", and %d more", more)
	}
	if tc.Failure != nil {
		tc.Failure.Data = lines(errors)
	}
	if len(others) > 0 {
		tc.SystemOut = &junit.Output{Data: lines(others)}
	}
	return tc
}

// lines joins the first maxCaseLines findings and adds the number of the others.
func lines(s []string) string {
	if n := len(s) - maxCaseLines; n > 0 {
		s = append(s[:maxCaseLines:maxCaseLines], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(s, "\n")
}
