// Package pages runs what pages print: commands of the README and of docs/ as they stand there, with the built program. It has only tests.
//
//	testdata/coverage   what went in and came out of each command of docs/coverage.md, read by programs of others
//
//	go test ./internal/pages
package pages
