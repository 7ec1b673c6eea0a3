package findings

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/ffconvert/ffconvert/internal/text"
)

const (
	home      = "https://github.com/ffconvert/ffconvert"
	rulesPage = home + "/blob/main/docs/ci.md" // help URI of every rule
	schema    = "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/main/sarif-2.1/schema/sarif-schema-2.1.0.json"
)

// writeSARIF writes SARIF 2.1.0, without members that are empty.
func writeSARIF(w io.Writer, r *Report) error {
	rules, files, results := []any{}, []any{}, []any{}
	index := make(map[string]int)
	for i, rule := range r.Rules {
		if _, ok := index[rule.ID]; !ok {
			index[rule.ID] = i
		}
		rules = append(rules, object{
			"id": rule.ID, "shortDescription": message(rule.Short), "fullDescription": message(rule.Short), "help": message(cmp.Or(rule.Help, rule.Short)),
			"helpUri": rulesPage, "defaultConfiguration": object{"enabled": true, "level": rule.Level},
		})
	}
	for _, f := range r.Files {
		files = append(files, object{"location": object{"uri": uri(f.Name)}, "roles": []any{"analysisTarget"}})
	}
	seen := make(map[string]int)
	for i := range r.Found {
		f := &r.Found[i]
		result := r.sarifResult(f)
		if at, ok := index[f.Rule]; ok {
			result["ruleIndex"] = at
		}
		id := identity(f)
		seen[id]++
		// The only fingerprint that GitHub uses. Without it GitHub hashes the text of the line, and so merges all
		// results of one file.
		result["partialFingerprints"] = object{"primaryLocationLineHash": fmt.Sprintf("%s:%d", id, seen[id])}
		results = append(results, result)
	}
	facts := object{}
	for _, f := range r.Facts {
		facts[text.Valid(f.Name)] = f.value()
	}
	if r.More > 0 {
		facts["not_listed"] = r.More
	}
	run := prune(object{
		"tool": object{"driver": object{
			"name": text.Line(r.Tool), "version": text.Line(r.Version), "informationUri": home, "rules": rules,
			"language": "en-US", "isComprehensive": false, "contents": []any{"localizedData", "nonLocalizedData"},
		}},
		"invocations": []any{object{"executionSuccessful": true, "properties": facts}},
		"artifacts":   files, "columnKind": "unicodeCodePoints", "language": "en-US", "newlineSequences": []any{"\r\n", "\n"},
	}).(object)
	run["results"] = results // an empty list means that the dataset is sound
	enc := json.NewEncoder(terminalSafe{w})
	enc.SetIndent("", "  ")
	return enc.Encode(object{"$schema": schema, "version": "2.1.0", "runs": []any{run}})
}

// An object is a JSON object. Its members are encoded in sorted order.
type object = map[string]any

func message(text string) object { return object{"text": text} }

// prune removes empty members from objects.
func prune(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
		if len(v) == 0 {
			return nil
		}
	case object:
		for name, member := range v {
			if v[name] = prune(member); v[name] == nil || v[name] == "" {
				delete(v, name)
			}
		}
		if len(v) == 0 {
			return nil
		}
	}
	return v
}

// sarifResult returns the result of a finding, without its rule index and its fingerprint.
func (r *Report) sarifResult(f *Finding) object {
	// GitHub refuses a document in which a result has no file, and does not show a result without a line. Other viewers
	// use the byte offset.
	region := object{"startLine": 1}
	if f.Offset >= 0 {
		region["byteOffset"] = f.Offset
	}
	at := object{"physicalLocation": object{"artifactLocation": object{"uri": uri(cmp.Or(f.File, allFiles))}, "region": region}}
	if f.Entry != "" {
		at["logicalLocations"] = []any{object{"name": clip(text.Valid(f.Entry), maxMessage)}}
	}
	// Viewers show the message and rarely the offset or the entry, so the message has all three.
	// [text](target) in a message is a link; a name from the data must not become one.
	result := object{
		"ruleId": text.Valid(f.Rule), "level": r.rule(f).Level, "kind": "fail", "locations": []any{at},
		"message": message(strings.ReplaceAll(clip(f.message(), maxMessage), "](", "] (")),
	}
	if f.Count > 1 {
		result["occurrenceCount"] = f.Count
	}
	if result["ruleId"] == "" {
		delete(result, "ruleId")
	}
	return result
}

// identity returns a hash of a finding's rule, file and entry, or offset if it has no entry. It is the same in
// different runs. The offset is not used with an entry, since it changes when entries are added.
func identity(f *Finding) string {
	where := cmp.Or(f.Entry, fmt.Sprint(f.Offset))
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", f.Rule, uri(f.File), where))
	return hex.EncodeToString(sum[:8])
}

// uri returns a file name as a URI. Relative names stay relative to the working directory of the
// program; absolute names get the scheme file.
func uri(name string) string {
	p := path.Clean(filepath.ToSlash(name))
	if !filepath.IsAbs(name) {
		return (&url.URL{Path: p}).String()
	}
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/x
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}
