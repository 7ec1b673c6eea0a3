package main

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
)

// executeQuietly runs a command line up to its error; what it prints is returned.
func executeQuietly(t *testing.T, line string) (string, error) {
	t.Helper()
	root := newRootCommand()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(strings.Fields(line))
	err := root.Execute()
	return out.String(), err
}

// What is wrong with a command line is said on one line, in words for people.
func TestUsageErrors(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ line, want string }{
		{"tarr", `unknown command "tarr"; did you mean tar?`},
		{"tra a o", `unknown command "tra"; did you mean tar?`},
		{"help tra", `unknown command "tra"; did you mean tar?`},
		{"help tar x", `help: "x" is one argument too many: want ffconvert help tar`},
		{"completion bsh", `unknown command "completion bsh"; did you mean bash?`},
		{"completion", "completion: want one of bash, fish, powershell, zsh"},
		{"check", "check: SRC... is missing: want ffconvert check SRC..., or ffconvert check FORMAT SRC... with one of arrow, cbor, csv, ffr, folder, jsonl, mds, ofrecord, parquet, tar, tfrecord"},
		{"webdataset a", `unknown command "webdataset"; did you mean tar?`},
		{"nosuch", `unknown command "nosuch"; ffconvert --help lists the commands`},
		{"cache claen", `unknown command "cache claen"; did you mean clean?`},
		{"cache nosuch", `unknown command "cache nosuch"; want one of clean, fill, ls, serve`},
		{"cache", "cache: want one of clean, fill, ls, serve"},
		{"help nosuch", `unknown command "nosuch"; ffconvert --help lists the commands`},
		{"tar", "tar: TAR... and OUT are missing: want ffconvert tar TAR... OUT"},
		{"tar a.tar", "tar: OUT is missing: want ffconvert tar TAR... OUT"},
		{"verify", "verify: OUT|FILE... is missing: want ffconvert verify OUT|FILE..."},
		{"ls a.ffr b c", `ls: "c" is one argument too many: want ffconvert ls OUT|FILE [PATH]`},
		{"tar --encoding raw a o", "unknown flag --encoding; did you mean --encode?"},
		{"tar --shard 3 a o", "unknown flag --shard; did you mean --shards?"},
		{"tar --verify --no-verify a o", "--verify and --no-verify do not go together"},
		{"plan tar --exact --whole-parts a o", "--exact and --whole-parts do not go together"},
		{"run --task 2/2 o", "--task: no such task: 2/2; of N tasks the first is 0/N, the last N-1/N"},
		{"tar --overwrit a o", "unknown flag --overwrit; did you mean --overwrite?"},
		{"tar --workers 2 a o", "unknown flag --workers; did you mean --jobs?"},
		{"tar --nosuch a o", "unknown flag --nosuch; ffconvert tar --help-all lists all"},
		{"tar -x a o", "unknown flag -x; ffconvert tar --help-all lists all"},
		{"tar a o -qx", "unknown flag -x; ffconvert tar --help-all lists all"},
		{"tar -o o a", "unknown flag -o; OUT is the last argument: ffconvert tar TAR... OUT"},
		{"tar a --output o", "unknown flag --output; OUT is the last argument: ffconvert tar TAR... OUT"},
		{"export folder -o dir o", "unknown flag -o; DIR is the last argument: ffconvert export folder OUT... DIR"},
		{"ls -o dir o", "unknown flag -o; ffconvert ls --help-all lists all"},
		{"browse --port 80 o", "unknown flag --port; the port is in --listen, as in --listen 127.0.0.1:8000"},
		{"browse -p 80 o", "unknown flag -p; the port is in --listen, as in --listen 127.0.0.1:8000"},
		{"tar --shard-size 1 a o", `--shard-size "1": want 64KiB or more; did you mean 1GiB?`},
		{"tar --shard-size 256 a o", `--shard-size "256": want 64KiB or more; did you mean 256MiB?`},
		{"export tar --shard-size 63KiB a o", `--shard-size "63KiB": want 64KiB or more`},
		{"tar --shards", "--shards needs a value: a whole number, as in --shards 8"},
		{"tar --shards abc a o", `--shards "abc": want a whole number of 1 or more`},
		{"tar --shards 99999999999999999999 a o", `--shards "99999999999999999999": the number is too large`},
		{"tar --seed -1 a o", `--seed "-1": want a whole number of 0 or more, as in --seed 8`},
		{"tar --shuffle=maybe a o", `--shuffle "maybe": want true or false`},
		{"tar --shard-size x a o", `--shard-size "x": want a number of bytes, or one with a unit, as in 256MiB`},
		{"tar --max-names 0 a o", `--max-names "0": want a whole number of 1 or more`},
		{"tar --grace 90 a o", `--grace "90": want a time of 0 or more with a unit, as in 90s or 15m`},
		{"tar --aio backend=x a o", `--aio "backend=x": want one of auto, aio, pread`},
		{"tar --aio queue-depth=x a o", `--aio "queue-depth=x": want a whole number from 1 to 1024`},
		{"sign --password-fil x o", "unknown flag --password-fil; did you mean --password-file?"},
		{"tar --retris 3 a o", "unknown flag --retris; did you mean --fetch retries?"},
		{"tar --backend x a o", `--backend "x": want one of auto, aio, pread`},
		{"tar --color no a o", `--color "no": want one of auto, always, never`},
		{"tar -q --progress bar a o", "--quiet and --progress do not go together; --quiet means --progress none"},
		{"tar -q -v a o", "--quiet and --verbose do not go together"},
	} {
		if out, err := executeQuietly(t, row.line); err == nil || err.Error() != row.want || out != "" {
			t.Errorf("%s: %q, %v; want %s", row.line, out, err, row.want)
		}
	}
}

