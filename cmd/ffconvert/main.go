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
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/internal/stage"
)

func main() {
	stage.Guard()
	status := run(os.Args[1:], terminal.Patience)
	os.Exit(status)
}

// run is the whole program. It returns the exit status. Tests add commands, and wait longer for a run that is stopped.
func run(args []string, patience time.Duration, more ...*cobra.Command) (status int) {
	log.SetOutput(io.Discard) // net/http logs there what servers send, unescaped
	defer func() {
		if r := recover(); r != nil {
			// The status of a panic is 2, which means corruption here.
			fmt.Fprintf(os.Stderr, "ffconvert: internal error: %v\n%s", r, debug.Stack())
			status = exitUsage
		}
	}()
	cmd, err := execute(args, patience, more)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errPipe):
		return exitPipe
	}
	status = exitCode(err)
	terminal.PrintError(err, status, progressMode(cmd), paintOf(cmd))
	return status
}

// execute runs the command that the arguments name, and returns it.
func execute(args []string, patience time.Duration, more []*cobra.Command) (*cobra.Command, error) {
	ctx, stopper := terminal.NewStopper(os.Exit, patience)
	root := newRootCommand(args...)
	root.AddCommand(more...)
	root.SetArgs(args)
	cmd, err := root, addPlugin(root, args)
	if err == nil {
		cmd, err = root.ExecuteContextC(ctx)
	}
	return cmd, stopper.End(ctx, err)
}
