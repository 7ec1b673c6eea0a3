//go:build unix && !linux

package aio

func useHugePages([]byte) {}
