// Package golden pins what the built program writes and says. It is tests alone, and imports
// nothing of ours: what it knows is the command line, the names of the files of a dataset, and
// the exit statuses, so it outlives any change inside.
//
//	testdata/digests.txt      the SHA-256 of each file of datasets made of testdata
//	testdata/refusals/*.txt   commands that are refused, with status and text
//
//	go test ./internal/golden
//	go test ./internal/golden -update   // write both anew; read git diff before keeping it
package golden
