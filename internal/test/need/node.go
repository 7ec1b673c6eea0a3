package need

import (
	"os"
	"path/filepath"
	"testing"
)

// Node returns the directory of a package of npm. .ci/run installs them; by hand:
//
//	npm install --omit=optional --omit=peer --prefix ~/.cache/ffconvert-node apache-arrow@21.2.0 parquet-wasm@0.8.0 hyparquet-writer@0.17.0 axe-core@4.14.1 @actions/core@3.0.1 @cyclonedx/cyclonedx-library@10.3.0 @duckdb/node-api@1.5.6-r.1 @duckdb/node-bindings-linux-x64@1.5.6-r.1 pyright@1.1.414
//
// DuckDB's library for this system is named, since it is an optional package, which the command leaves out.
//
// Programs for node that import them run in the directory above node_modules.
func Node(t testing.TB, name string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "ffconvert-node", "node_modules", name)
	if _, err := os.Stat(dir); err != nil {
		Missing(t, "npm's "+name+":", err)
	}
	return dir
}