// No value of any flag is refused in the words of strconv, time or encoding/csv.
func TestValueErrors(t *testing.T) {
	t.Parallel()
	for f, cmd := range flagsOfAll(t) {
		for _, bad := range []string{"abc", "-1", "1e9999", "\"", "99999999999999999999999"} {
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			copied := *f
			flags.AddFlag(&copied)
			err := flags.Set(f.Name, bad)
			if err == nil || errors.Is(err, pflag.ErrHelp) {
				continue
			}
			text := cliflag.FlagError(cmd, err).Error()
			for _, word := range []string{"strconv", "time:", "invalid", "parse", "syntax"} {
				if strings.Contains(text, word) {
					t.Errorf("--%s %s: %s", f.Name, bad, text)
				}
			}
		}
	}
}

// --help-all is a help: with arguments that are too few, too, and status 0.
func TestHelpAll(t *testing.T) {
	t.Parallel()
	short, err := executeQuietly(t, "tar --help")
	if err != nil || strings.Contains(short, "header-size") || strings.Contains(short, "--aio") || !strings.Contains(short, "ffconvert tar --help-all\n") {
		t.Errorf("%v\n%s", err, short)
	}
	all, err := executeQuietly(t, "tar --help-all")
	if err != nil || !strings.Contains(all, "\nLimits:\n") || !strings.Contains(all, " header-size=size ") || strings.Contains(all, "ffconvert tar --help-all\n") {
		t.Errorf("%v\n%s", err, all)
	}
	for _, line := range []string{"version", "cache", "cache ls", "completion bash"} {
		if help, err := executeQuietly(t, line+" --help"); err != nil || strings.Contains(help, "Exit status") {
			t.Errorf("%s: %v\n%s", line, err, help)
		}
	}
	for _, line := range []string{"--help-all", "tar --help-all", "verify --help-all", "finish --help-all"} {
		if help, err := executeQuietly(t, line); err != nil || strings.Count(help, "\nExit status:\n  0    done and sound\n") != 1 {
			t.Errorf("%s: %v\n%s", line, err, help)
		}
	}
	for _, line := range []string{"--version", "version"} {
		if text, err := executeQuietly(t, line); err != nil || text != versionLine() {
			t.Errorf("%s: %q, %v", line, text, err)
		}
	}
}

// Shells complete the values of flags that take one of a few words.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		line string
		want []string
	}{
		{"tar --encode", []string{"msgpack", "cbor", "raw", "pickle", "arrow"}},
		{"plan tar --encode", []string{"msgpack", "cbor", "raw", "pickle", "arrow"}},
		{"tar --progress", []string{"auto", "bar", "plain", "json", "none"}},
		{"verify --progress", []string{"auto", "bar", "plain", "json", "none"}},
		{"verify --format", []string{"text", "json", "junit", "sarif", "github", "markdown"}},
		{"inspect --format", []string{"text", "json"}},
		{"cbor --format", []string{"cbor", "msgpack"}},
		{"check cbor --format", []string{"text", "json", "junit", "sarif", "github", "markdown"}},
		{"check cbor --input-format", []string{"cbor", "msgpack"}},
		{"tar --missing", []string{"error", "skip"}},
		{"tar --on-duplicate-key", []string{"error", "keep"}},
		{"tar --s3-path-style", []string{"auto", "path", "host"}},
		{"verify --backend", []string{"auto", "aio", "pread"}},
		{"ls --color", []string{"auto", "always", "never"}},
		{"csv --dtype", []string{"float64", "float32", "int64"}},
		{"help cache", []string{"clean", "fill", "ls", "serve"}},
	} {
		root := newRootCommand()
		var out, errs bytes.Buffer
		root.SetOut(&out)
		root.SetErr(&errs)
		root.SetArgs(append(append([]string{"__complete"}, strings.Fields(row.line)...), ""))
		if err := root.Execute(); err != nil {
			t.Fatal(row.line, err)
		}
		var got []string
		for line := range strings.Lines(out.String()) {
			if word, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); word != "" && word[0] != ':' {
				got = append(got, word)
			}
		}
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", row.line, got, row.want)
		}
	}
}
