//go:build !linux

package convertertest

import "testing"

func cool(*testing.T, []string) {}
