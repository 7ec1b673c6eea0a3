package filter

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/input"
)

// This test program is also the filters of its tests: its first argument is then asFilter and what the filter does.
const asFilter = "filter="

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if how, ok := strings.CutPrefix(os.Args[1], asFilter); ok {
			runFilter(how)
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// program is the command of a filter.
func program(t testing.TB, how string) *input.Command {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &input.Command{Name: "a filter", Args: []string{self, asFilter + how}}
}

type sample = map[string]any

// beforeUnread is how much of its input a program reads that "answers unread": it ends in the tenth sample.
const beforeUnread = 500_000 // bytes

// runFilter answers standard input.
func runFilter(how string) {
	in, out := cbor.NewDecoder(bufio.NewReader(os.Stdin)), bufio.NewWriter(os.Stdout)
	how, arg, _ := strings.Cut(how, ":")
	if raw, err := hex.DecodeString(arg); err == nil && strings.HasPrefix(how, "raw") {
		arg = string(raw)
	}
	number, _ := strconv.Atoi(arg)
	if how == "answers unread" {
		io.CopyN(io.Discard, os.Stdin, beforeUnread)
		os.Stdout.Write(bytes.Repeat(encoded([]sample{}), 10))
		return
	}
	var held [][]byte
	for i := 0; ; i++ {
		var s sample
		if err := in.Decode(&s); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			os.Exit(99)
		}
		answer := encoded(s)
		switch how {
		case "nothing kept":
			answer = encoded([]sample{})
		case "third":
			if key := s[converters.KeyField].(string); (key[len(key)-1]-'0')%3 == 2 {
				answer = encoded([]sample{})
			}
		case "two", "two without keys":
			if how != "two" {
				delete(s, converters.KeyField)
			}
			answer = encoded([]sample{s, s})
		case "no key":
			delete(s, converters.KeyField)
			answer = encoded(s)
		case "indefinite": // [_ {_ "a": (_ "b", "c"), "n": [_ 1]}]
			answer = []byte("\x9f\xbf\x61a\x7f\x61b\x61c\xff\x61n\x9f\x01\xff\xff\xff")
		case "at the end":
			held = append(held, answer)
			answer = nil
		case "batches":
			if held = append(held, answer); len(held) < number {
				answer = nil
				break
			}
			answer = nil
			for _, h := range held {
				out.Write(h)
			}
			held = nil
		case "raw":
			answer = []byte(arg)
		case "raw at the third":
			if i == 2 {
				out.WriteString(arg)
				out.Flush()
				return
			}
		case "one more":
			if i == 2 {
				out.Write(answer)
			}
		case "one less":
			if i == 2 {
				answer = nil
			}
		case "exit":
			if i == 2 {
				out.Flush()
				os.Exit(number)
			}
		case "killed":
			if i == 2 {
				syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
		case "silent":
			time.Sleep(time.Hour)
		case "slow":
			time.Sleep(150 * time.Millisecond)
		case "closes its input":
			out.Write(answer)
			out.Flush()
			os.Stdin.Close()
			time.Sleep(time.Hour)
		case "closes its output":
			os.Stdout.Close()
			time.Sleep(time.Hour)
		case "counts":
			answer = encoded(sample{"pid": os.Getpid()})
		}
		out.Write(answer)
		if how != "unflushed" && how != "status" {
			out.Flush()
		}
	}
	for _, h := range held {
		out.Write(h)
	}
	out.Flush()
	switch how {
	case "goes on after the end":
		time.Sleep(time.Hour)
	case "status":
		os.Exit(number)
	}
}

func encoded(v any) []byte {
	b, err := cbor.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
