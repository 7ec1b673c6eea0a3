// Package arch holds the test that asserts the import table of the design: which package
// may import which.
package arch
