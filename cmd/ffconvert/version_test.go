package main

import (
	"runtime/debug"
	"testing"
)

// A release says its tag, everything else that it is not one.
func TestVersionOf(t *testing.T) {
	t.Parallel()
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "4ab0858c0de14ab0858c0de14ab0858c0de14ab0"}
	changed := debug.BuildSetting{Key: "vcs.modified", Value: "true"}
	clean := debug.BuildSetting{Key: "vcs.modified", Value: "false"}
	for _, row := range []struct {
		name, module      string
		settings          []debug.BuildSetting
		version, revision string
	}{
		{"a tag", "v0.1.0", []debug.BuildSetting{commit, clean}, "v0.1.0", " (4ab0858c0de1)"},
		{"a candidate", "v0.2.0-rc.1", []debug.BuildSetting{commit, clean}, "v0.2.0-rc.1", " (4ab0858c0de1)"},
		{"go install of a version", "v0.1.0", nil, "v0.1.0", ""},
		{"a tag, with changes", "v0.1.0+dirty", []debug.BuildSetting{commit, changed}, devVersion, " (4ab0858c0de1, modified)"},
		{"behind a tag", "v0.1.1-0.20261123050600-4ab0858c0de1", []debug.BuildSetting{commit, clean}, devVersion, " (4ab0858c0de1)"},
		{"no tag", "v0.0.0-20261123050600-4ab0858c0de1+dirty", []debug.BuildSetting{changed, commit}, devVersion, " (4ab0858c0de1, modified)"},
		{"no repository", "(devel)", nil, devVersion, ""},
		{"nothing", "", []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}}, devVersion, " (abc)"},
	} {
		info := &debug.BuildInfo{Main: debug.Module{Version: row.module}, Settings: row.settings}
		if v, r := versionOf(info), revisionOf(info); v != row.version || r != row.revision {
			t.Errorf("%s: %q%q, want %q%q", row.name, v, r, row.version, row.revision)
		}
	}
}
