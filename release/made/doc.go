// Package made tests the files of a release as users get them: it makes a release twice, compares them, and installs
// what was made.
package made
