// Package check looks through a dataset for what a conversion would refuse, pass over,
// or take in although it is suspicious.
package check
