// Package arch holds the tests of the tree's shape: its layers, its budget, what product code may not use, and whether the
// files that pages name are there.
package arch
