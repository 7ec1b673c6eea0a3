package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ffconvert/ffconvert/internal/test/aisfake"
)

// aisServer is the key of a script's AIStore, or what stands in for one.
type aisServer struct{}

// ais makes a bucket, in a server that it starts where there is none: ais BUCKET PROVIDER [versions]
// [checksum] [etag] [modified], which are what is told of its objects.
func ais(ts *testscript.TestScript, _ bool, args []string) {
	server := ts.Value(aisServer{}).(**aisfake.Server)
	if *server == nil {
		*server = aisfake.Start(ts.Value(scriptTest{}).(testing.TB))
		ts.Setenv("AIS_ENDPOINT", (*server).URL)
	}
	says := func(what string) bool { return slices.Contains(args[2:], what) }
	(*server).Bucket(args[0], aisfake.Bucket{Provider: args[1], Versions: says("versions"), Checksum: says("checksum"), ETag: says("etag"), Modified: says("modified")})
}

// aisPut stores files, an hour later than the last ones: aisput BUCKET FILE...
func aisPut(ts *testscript.TestScript, _ bool, args []string) {
	server := *ts.Value(aisServer{}).(**aisfake.Server)
	server.Pass(time.Hour)
	for _, file := range args[1:] {
		data, err := os.ReadFile(ts.MkAbs(file))
		ts.Check(err)
		server.Put(args[0], filepath.Base(file), data)
	}
}
