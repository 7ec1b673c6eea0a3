// Command ffconvert turns datasets into FFRecord shards and proves that nothing was
// lost.
//
//	ffconvert tar 'shards-<000..009>.tar' out/
//	ffconvert verify out/
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/progress"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/stop"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/internal/stage"
)

// ballastSize bytes are allocated and never touched, so they take no memory, but the garbage collector
// counts them. With a heap of a few MiB it would run a hundred times a second (S6 in
// docs/benchmarks.md).
const ballastSize = 8 << 20

func main() {
	stage.Guard()
	ballast := make([]byte, ballastSize)
	status := run(os.Args[1:], stop.Patience)
	runtime.KeepAlive(ballast)
	os.Exit(status)
}

// run is the whole program. It returns the exit status. Tests add commands, and have more patience with a run that is stopped.
func run(args []string, patience time.Duration, more ...*cobra.Command) (status int) {
	log.SetOutput(io.Discard) // net/http logs there what servers send, unescaped
	defer func() {
		if r := recover(); r != nil {
			// The status of a panic is 2, which means corruption here.
			fmt.Fprintf(os.Stderr, "ffconvert: internal error: %v\n%s", r, debug.Stack())
			status = exitUsage
		}
	}()
	events, paint, err := execute(args, patience, more)
	if err == nil {
		return exitOK
	}
	if errors.Is(err, errPipe) {
		return exitPipe
	}
	status = exitCode(err)
	printError(err, status, events, paint)
	return status
}

// execute runs the command that the arguments name. events reports whether errors are printed as
// events, paint whether they are coloured.
func execute(args []string, patience time.Duration, more []*cobra.Command) (events bool, paint terminal.Paint, err error) {
	ctx, stop := stop.New(os.Exit, patience)
	stop.Notify()
	root := newRootCommand()
	root.AddCommand(more...)
	root.SetArgs(args)
	cmd := root
	if err = addPlugin(root, args); err == nil {
		cmd, err = root.ExecuteContextC(ctx)
	}
	stop.Close()
	return progressMode(cmd) == "json", terminal.PaintOf(colorMode(cmd), os.Stderr), stop.Reason(ctx, err)
}

// maxErrorLines is the most errors that are printed; the others are counted.
const maxErrorLines = 20

// printError prints an error, or each of the errors that were joined, as a line or an event.
func printError(err error, status int, events bool, paint terminal.Paint) {
	say := func(text string) {
		if events {
			progress.WriteEvent(os.Stderr, "error", progress.ErrorEvent{Status: status, Message: text})
		} else {
			fmt.Fprintln(os.Stderr, paint.Head("ffconvert: "+text, paint.Bad))
		}
	}
	lines := terminal.ErrorLines(err)
	for i, line := range lines {
		if i == maxErrorLines {
			say(fmt.Sprintf("and %d more", len(lines)-i))
			break
		}
		say(line)
	}
}
