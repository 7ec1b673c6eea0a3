// Command ffconvert turns datasets into FFRecord shards and proves that nothing was
// lost.
//
//	ffconvert tar 'shards-<000..009>.tar' out/
//	ffconvert verify out/
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/ffconvert/ffconvert/shard"
)

// ballastSize is of memory that is not used, and so takes none. The garbage collector counts
// it: with a heap of a few MiB it would run a hundred times a second (S6 in docs/benchmarks.md).
const ballastSize = 8 << 20

func main() {
	ballast := make([]byte, ballastSize)
	status := run(os.Args[1:])
	runtime.KeepAlive(ballast)
	os.Exit(status)
}

// run is the whole program: it returns the exit status.
func run(args []string) (status int) {
	log.SetOutput(io.Discard) // net/http tells there what servers do wrong, in their words
	defer func() {
		if r := recover(); r != nil {
			// Left alone, a panic ends with the status that means corruption.
			fmt.Fprintf(os.Stderr, "ffconvert: internal error: %v\n%s", r, debug.Stack())
			status = exitUsage
		}
	}()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals) // a second one ends the process at once
			cancel(interrupted{signal: s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()

	root := newRootCommand()
	root.SetArgs(args)
	err := addPlugin(root, args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if cause, ok := context.Cause(ctx).(interrupted); ok && err != nil {
		if u, ok := errors.AsType[*shard.Unfinished](err); ok {
			cause.finished = fmt.Sprintf(" with %d of %s finished", u.Finished, counted(int64(u.Shards), "shard"))
		}
		err = cause
	}
	if err == nil {
		return exitOK
	}
	printError(err)
	return exitCode(err)
}

// maxErrorLines is how many of several errors are printed; the others are counted.
const maxErrorLines = 20

// printError prints an error, or each of several, on one line.
func printError(err error) {
	lines := errorLines(err)
	for i, line := range lines {
		if i == maxErrorLines {
			fmt.Fprintf(os.Stderr, "ffconvert: and %d more\n", len(lines)-i)
			break
		}
		fmt.Fprintf(os.Stderr, "ffconvert: %s\n", line)
	}
}
