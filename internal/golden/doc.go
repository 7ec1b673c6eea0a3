// Package golden pins the files and messages of the built program. It has only tests and does not
// import other packages of this module: it uses the command line, the names of the files of a dataset
// and the exit statuses, so internal changes do not affect it.
//
//	testdata/digests.txt      the SHA-256 of each file of datasets made of testdata
//	testdata/refusals/*.txt   commands that are refused, with status and text
//
//	go test ./internal/golden
//	go test ./internal/golden -update   // rewrites both; review git diff before committing
package golden
